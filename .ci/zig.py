#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Compile for Windows, macOS and musl what is built there: zig.py WORK [CHANGED]

The compiler is that of the package ziglang, which carries the systems' headers. WORK is a folder
for what it makes and keeps. CHANGED lists changed files: only these sources are compiled, and one
source for each of these headers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pybind11
from tidy import affected

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["core", "nvtx", "annotate", "cuda", "nccl", "trace", "record", "bindings"]
RECORDING = ["reader", "foreign", "ranks", "lines", "cupti", "inject"]  # on Linux
# Conditions of the lists of sources that hold on a system.
HOLD = {
    "windows": [],
    "macos": [],
    "musl": ["TARGET _reader", 'CMAKE_SYSTEM_NAME STREQUAL "Linux"'],
}
BUILT = {"windows": ROOMS, "macos": ROOMS, "musl": ROOMS + RECORDING}
TARGETS = {
    "windows": ["x86_64-windows-gnu", "-DNOMINMAX", "-DWIN32_LEAN_AND_MEAN"],
    "macos": ["aarch64-macos"],
    "musl": ["x86_64-linux-musl"],
}
# In the place of the configuration of this system's CPython, where Windows has another.
WINDOWS_CONFIGURATION = """
#include_next <pyconfig.h>
#define MS_WIN64
#define MS_WINDOWS
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#define SIZEOF_PID_T 8
#define ALIGNOF_LONG 4
#define SIZEOF_LONG_DOUBLE 16
#undef HAVE_PTHREAD_STUBS
#undef HAVE_SYS_SELECT_H
#undef HAVE_SYS_IOCTL_H
#undef HAVE_TERMIOS_H
#undef HAVE_LANGINFO_H
#undef HAVE_ALLOCA_H
"""


def sources(system: str) -> list[str]:
    """The sources that are built on a system, from the rooms' lists."""
    found = []
    for room in BUILT[system]:
        conditions: list[str] = []
        for line in (ROOT / "src" / room / "CMakeLists.txt").read_text().splitlines():
            if opened := re.match(r"if\((.*)\)$", line):
                conditions.append(opened[1])
            elif line.startswith("endif"):
                conditions.pop()
            elif (listed := re.match(r" +(\S+\.cpp)", line)) and set(conditions) <= set(
                HOLD[system]
            ):
                found.append(f"src/{room}/{listed[1]}")
    return found


def joined(work: Path, system: str, wanted: list[str]) -> list[str]:
    """Sources that hold those of a room, as a build joins them: they read the same headers."""
    rooms: dict[str, list[str]] = {}
    for source in wanted:
        rooms.setdefault("-".join(source.split("/")[1:3]), []).append(source)
    # What instantiates NVTX's header includes it first.
    first = "src/annotate/tool/environment_tool.cpp"
    made = [first]
    for room, parts in rooms.items():
        parts = [part for part in parts if part != first]
        path = work / f"{system}-{room}.cpp"
        path.write_text("".join(f'#include "{ROOT / part}"\n' for part in parts))
        made.append(str(path))
    return made


def headers(work: Path, system: str) -> list[str]:
    """Options for CPython's headers: on Windows those of this system with its other sizes."""
    own = Path(sysconfig.get_path("include"))
    if system != "windows":
        return [f"-isystem{own}"]
    copy, first = work / "python", work / "windows"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(own, copy)
    first.mkdir(parents=True, exist_ok=True)
    (copy / "below").mkdir()
    (copy / "pyconfig.h").rename(copy / "below" / "pyconfig.h")
    (first / "pyconfig.h").write_text(WINDOWS_CONFIGURATION)
    return [f"-isystem{first}", f"-isystem{copy}", f"-isystem{copy / 'below'}"]


def main(work: Path, changed: Path | None = None) -> int:
    nvtx = subprocess.check_output(
        [sys.executable, "cmake/find_headers.py", "nvidia-nvtx", "nvtx3/nvToolsExt.h"],
        cwd=ROOT, text=True,
    ).strip()  # fmt: skip
    failed: list[str] = []
    for system, options in TARGETS.items():
        wanted = sources(system)
        if changed is None:
            wanted = joined(work, system, wanted)
        else:
            wanted = affected(wanted, set(changed.read_text().splitlines()))
        with_nvtx = system != "macos"  # it has none there
        command = [sys.executable, "-m", "ziglang", "c++", "-target", *options]
        command += ["-std=c++17", "-c", "-O0", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
        command += [f"-DNVSPAN_HAVE_NVTX={int(with_nvtx)}", '-DNVSPAN_VERSION="0"', "-Isrc"]
        command += [*headers(work, system), f"-isystem{pybind11.get_include()}"]
        command += [f"-isystem{nvtx}"] if with_nvtx else []

        def compile_one(
            source: str, command: list[str] = command
        ) -> subprocess.CompletedProcess[str]:
            made = work / (source.lstrip("/").replace("/", "-") + ".o")
            return subprocess.run(
                [*command, "-o", str(made), source], cwd=ROOT, capture_output=True, text=True,
                env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(work / "zig")}, check=False,
            )  # fmt: skip

        with ThreadPoolExecutor(2) as pool:
            for source, done in zip(wanted, pool.map(compile_one, wanted), strict=True):
                if done.returncode:
                    failed.append(f"{system}: {source}")
                    print(f"{failed[-1]}\n{done.stderr}", flush=True)
        print(f"zig: {system}: {len(wanted)} compiled", flush=True)
    print("".join(f"fails for {each}\n" for each in failed), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).absolute() for argument in sys.argv[1:])))
