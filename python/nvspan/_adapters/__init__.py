# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Connects the package with the extension module and with frameworks, one file for each. It may
import every module of the package; only `nvspan` itself imports it. A framework is never imported,
but looked up once the program has imported it.
"""

from __future__ import annotations

import os

from nvspan import _core
from nvspan._adapters import torch
from nvspan._runtime import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _load_hook(name: str) -> Callable[..., Any]:
    from nvspan._adapters.hooks import load_hook

    return load_hook(name)


def _cupy_stream() -> int:
    from nvspan._adapters import cupy

    return cupy.current_stream()


def _numba_stream() -> int:
    from nvspan._adapters import numba

    return numba.current_stream()


def _lend_cupti() -> None:
    from nvspan._adapters import cupti_users

    cupti_users.lend_cupti()


def connect() -> None:
    """Tells the extension module where to ask for what it calls, and registers each framework."""
    _core.set_hook_loader(_load_hook)
    torch.connect()
    registry.cupti_lenders.append(_lend_cupti)
    _core._add_stream_source("cupy", _cupy_stream)
    _core._add_stream_source("numba.cuda", _numba_stream)
    registry.callers_of_nvtx += ["cupy", "jax"]
    if steps := os.environ.get("NVSPAN_STEPS"):
        from nvspan._adapters.window import open_window

        open_window(steps)
