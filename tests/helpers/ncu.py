# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Finds a real Nsight Compute, which reads command lines and reports without a GPU too, and makes
a program that answers for the reports in tests/data/nsight in its place."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.tree import ROOT

DATA = ROOT / "tests" / "data" / "nsight"
# A report is known by its content, whatever it is called.
_RECORDED = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in --import) report=$2;; --page) page=$2;; esac
  shift
done
for known in {data}/*.ncu-rep; do
  cmp -s "$known" "$report" && exec cat "${{known%.ncu-rep}}.$page.csv"
done
echo "==ERROR== Failed to load the report" >&2
exit 1
"""


def find() -> str:
    """The path of ncu: of the variable NVSPAN_NCU, on PATH, or where its installer puts it."""
    named = os.environ.get("NVSPAN_NCU")
    if named:
        if not os.access(named, os.X_OK):
            pytest.fail(f"NVSPAN_NCU={named} is no program")
        return named
    found = shutil.which("ncu") or next(
        map(str, sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"))), None
    )
    if not found:
        pytest.skip(
            "needs Nsight Compute: NVSPAN_NCU is unset, and there is no ncu on PATH or in "
            "/opt/nvidia/nsight-compute"
        )
    return found


def recorded(folder: Path) -> str:
    """A program in place of ncu that prints what it said of the reports in `DATA`."""
    path = folder / "ncu"
    path.write_text(_RECORDED.format(data=DATA))
    path.chmod(0o755)
    return str(path)


def has_driver() -> bool:
    """Whether this machine has a CUDA driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def run(ncu: str, *words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ncu, *words], capture_output=True, text=True, timeout=timeout, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def refuses(ncu: str, *filters: str) -> bool:
    """Whether ncu says that one of the filters is none."""
    words = [word for text in filters for word in ("--nvtx-include", text)]
    done = run(ncu, "--nvtx", *words, sys.executable, "-c", "")
    said = done.stdout + done.stderr
    assert "Nsight Compute" in said or "No kernels" in said or "Invalid" in said, said
    return "Invalid configuration" in said
