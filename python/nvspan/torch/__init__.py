# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan for PyTorch programs. Imports torch only where a call needs it.

>>> import nvspan.torch
>>> from nvspan.torch import nvtx
>>> with nvtx.range("step {}", 3):
...     pass
"""

from __future__ import annotations

from nvspan._lazy import lazy_attributes
from nvspan.torch import nvtx
from nvspan.torch._loop.auto import AutoAnnotations, auto
from nvspan.torch._loop.loss import loss
from nvspan.torch._loop.sampled_graphs import SampledGraph, sample_graph
from nvspan.torch._loop.transfers import to_device
from nvspan.torch._loop.window import ProfileWindow, profile_window
from nvspan.torch._modules.modules import ModuleAnnotations, annotate_module
from nvspan.torch._modules.ops import OpAnnotations, annotate_ops
from nvspan.torch._modules.warmup import warmup

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from nvspan.torch._modules.profileable import ProfileableModel

__all__ = [
    "AutoAnnotations",
    "ModuleAnnotations",
    "OpAnnotations",
    "ProfileWindow",
    "ProfileableModel",
    "SampledGraph",
    "annotate_module",
    "annotate_ops",
    "auto",
    "loss",
    "nvtx",
    "profile_window",
    "sample_graph",
    "to_device",
    "warmup",
]


# Its module imports typing.
__getattr__ = lazy_attributes(
    __name__,
    ProfileableModel="nvspan.torch._modules.profileable:ProfileableModel",
)
