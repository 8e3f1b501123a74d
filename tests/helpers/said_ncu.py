# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program in place of Nsight Compute that says what it is told to, and runs the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

# A rank's lines go where ncu puts its own: into --log-file, else to standard output.
_PROGRAM = """#!/bin/sh
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


def make(folder: Path, said: Mapping[int, Sequence[str]]) -> str:
    """The program's path; `said` are the lines that it says on each rank."""
    for rank, lines in said.items():
        (folder / f"said-{rank}").write_text("".join(f"{line}\n" for line in lines))
    path = folder / "ncu"
    path.write_text(_PROGRAM.format(folder=folder))
    path.chmod(0o755)
    return str(path)
