# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan for PyTorch programs. Imports torch only where a call needs it.

>>> import nvspan.torch
>>> from nvspan.torch import nvtx
>>> with nvtx.range("step {}", 3):
...     pass
"""

from __future__ import annotations

from nvspan.torch import nvtx
from nvspan.torch._modules import ModuleAnnotations, annotate_module

__all__ = ["ModuleAnnotations", "annotate_module", "nvtx"]
