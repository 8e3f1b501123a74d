# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Shares of samples against programs that measure themselves, beside other profilers.

Each program of lines/programs.py runs for a few seconds under `nvspan record --lines`, and under
the other profilers of --tools where they are installed; the figure is the difference between what
they say of a function and what the program measured, in points, the worst of its functions.

    python benchmarks/bench_line_truth.py --runs 5 --seconds 3 --markdown

The exit code is 1 when nvspan's mean is beyond 2 points, or a run beyond 5.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("lines") / "programs.py"
sys.path.insert(0, str(PROGRAM.parent))
import programs  # noqa: E402

MEAN, WORST = 2.0, 5.0
Stacks = list[tuple[list[str], float]]


def difference(truth: dict[str, float], stacks: Stacks) -> float:
    """In points, of the function that is furthest from the truth; each stack counts for the
    innermost of them that it holds."""
    seen = dict.fromkeys(truth, 0.0)
    for functions, weight in stacks:
        for function in reversed(functions):
            name = function.rpartition(".")[2]
            if name in seen:
                seen[name] += weight
                break
    whole = sum(seen.values()) or 1.0
    return max(100 * abs(seen[name] / whole - share) for name, share in truth.items())


def run(command: list[str], environment: dict[str, str] | None = None) -> dict[str, float]:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def with_nvspan(name: str, seconds: float) -> float:
    import nvspan

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.nvspan")
        record = [sys.executable, "-m", "nvspan", "record", "--no-report", "--lines", "1000"]
        truth = run([*record, "-o", path, str(PROGRAM), name, str(seconds)])
        lines = nvspan.read(path).lines("function", show_stdlib=True, idle=True)
    of_processor = name in programs.OF_PROCESSOR
    return difference(
        truth,
        [
            ([row.function], float(row.total_running if of_processor else row.total))
            for row in lines.rows
            if row.function is not None
        ],
    )


def with_py_spy(name: str, seconds: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "raw.txt")
        idle = [] if name in programs.OF_PROCESSOR else ["--idle"]
        truth = run(["py-spy", "record", "-r", "1000", "-f", "raw", *idle, "-o", path, "--",
                     sys.executable, str(PROGRAM), name, str(seconds)])  # fmt: skip
        stacks = []
        for line in Path(path).read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            stacks.append(([part.split(" (")[0] for part in stack.split(";")], float(count)))
    return difference(truth, stacks)


def with_pyinstrument(name: str, seconds: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.json")
        truth = run([sys.executable, "-m", "pyinstrument", "-i", "0.001", "-r", "json",
                     "--show-all", "-o", path, str(PROGRAM), name, str(seconds)])  # fmt: skip
        stacks: Stacks = []
        pending: list[tuple[list[str], dict]] = [
            ([], json.loads(Path(path).read_text())["root_frame"])
        ]
        while pending:
            above, frame = pending.pop()
            stack = [*above, frame["function"]]
            children = frame.get("children", [])
            own = frame["time"] - sum(child["time"] for child in children)
            stacks.append((stack, own))
            pending += [(stack, child) for child in children]
    return difference(truth, stacks)


def with_cprofile(name: str, seconds: float) -> float:
    """By cumulative time: no function of a truth calls another of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile")
        truth = run([sys.executable, "-m", "cProfile", "-o", path, str(PROGRAM), name,
                     str(seconds)])  # fmt: skip
        rows = pstats.Stats(path).stats.items()  # type: ignore[attr-defined]
    return difference(truth, [([function], times[3]) for (_, _, function), times in rows])


TOOLS = {
    "nvspan": with_nvspan,
    "py-spy": with_py_spy,
    "pyinstrument": with_pyinstrument,
    "cProfile": with_cprofile,
}


def measured(tool: str, name: str, seconds: float, runs: int) -> list[float]:
    found = []
    for _ in range(runs):
        try:
            found.append(TOOLS[tool](name, seconds))
        except (
            OSError,
            subprocess.SubprocessError,
            ValueError,
            StopIteration,
            KeyError,
        ) as error:
            print(f"{tool}, {name}: {error}", file=sys.stderr)
            return []
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--tools", default="nvspan", help=f"with commas: {', '.join(TOOLS)}")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    tools = options.tools.split(",")
    rows, reached = [], True
    for program in programs.PROGRAMS:
        name = program.__name__
        cells = []
        for tool in tools:
            found = measured(tool, name, options.seconds, options.runs)
            cells.append(f"{statistics.mean(found):.1f} ({max(found):.1f})" if found else "-")
            if tool == "nvspan":
                reached &= bool(found) and statistics.mean(found) <= MEAN and max(found) <= WORST
        rows.append([name, *cells])
        print(*rows[-1], sep="\t", file=sys.stderr)
    if options.markdown:
        print(f"| program, points: mean (worst) of {options.runs} | {' | '.join(tools)} |")
        print("|---" * (len(tools) + 1) + "|")
        for row in rows:
            print(f"| {' | '.join(row)} |")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
