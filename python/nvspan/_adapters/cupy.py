# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CuPy: its current stream."""

from __future__ import annotations

import sys


def current_stream() -> int:
    """The handle of CuPy's current stream; 0 for the default stream, and while CuPy is imported."""
    try:
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    except (AttributeError, KeyError):
        return 0
