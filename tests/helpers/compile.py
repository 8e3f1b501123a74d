# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C++ programs that tests run. Without a compiler or NVTX's headers a test skips."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers import shared

HEADER = "nvtx3/nvToolsExtCounters.h"
FLAGS = ("-Og", "-g1", "-fno-var-tracking", "-Wall", "-pthread")


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


def make(output: Path, sources: Sequence[Path], *flags: str) -> Path:
    """Compiles, through the launcher that CMake is told of where there is one, and links."""
    launcher = shlex.split(os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""))
    # a sanitizer that is preloaded into the tests is not for the compiler
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    unit = sources[0]
    if len(sources) > 1:  # compiled as one: headers that all include take most of the time
        unit = output.with_name(f"{output.name}.cpp")
        unit.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    made = str(output.with_name(f"{output.name}.o"))
    with_link = [flag for flag in flags if flag.startswith("-Wl,") or not flag.startswith("-")]
    compiled = [flag for flag in flags if flag not in with_link]
    commands = [
        [*launcher, compiler(), "-std=c++17", *compiled, "-c", str(unit), "-o", made],
        [compiler(), made, *flags, "-o", str(output), "-ldl"],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
    return output


@functools.cache
def build(source: Path, *flags: str, name: str | None = None) -> Path:
    """The program (or, with "-shared", the library) that `source` makes, built once in a test run.

    Flags that name C++ files are sources too.
    """
    sources = [source, *(Path(flag) for flag in flags if flag.endswith(".cpp"))]
    others = [flag for flag in flags if not flag.endswith(".cpp")]
    include = "-isystem" + str(nvtx_include())
    return built(name or source.stem, sources, *FLAGS, include, *others)


def built(name: str, sources: Sequence[Path], *flags: str) -> Path:
    """What `make` makes of these, once in a test run."""
    key = hashlib.sha256(repr((name, sources, flags)).encode()).hexdigest()[:16]
    return shared.once(key, lambda folder: make(folder / name, sources, *flags)) / name
