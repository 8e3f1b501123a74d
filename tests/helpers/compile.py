# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C++ programs that tests run. Without a compiler or NVTX's headers a test skips."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

HEADER = "nvtx3/nvToolsExtCounters.h"
FLAGS = ("-std=c++17", "-O1", "-g", "-Wall", "-pthread")


def nvtx_include() -> Path:
    """The directory that holds nvtx3/: NVSPAN_NVTX_INCLUDE, or that of the nvidia-nvtx wheel."""
    chosen = os.environ.get("NVSPAN_NVTX_INCLUDE")
    candidates = [Path(chosen)] if chosen else []
    nvidia = find_spec("nvidia")
    for folder in (nvidia.submodule_search_locations or []) if nvidia else []:
        candidates += [*Path(folder).glob("cu*/include"), *Path(folder).glob("nvtx/include")]
    for candidate in candidates:
        if (candidate / HEADER).exists():
            return candidate
    pytest.skip("no NVTX headers: install nvidia-nvtx 13.5, or set NVSPAN_NVTX_INCLUDE")


def compiler() -> str:
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        pytest.skip("no C++ compiler")
    return found


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="nvspan-compiled-")


@functools.cache
def build(source: Path, *flags: str, name: str | None = None) -> Path:
    """The program (or, with "-shared", the library) that `source` makes, built once."""
    output = Path(_folder().name) / (name or source.stem)
    command = [compiler(), *FLAGS, "-isystem", str(nvtx_include()), str(source)]
    command += [*flags, "-o", str(output), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output
