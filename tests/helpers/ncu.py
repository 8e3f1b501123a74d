# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Finds a real Nsight Compute, which reads command lines and reports without a GPU too, and makes
programs in its place that say what they are told to."""

from __future__ import annotations

import csv
import ctypes
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from helpers.script import script
from helpers.tree import ROOT

DATA = ROOT / "tests" / "data" / "nsight"
# A report is known by its content, whatever it is called. What is not for nvspan's tables is a line
# of words.
_RECORDED = """#!/bin/sh
echo "$@" >> "$0.calls"
while [ $# -gt 0 ]; do
  case "$1" in --import) report=$2;; --page) page=$2;; --print-kernel-base) table=1;; esac
  shift
done
[ "$table" ] || exec echo printed by ncu
for known in {data}/*.ncu-rep; do
  cmp -s "$known" "$report" && exec cat "${{known%.ncu-rep}}.$page.csv"
done
echo "==ERROR== Failed to load the report" >&2
exit 1
"""
# A rank's lines go where ncu puts its own: into --log-file, else to standard output.
_SAYING = """#!/bin/sh
rank=${{SLURM_PROCID:-${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:-${{RANK:-0}}}}}}}}
log=/dev/stdout
while :; do case "$1" in
  --version) echo "Version 2025.3.1.0 (build 1)"; exit 0;;
  --log-file) log=$2; shift 2;;
  --nvtx|--force-overwrite) shift;;
  --*=*) shift;;
  --*) shift 2;;
  *) break;;
esac; done
cat "{folder}/said-$rank" >> "$log" 2>/dev/null
exec "$@"
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
    """A program in place of ncu that prints what it said of the reports in `DATA`, and notes in
    ncu.calls with which words."""
    return script(folder / "ncu", _RECORDED.format(data=DATA))


def saying(folder: Path, said: Mapping[int, Sequence[str]]) -> str:
    """A program in place of ncu that says these lines on each rank, and runs the program."""
    for rank, lines in said.items():
        (folder / f"said-{rank}").write_text("".join(f"{line}\n" for line in lines))
    return script(folder / "ncu", _SAYING.format(folder=folder))


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


def raw_rows(printed: str) -> list[dict[str, str]]:
    """The results in what ``--csv --page raw`` printed."""
    rows = list(csv.DictReader(io.StringIO(printed[printed.find('"ID"') :])))
    return rows[1:]  # the first has the units


def refuses(ncu: str, *filters: str) -> bool:
    """Whether ncu says that one of the filters is none."""
    words = [word for text in filters for word in ("--nvtx-include", text)]
    done = run(ncu, "--nvtx", *words, sys.executable, "-c", "")
    said = done.stdout + done.stderr
    assert "Nsight Compute" in said or "No kernels" in said or "Invalid" in said, said
    return "Invalid configuration" in said
