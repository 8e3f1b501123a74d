# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""numba: which default stream its kernels use."""

from __future__ import annotations

import sys

_PER_THREAD = 2  # CUDA's handle of the calling thread's default stream


def current_stream() -> int:
    """The handle of numba's default stream; 0 for the legacy one, and while numba is imported."""
    try:
        return _PER_THREAD if sys.modules["numba"].config.CUDA_PER_THREAD_DEFAULT_STREAM else 0
    except (AttributeError, KeyError):
        return 0
