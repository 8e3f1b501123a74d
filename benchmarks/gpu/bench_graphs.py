# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What recording a CUDA graph's replays costs, and whether each kernel is told of its own layer.

    python benchmarks/gpu/bench_graphs.py [--replays 1000]

The truth is in the recording: the same kernels, launched eagerly in ranges of another name.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import nvspan

WORKER = str(Path(__file__).with_name("graphs_worker.py"))
MODES = {
    "bare": (None, 0),
    "--cuda off": ("off", 0),
    "--cuda kernels": ("kernels", 0),
    "--cuda kernels, one replay in 100": ("kernels", 100),
    "--cuda graphs": ("graphs", 0),
}


def attributions(path: str) -> Counter[str]:
    """How many kernels of replays are told of the layer that captured them, or of another one."""
    rows = nvspan.read(path).kernels(by="range").rows
    ranges = [row.range or "" for row in rows]
    eager = {
        row.name: name.removeprefix("eager ")
        for row, name in zip(rows, ranges, strict=True)
        if name.startswith("eager ")
    }
    found: Counter[str] = Counter()
    for row, name in zip(rows, ranges, strict=True):
        if row.kind == "kernel" and row.name in eager and not name.startswith("eager "):
            right = name == "layer " + eager[row.name]
            told = "right" if right else "wrong" if name.startswith("layer ") else "unknown"
            found[told] += row.count
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replays", type=int, default=1000)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for mode, (cuda, every) in MODES.items():
            path = f"{folder}/{mode}.nvspan"
            record = ["-m", "nvspan", "record", "--no-report", "--lines=off", f"--cuda={cuda}"]
            command = [*record, "-o", path] if cuda else []
            command = [sys.executable, *command, WORKER, str(options.replays), str(every)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            replay, launch = done.stdout.split()[-2:]
            told = attributions(path) if cuda == "graphs" or every else Counter()
            wrong += told["wrong"] + told["unknown"]
            print(f"{mode:34} replay {replay:>6} us, launch {launch:>6} us  {dict(told) or ''}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
