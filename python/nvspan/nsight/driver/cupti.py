# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where CUPTI is, which shows the calls of CUDA's driver to the injection library."""

from __future__ import annotations

import glob
import os
import sys

VARIABLE = "NVSPAN_CUPTI"
"""The variable that names a libcupti before all others."""

INJECTION_VARIABLE = "CUDA_INJECTION64_PATH"
"""The variable in which CUDA's driver looks for a tool."""

CALLS_VARIABLE = "NVSPAN_DRIVER_CALLS"
"""The variable that has the injection library record the driver's calls, by one of these CUPTIs."""

_NAME = "libcupti.so.1[1-9]*"
_WHEELS = ("nvidia/cu1[2-9]/lib", "nvidia/cuda_cupti/lib")
_TOOLKIT = ("extras/CUPTI/lib64", "lib64", "targets/*/lib", "lib")
_TOOLS = ("/opt/nvidia/nsight-systems/*/target-linux-*", "/opt/nvidia/nsight-compute/*/target/*")


def libraries() -> list[str]:
    """The CUPTIs of this machine: NVSPAN_CUPTI alone where it is set, else those of wheels, of the
    toolkits and of the Nsight tools, in each of these the newest first."""
    named = os.environ.get(VARIABLE)
    if named:
        return [os.path.abspath(named)]
    toolkits = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    toolkits.append("/usr/local/cuda*")
    patterns = [os.path.join(glob.escape(entry), wheel) for entry in sys.path for wheel in _WHEELS]
    patterns += [os.path.join(toolkit, place) for toolkit in toolkits for place in _TOOLKIT]
    found: dict[str, None] = {}
    for pattern in (*patterns, *_TOOLS):
        paths = glob.glob(os.path.join(pattern, _NAME))
        found.update(dict.fromkeys(os.path.realpath(path) for path in sorted(paths, reverse=True)))
    return [path for path in found if ":" not in path]


def problem() -> str | None:
    """Why programs cannot be asked for their calls of the driver here; None if they can."""
    other = os.environ.get(INJECTION_VARIABLE)
    if not other:
        return None
    return (f"{INJECTION_VARIABLE} is set to {other!r}, so CUDA's driver loads that tool in place "
            "of nvspan's")  # fmt: skip


def environment(library: str) -> dict[str, str]:
    """What a program's environment gets to have its calls of the driver recorded; empty where there
    is a `problem`."""
    if problem() is not None:
        return {}
    return {INJECTION_VARIABLE: library, CALLS_VARIABLE: ":".join(libraries())}
