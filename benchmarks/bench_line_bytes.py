# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How many bytes a sample takes in a file.

    python benchmarks/bench_line_bytes.py [--seconds 20] [--rate 1000]

A training loop of one thread, and the programs of bench_line_truth.py, are recorded. The first
figure is that of the samples, the second has what they cite, each file, function, line and stack
once, in it. The exit code is 1 where the training loop's samples take more than 2 bytes.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import nvspan

FOLDER = Path(__file__).with_name("lines")
PROGRAMS = ("two_functions", "recursion", "c_functions", "sleeping", "locks", "threads")
MOST = 2.0
HEADER, CHUNK = 4096, 96
DEFINITIONS, SAMPLES = 2, 4


def bytes_of(path: Path) -> dict[int, int]:
    """The used bytes of a file's chunks, by their type."""
    data = path.read_bytes()
    sums: dict[int, int] = {}
    at = HEADER
    while at + CHUNK <= len(data):
        (kind,) = struct.unpack_from("<I", data, at + 8)
        (size,) = struct.unpack_from("<I", data, at + 56)
        (used,) = struct.unpack_from("<I", data, at + 88)
        sums[kind] = sums.get(kind, 0) + max(0, (used & ~7) - CHUNK)
        at += max(size, 64)
    return sums


def record(folder: Path, rate: int, words: list[str]) -> tuple[int, dict[int, int]]:
    path = folder / "run.nvspan"
    command = [sys.executable, "-m", "nvspan", "record", "--force", "--no-report", "-o", str(path),
               "--lines", str(rate), *words]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return nvspan.read(path).lines(idle=True).samples, bytes_of(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=int, default=1000, help="looks a second")
    options = parser.parse_args()
    seconds = str(options.seconds)
    runs = {"training": [str(FOLDER / "training.py"), seconds]}
    runs |= {name: [str(FOLDER / "programs.py"), name, seconds] for name in PROGRAMS}
    figures = {}
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as folder:
        for name, words in runs.items():
            samples, sums = record(Path(folder), options.rate, words)
            figures[name] = sums.get(SAMPLES, 0) / max(samples, 1)
            cited = sums.get(DEFINITIONS, 0) / max(samples, 1)
            print(f"{name:15} {samples:7,} samples  {figures[name]:5.2f} bytes each, "
                  f"{figures[name] + cited:.2f} with what they cite", flush=True)  # fmt: skip
    return int(figures["training"] > MOST)


if __name__ == "__main__":
    sys.exit(main())
