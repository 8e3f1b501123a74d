# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Begins to sample the lines of a Python process below `nvspan record`.

Python imports it before the program, as its folder is the first of PYTHONPATH; then it is out of
the way: ``sys.path`` is without it, and the environment's own ``sitecustomize`` is imported.
"""

import os
import sys

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK")


def _is_helper():  # type: () -> bool
    """Whether it only serves other processes: what launches ranks, of which the first one shall
    have the file of rank 0, or multiprocessing's tracker. It is sampled if it imports nvspan.
    """
    ranked = "%7Brank%7D" in os.environ.get("NVSPAN_TRACE", "")  # {rank}, as it is passed there
    if ranked and not any(name in os.environ for name in _RANKS):
        return True
    return any("multiprocessing.resource_tracker" in word for word in sys.orig_argv[:8])


def _start():  # type: () -> None
    """Whatever goes wrong, the program runs: why lines are missing is said once, by `nvspan`."""
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

    path = os.environ.get("NVSPAN_LINES_MODULE", "")
    library = os.environ.get("NVTX_INJECTION64_PATH", "")
    if not library or not path.endswith(EXTENSION_SUFFIXES[0]):  # another Python than nvspan's
        return
    if _is_helper():
        return
    name = "nvspan._lines"
    loader = ExtensionFileLoader(name, path)  # importlib.util takes 2 ms to import
    module = loader.create_module(ModuleSpec(name, loader, origin=path))
    loader.exec_module(module)
    sys.modules[name] = module
    rate = os.environ.get("NVSPAN_RECORD_LINES", "")
    period = {"": 0, "auto": 0, "armed": -1}.get(rate)
    problem = module.start(library, int(1e9 / float(rate)) if period is None else period)
    if problem not in (None, "nothing is recorded"):  # the recorder has said why
        text = f"nvspan: lines are not sampled: {problem}\n"
        os.write(2, text.encode(errors="replace"))


def _go_on():  # type: () -> None
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own


try:
    _start()
except Exception as error:
    os.write(2, f"nvspan: lines are not sampled: {error}\n".encode(errors="replace"))
_go_on()
