# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""NVTX's headers for a build on musl: from the wheel for glibc, which pip installs elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from helpers.tree import ROOT

SCRIPT = ROOT / "cmake" / "fetch_headers.py"
HEADER = "nvidia/cu13/include/nvtx3/nvToolsExt.h"
INFO = "nvidia_nvtx-13.5.1.dist-info"


def wheel(folder, platform):
    """A wheel with a header, and with what a build does not want."""
    with zipfile.ZipFile(folder / f"nvidia_nvtx-13.5.1-py3-none-{platform}.whl", "w") as archive:
        archive.writestr(HEADER, "/* header */\n")
        archive.writestr("nvidia/cu13/include/other/other.h", "")
        archive.writestr("nvidia/cu13/lib/libnvtx.so", "")
        archive.writestr(
            f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: nvidia-nvtx\nVersion: 13.5.1\n"
        )
        archive.writestr(f"{INFO}/WHEEL", f"Wheel-Version: 1.0\nTag: py3-none-{platform}\n")
        archive.writestr(f"{INFO}/RECORD", "")


def fetch(folder, links):
    env = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(links),
        "PIP_CONFIG_FILE": os.devnull,
    }
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("platform", ["manylinux2014_x86_64", "manylinux_2_17_x86_64"])
def test_headers_come_from_the_wheel_for_glibc(tmp_path, platform):
    wheel(tmp_path, platform)
    done = fetch(tmp_path / "nvtx", tmp_path)
    assert done.returncode == 0, done.stderr
    got = [
        p.relative_to(tmp_path).as_posix() for p in (tmp_path / "nvtx").rglob("*") if p.is_file()
    ]
    assert got == ["nvtx/include/nvtx3/nvToolsExt.h"]


def test_without_a_wheel_it_fails(tmp_path):
    done = fetch(tmp_path / "nvtx", tmp_path)
    assert done.returncode == 1
    assert "No matching distribution found for nvidia-nvtx" in done.stderr


def test_the_build_asks_for_the_same_headers():
    (requirement,) = [line for line in SCRIPT.read_text().splitlines() if line.startswith("REQ")]
    backend = (ROOT / "cmake" / "build_backend.py").read_text()
    assert requirement.split('"')[1] in backend
