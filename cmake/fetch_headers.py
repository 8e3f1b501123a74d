# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch NVTX's headers where pip does not install their wheel: fetch_headers.py FOLDER

The wheel is one for Linux with glibc; the headers in it are the same for every system. FOLDER then
has `include/nvtx3`, for the build option NVSPAN_NVTX_INCLUDE_DIR.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIREMENT = "nvidia-nvtx>=13.5,<14"  # as in build_backend.py
PLATFORMS = (
    "manylinux1_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux_2_28_x86_64",
)


def fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            wheels,
        ]
        command += ["--only-binary=:all:", *(f"--platform={name}" for name in PLATFORMS)]
        subprocess.run([*command, REQUIREMENT], check=True)
        (wheel,) = Path(wheels).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                _, found, header = name.partition("/include/")
                if found and header.startswith("nvtx3/") and not header.endswith("/"):
                    path = folder / "include" / header
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(name))


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
