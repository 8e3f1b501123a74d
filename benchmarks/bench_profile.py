# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What Profile adds to each call, beside nvtx.Profile, under a tool that does nothing.

A call-heavy program runs in a process of its own for each subject; inside it turns with and without
the profile take turns, and the figure is the difference of their medians, for each call. The
subjects' processes take turns as well, ROUNDS times, and the median over those is reported.

    python benchmarks/bench_profile.py
    python benchmarks/bench_profile.py --python env312/bin/python env313/bin/python --markdown

The exit code is 1 when the added time is not 4 times below that of nvtx on CPython 3.12 or later.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import thread_time_ns
from typing import Any

import null_tool

WANTED = 4.0
SUBJECTS = ("nvtx", "nvspan")
STATES = {"none": "no tool", "tool": "null tool", "cfuncs": "null tool, C functions too"}
INJECTION_VARIABLES = ("NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE")


class Node:
    """The program: a tree of small calls, as in a parser or an interpreter."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.children = [Node(depth - 1) for _ in range(3)] if depth else []

    def weight(self) -> int:
        return sum([child.weight() for child in self.children], start=scale(self.depth))


def scale(depth: int) -> int:
    return combine(depth, 1)


def combine(left: int, right: int) -> int:
    return max(left, right) + right


def run(tree: Node, count: int) -> int:
    """The CPU time of `count` walks over the tree, in ns."""
    start = thread_time_ns()
    for _ in range(count):
        tree.weight()
    return thread_time_ns() - start


def calls_of(tree: Node) -> int:
    """How many Python calls one walk makes."""
    seen = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal seen
        seen += event == "call"

    sys.setprofile(count)
    tree.weight()
    sys.setprofile(None)
    return seen


def work(subject: str, state: str, walks: int, turns: int) -> None:
    """Measures one subject in this process; prints nanoseconds as JSON."""
    tree = Node(5)
    calls = calls_of(tree) * walks
    profile = importlib.import_module(subject).Profile(annotate_cfuncs=state == "cfuncs")
    bare: list[float] = []
    profiled: list[float] = []
    gc.disable()
    for turn in range(turns + 2):
        off = run(tree, walks) / calls
        profile.enable()
        on = run(tree, walks) / calls
        profile.disable()
        if turn >= 2:
            bare.append(off)
            profiled.append(on)
    off, on = statistics.median(bare), statistics.median(profiled)
    print(json.dumps({"bare": off, "added": on - off}))


def run_worker(
    python: str, subject: str, state: str, tool: Path, options: argparse.Namespace
) -> dict[str, float]:
    """Runs one subject in a fresh process."""
    environment = {key: text for key, text in os.environ.items() if key not in INJECTION_VARIABLES}
    if state != "none":
        environment["NVTX_INJECTION64_PATH"] = str(tool)
    command = [python, __file__, "--worker", subject, state, str(options.walks), str(options.turns)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{subject}, {state}: worker failed\n{done.stderr}")
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def run_python(python: str, tool: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All states on one interpreter: medians of ns per call."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    version = subprocess.check_output([python, "-c", code], text=True).strip()
    result: dict[str, Any] = {"version": version}
    for state in STATES:
        seen: dict[str, list[dict[str, float]]] = {subject: [] for subject in SUBJECTS}
        for _ in range(options.rounds):
            for subject in SUBJECTS:
                seen[subject].append(run_worker(python, subject, state, tool, options))
        result[state] = {
            subject: statistics.median(one["added"] for one in measured)
            for subject, measured in seen.items()
        }
        result[state]["bare"] = statistics.median(
            one["bare"] for measured in seen.values() for one in measured
        )
        print(version, state, result[state], file=sys.stderr)
    return result


def table(runs: list[dict[str, Any]]) -> str:
    """One row for each interpreter and state."""
    lines = [
        "| CPython | state | a call alone | added by nvtx 0.2.17 | added by nvspan | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for measured in runs:
        for state, title in STATES.items():
            bare, nvtx, nvspan = (measured[state][key] for key in ("bare", "nvtx", "nvspan"))
            ratio = "" if state == "none" else f"{nvtx / max(nvspan, 0.1):.1f}x"
            lines.append(
                f"| {measured['version']} | {title} | {bare:.0f} ns | {nvtx:.0f} ns "
                f"| {nvspan:.0f} ns | {ratio} |"
            )
    return "\n".join(lines)


def main() -> int:
    """Measures every interpreter and prints the table."""
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="what to measure")
    parser.add_argument("--walks", type=int, default=10, help="program runs a turn (default: 10)")
    parser.add_argument("--turns", type=int, default=9, help="turns per process (default: 9)")
    parser.add_argument("--rounds", type=int, default=3, help="processes each (default: 3)")
    parser.add_argument("--nvtx-include", type=Path, help="folder that holds nvtx3/nvToolsExt.h")
    parser.add_argument("--markdown", action="store_true", help="print nothing but the table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as folder:
        tool = null_tool.build(Path(folder), options.nvtx_include)
        runs = [run_python(python, tool, options) for python in options.python]
    print(table(runs))
    missed = [
        run["version"]
        for run in runs
        if int(run["version"].split(".")[1]) >= 12
        and run["tool"]["nvtx"] < WANTED * run["tool"]["nvspan"]
    ]
    if missed and not options.markdown:
        print(f"less than {WANTED:g}x below nvtx: CPython {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
