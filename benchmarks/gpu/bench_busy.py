# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How far the time in which the GPU is busy, per step, is from kernels of known length.

    python benchmarks/gpu/bench_busy.py

Six programs, each with a cause that it was given; what `explain` says first is printed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import nvspan
from nvspan.answers.findings import analyze

WORKER = str(Path(__file__).with_name("busy_worker.py"))
PROGRAMS = {
    "tiny": "bound-launch",
    "item": "bound-synchronising",
    "loader": "bound-cpu",
    "gpu": "bound-gpu",
    "graph": "bound-cpu",
    "compiled": "bound-gpu",
}


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, cause in PROGRAMS.items():
            path = f"{folder}/{name}.nvspan"
            record = ["-m", "nvspan", "record", "--no-report", "--cuda=kernels", "-o", path]
            command = [sys.executable, *record, WORKER, name]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            true = float(done.stdout.split()[-1])
            recording = nvspan.read(path)
            off = recording.steps().typical.busy / 1e6 - true
            bounds = [one for one in analyze(recording).findings if one.kind.startswith("bound")]
            missed += abs(off) > max(0.1, 0.01 * true) or bounds[0].kind != cause
            far = f"{1e3 * off:+5.0f} us  {off / true:+.2%}"
            print(f"{name:9} {true:6.3f} ms  {far}  {bounds[0].text}")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
