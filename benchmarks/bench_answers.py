# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the answers about a recording cost: ``nvspan steps``, ``modules`` and ``explain``.

    python benchmarks/bench_answers.py [--ranges 10000000] [--json FILE] [--keep FOLDER]

Two recordings of training loops with times of their own: steps of 10 ranges (4 phases and 5
modules), and the same with a device range in each; and one of requests of which 30 overlap, for
`explain` alone. --keep leaves them in a folder, to be read by another version. Each command runs
three times in a process of its own, the best is kept: the wall time holds the start of the
interpreter. The exit code is 1 if one of a loop took more than 3 s.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nvspan.writer import Session

COMMANDS = ("steps", "modules", "explain")
PHASES = (("dataloader.next", 10, 1000), ("forward", 1010, 4000), ("backward", 4010, 8000),
          ("optimizer.step", 8010, 9900))  # fmt: skip
LENGTH, LIMIT, REPEATS = 10_000, 3.0, 3  # ns of a step, s


def write(path: Path, ranges: int, gpu: bool) -> None:
    count = ranges // (11 if gpu else 10)
    at = np.arange(count, dtype=np.int64) * LENGTH
    with Session("loop", output=str(path)) as session:
        with session.create_stream("main", domain="torch") as stream:
            stream.write_ranges(at, at + LENGTH - 10, message="step")
            for name, start, end in PHASES:
                stream.write_ranges(at + start, at + end, message=name)
            for i in range(5):
                start = 1100 + 500 * i
                stream.write_ranges(at + start, at + start + 400, message=f"layers.{i}")
        if gpu:
            with session.create_stream("gpu", domain="torch", device=0, queue=7) as stream:
                stream.write_ranges(at + 3000, at + 9000, message="forward")


def write_overlapping(path: Path, ranges: int) -> None:
    at = np.arange(ranges, dtype=np.int64) * LENGTH
    with (
        Session("requests", output=str(path)) as session,
        session.create_stream("main", domain="app") as stream,
    ):
        stream.write_ranges(at, at + 30 * LENGTH, message="request")


def seconds(command: str, path: Path) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "nvspan", command, str(path)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranges", type=int, default=10_000_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        for gpu in (False, True):
            path = kept / f"loop{'-gpu' * gpu}.nvspan"
            write(path, options.ranges, gpu)
            for command in COMMANDS:
                case = f"{command}, {'with' if gpu else 'without'} device ranges"
                found[case] = seconds(command, path)
                print(f"{case:<32} {found[case]:6.2f} s")
        longest = max(found.values())
        path = kept / "requests.nvspan"
        write_overlapping(path, options.ranges)
        case = "explain, 30 requests at once"
        found[case] = seconds("explain", path)
        print(f"{case:<32} {found[case]:6.2f} s")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return int(longest > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
