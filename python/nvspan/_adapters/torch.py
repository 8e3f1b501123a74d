# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torch: its current stream, its profiler as a place to emit to, and torch.compile."""

from __future__ import annotations

import sys

from nvspan import _core
from nvspan._runtime import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def find_streams() -> tuple[Callable[[int], int], Callable[[], int]] | None:
    """For the extension module: how torch tells a device's current stream, once it uses CUDA."""
    torch = sys.modules.get("torch")
    cuda = sys.modules.get("torch.cuda")
    try:
        if torch is None or cuda is None or not cuda.is_initialized():
            return None
        return torch._C._cuda_getCurrentRawStream, torch._C._cuda_getDevice
    except AttributeError:  # built without CUDA, or half imported
        return None


def _follow_profilers() -> None:
    from nvspan.torch._support import profiler

    profiler.register()


def _lend_cupti() -> None:
    from nvspan.torch._support import kineto

    kineto.lend_cupti()


def _register_with_compile() -> None:
    from nvspan.torch._compile import register

    register.register()


def connect() -> None:
    """Fills the registry, and registers with torch.compile: now, if it is there, else when it
    comes."""
    registry.emit_targets["torch"] = registry.EmitTarget(
        "torch.autograd.profiler", _core.torch_emit_enable, _follow_profilers
    )
    registry.callers_of_nvtx.insert(0, "torch")
    registry.cupti_lenders.append(
        lambda: registry.when_imported("torch.autograd.profiler", _lend_cupti)
    )
    registry.when_imported("torch._dynamo", _register_with_compile)
