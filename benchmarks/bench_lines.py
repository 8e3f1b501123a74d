# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the lines of a recording cost: ``nvspan stats --lines``, the page and the Perfetto trace.

    python benchmarks/bench_lines.py [--samples 10000000] [--json FILE]

A recording of a sampled program with two threads: steps with a load and a save, 1,000 stacks of
depth 20, and a stack that changes from one sample to the next. Each command runs three times in a
process of its own, the best is kept: the wall time holds the start of the interpreter. The page and
the trace are written once. The exit code is 1 if a table took more than 2 s.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile

COMMANDS = (("--lines",), ("--lines", "load"), ("--lines", "--functions"))
DEPTH, STACKS, CHUNK, LIMIT, REPEATS = 20, 1000, 100_000, 2.0, 3
PERIOD = 1000  # units: 1.024 ms
STEP = 100 * PERIOD


def write(path: Path, samples: int) -> None:
    random.seed(1)
    file = SampledFile()
    frames = [file.frame(f"/p/module_{i % 20}.py", f"function_{i}", 10 + i, first_line=9 + i)
              for i in range(STACKS)]  # fmt: skip
    common = frames[: DEPTH - 1]
    stacks = [file.stack(*common, frame) for frame in frames]
    threads = [file.thread(), file.thread(43)]
    chunks = max(samples // CHUNK, 1)
    body = SampleChunk(0, 1024)
    at = 0
    for _ in range(CHUNK // 2):
        at += PERIOD
        body.sample(at, threads[0], random.choice(stacks))
        body.sample(at, threads[1], random.choice(stacks[:3]), random.choice((RUNNING, WAITING)))
    data = body.data
    for index in range(chunks):  # the same records, later
        chunk = SampleChunk(index * (at + PERIOD), None)
        chunk.data, chunk.samples = data, body.samples
        chunk.now = index * (at + PERIOD) + at
        file.samples(chunk)
    steps = min(chunks * (at + PERIOD) // STEP, 200_000)
    file.ranges(
        one
        for i in range(steps)
        for one in (
            (i * STEP, (i + 1) * STEP - 10, "step"),
            (i * STEP + 10, i * STEP + 60 * PERIOD, "load"),
            (i * STEP + 70 * PERIOD, i * STEP + 90 * PERIOD, "save"),
        )
    )
    file.write(path)


def seconds(options: tuple[str, ...], path: Path) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "nvspan", "stats", *options, str(path)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        times.append(time.perf_counter() - start)
    return min(times)


def written(command: str, out: Path, path: Path) -> str:
    """How long a command takes that writes a file, and how large that is."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "nvspan", command, str(path), "-o", str(out)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    took = time.perf_counter() - start
    return f"nvspan {command:26} {took:6.2f} s, {out.stat().st_size / 1e6:.1f} MB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as folder:
        path = Path(folder) / "lines.nvspan"
        write(path, options.samples)
        for words in COMMANDS:
            results[" ".join(words)] = seconds(words, path)
        files = [written("report", path.with_suffix(".html"), path),
                 written("export", path.with_suffix(".pftrace"), path)]  # fmt: skip
    for name, took in results.items():
        print(f"nvspan stats {name:20} {took:6.2f} s for {options.samples:,} samples")
    print(*files, sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return int(any(took > LIMIT for took in results.values()))


if __name__ == "__main__":
    sys.exit(main())
