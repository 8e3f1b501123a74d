# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles null_injection.cpp, the NVTX tool that does nothing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("null_injection.cpp")


def nvtx_include() -> Path | None:
    """Where the NVTX headers are: the installed nvidia-nvtx wheel, a CUDA Toolkit, or nowhere."""
    try:
        files = importlib.metadata.files("nvidia-nvtx") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "nvToolsExt.h":
            return Path(str(file.locate())).resolve().parent.parent
    for root in (os.environ.get("NVTX_INCLUDE"), "/usr/local/cuda/include"):
        if root and (Path(root) / "nvtx3" / "nvToolsExt.h").exists():
            return Path(root)
    return None


def build(folder: Path, include: Path | None = None, *, extension: bool = False) -> Path:
    """Compiles the null tool into `folder`; RuntimeError says what is missing for it.

    With `extension` it takes payloads and counters."""
    include = include or nvtx_include()
    if include is None:
        raise RuntimeError("no NVTX headers: pip install nvidia-nvtx, or give --nvtx-include DIR")
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise RuntimeError("no C++ compiler: install g++ or set CXX")
    library = folder / "libnull_injection.so"
    command = [compiler, "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]
    command += ["-DNULL_EXTENSION=1"] if extension else []
    command += [f"-I{include}", str(SOURCE), "-o", str(library), "-ldl"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr}")
    return library
