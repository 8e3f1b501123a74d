# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The process in which a function of another program runs under ncu.

``python -m nvspan.nsight.compute.child FOLDER``: FOLDER/call has the pickled calls, FOLDER/error
gets what an error said.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from nvspan import _core
from nvspan._runtime.switch import paused

MODULE = "nvspan.nsight.compute.child"
DOMAIN = "nvspan.nsight"
CALL = "call"
CALLS_FILE, ERROR_FILE = "call", "error"


def label(number: int, run: int) -> str:
    """The name of the range around one run of a call."""
    return f"{number}.{run}"


def main(folder: str) -> int:
    """Runs the calls: each its warm-up without ranges, then its runs, each in two ranges of all
    threads, of which one has the same name for all."""
    try:
        with open(os.path.join(folder, CALLS_FILE), "rb") as file:
            sys.path[:] = pickle.load(file)
            function, calls, warmup, runs = pickle.load(file)
        for number, (args, kwargs) in enumerate(calls):
            with paused():
                for _ in range(warmup):
                    function(*args, **kwargs)
            _synchronize()
            for run in range(runs):
                _run(label(number, run), partial(function, *args, **kwargs))
    except BaseException:
        with open(os.path.join(folder, ERROR_FILE), "w", encoding="utf-8") as file:
            file.write(traceback.format_exc())
        raise
    return 0


def _run(name: str, call: Callable[[], Any]) -> None:
    opened = [_core.start_range(each, domain=DOMAIN) for each in (CALL, name)]
    try:
        call()
        _synchronize()
    finally:
        for each in reversed(opened):
            _core.end_range(each)


def _synchronize() -> None:
    """Waits for the GPU, by the library that the function uses."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif cupy is not None:
        cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
