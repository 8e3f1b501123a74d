# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``import nvtx`` finds in the processes below ``nvspan --as-nvtx``: it gives way to nvspan.

``--as-nvtx`` puts the folder around this package on the path, so that every Python process that the
program starts has it. One that has no nvspan gets the nvtx package, if there is one.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys

__nvspan_placeholder__ = True


def _give_way() -> None:
    try:
        from nvspan import install_as_nvtx
    except ImportError:
        _load_the_real_one()
        return
    install_as_nvtx()
    importlib.import_module("nvtx")  # this module is no longer in sys.modules, nor needed


def _load_the_real_one() -> None:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.machinery.PathFinder.find_spec("nvtx", path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("No module named 'nvtx'", name="nvtx")
    module = importlib.util.module_from_spec(spec)
    sys.modules["nvtx"] = module
    spec.loader.exec_module(module)


_give_way()
