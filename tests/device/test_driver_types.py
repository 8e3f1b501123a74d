# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's functions, structs and constants are declared as NVIDIA's headers have them."""

from __future__ import annotations

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers import compile as compiling

ROOT = Path(__file__).resolve().parents[2]


def toolkits(header: str = "cudaTypedefs.h") -> list[Path]:
    """Where `header` is: toolkits that are installed, and the wheels of the runtime."""
    chosen = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    found = [Path(folder) / "include" for folder in chosen]
    found += sorted(Path("/usr/local").glob("cuda*/include"))
    nvidia = find_spec("nvidia")
    for folder in (nvidia.submodule_search_locations or []) if nvidia else []:
        found += sorted(Path(folder).glob("cu*/include"))
        found += sorted(Path(folder).glob("cuda_runtime/include"))
        found += sorted(Path(folder).glob("cuda_cupti/include"))
    real = dict.fromkeys(path.resolve() for path in found)
    return [path for path in real if (path / header).exists()]


def test_our_declarations_are_those_of_the_toolkit():
    includes = toolkits()
    if not includes:
        pytest.skip("no cuda.h: install a CUDA toolkit or the nvidia-cuda-runtime wheel")
    source = ROOT / "tests" / "cpp" / "driver_types_test.cpp"
    for include in includes:
        paths = ["-I", str(ROOT / "src"), "-isystem", str(include), "-include", "cudaTypedefs.h"]
        command = [compiling.compiler(), "-std=c++17", "-fsyntax-only", *paths, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{include}\n{done.stderr}"


def test_our_declarations_are_those_of_cupti():
    includes = toolkits("cupti_activity.h")
    if not includes:
        pytest.skip("no CUPTI: install a CUDA toolkit or the nvidia-cuda-cupti wheel")
    source = ROOT / "tests" / "cpp" / "cupti_types_test.cpp"
    for include in includes:
        for needed in ("cuda.h", "crt/host_defines.h"):
            if not (include / needed).exists():
                pytest.skip(f"CUPTI without {needed} of CUDA in {include}")
        paths = ["-I", str(ROOT / "src"), "-isystem", str(include)]
        command = [compiling.compiler(), "-std=c++17", "-fsyntax-only", *paths, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{include}\n{done.stderr}"
