# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a program takes under profilers that sample or count Python: ratios to a bare run.

Each block runs lines/loops.py once under each tool, in random order; its loops time themselves. A
ratio is the median over the blocks, with its 95% interval by bootstrap. A tool that is not
installed, or does not run here, is left out and named.

    python benchmarks/bench_line_peers.py --blocks 30 [--times 4] [--markdown]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_line_cost import text

PROGRAM = str(Path(__file__).with_name("lines") / "loops.py")
PYTHON = [sys.executable]


def commands(folder: str) -> dict[str, list[str]]:
    record = [*PYTHON, "-m", "nvspan", "record", "--no-report", "-o", f"{folder}/run.nvspan"]
    nsys = ["nsys", "profile", "-t", "none", "--sample=none", "--cpuctxsw=none", "-f", "true",
            "--python-sampling=true", "-o", f"{folder}/run", *PYTHON]  # fmt: skip
    spy = ["py-spy", "record", "-f", "raw", "-o", f"{folder}/spy"]
    return {
        "none": PYTHON,
        "nvspan record": record,
        "nvspan record --lines off": [*record, "--lines", "off"],
        "nvspan record --lines 1000": [*record, "--lines", "1000"],
        "py-spy, 100 Hz": [*spy, "--", *PYTHON],
        "py-spy, 1,000 Hz": [*spy, "-r", "1000", "--", *PYTHON],
        "pyinstrument": [*PYTHON, "-m", "pyinstrument", "-o", f"{folder}/instrument"],
        "Scalene": [*PYTHON, "-m", "scalene", "run", "--cpu-only", "-o", f"{folder}/scalene"],
        "nsys, 1,000 Hz": nsys,
        "cProfile": [*PYTHON, "-m", "cProfile", "-o", f"{folder}/cprofile"],
    }


def seconds(command: list[str], times: int, folder: str) -> dict[str, float]:
    """What each loop took, and their sum. What the tool wrote is removed."""
    done = subprocess.run(
        [*command, PROGRAM, str(times)], capture_output=True, text=True, check=True, timeout=300
    )
    for left in os.scandir(folder):
        (shutil.rmtree if left.is_dir() else os.remove)(left.path)
    loops = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return {**loops, "all": sum(loops.values())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--times", type=int, default=4, help="runs of each loop in a block")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        tools = commands(folder)
        for name, command in list(tools.items()):
            try:
                seconds(command, 1, folder)
            except (OSError, subprocess.SubprocessError, ValueError, StopIteration) as error:
                print(f"{name} does not run here: {error}", file=sys.stderr)
                del tools[name]
        for _ in range(options.blocks):
            for name in random.sample(list(tools), len(tools)):
                found.setdefault(name, []).append(seconds(tools[name], options.times, folder))
    loops = list(found["none"][0])
    rows = [["program's time / bare", *loops]]
    for name, blocks in found.items():
        if name == "none":
            continue
        pairs = list(zip(blocks, found["none"], strict=True))
        rows.append(
            [name, *(text([one[loop] / bare[loop] for one, bare in pairs]) for loop in loops)]
        )
    if options.markdown:
        rows.insert(1, ["---"] * len(rows[0]))
    for row in rows:
        print(f"| {' | '.join(row)} |" if options.markdown else "\t".join(row))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
