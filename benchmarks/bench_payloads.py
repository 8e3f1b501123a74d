# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What payloads and counters cost, beside the nvtx package, under a tool that takes them.

The packages take turns in one process for each state (no tool, the null tool). Examples:

    python benchmarks/bench_payloads.py
    python benchmarks/bench_payloads.py --python env311/bin/python env313/bin/python

The exit code is 1 when a target was missed, and 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import null_tool
from worker import compile_loop

SETUP = """
import warnings
import numpy as np
import {module} as nvtx
warnings.simplefilter("ignore")
d = nvtx.get_domain("bench")
kept_number = nvtx.annotate("kept", domain="bench", payload=1)
kept_tuple = nvtx.annotate("kept", domain="bench", payload=(1, 2, 3))
row = np.array((1, 2.5, 3), [("step", "i8"), ("loss", "f8"), ("size", "i4")])
rows = np.ones(1000)
attributes = d.get_event_attributes(message="m")
ints, floats = d.get_counter("ints", int), d.get_counter("floats", float)
group = d.get_counter("group", [("a", "i8"), ("b", "i8")])
values, times = np.ones(1_000_000), np.arange(1_000_000)
three = [1, 2, 3]
kept_list = nvtx.annotate("kept", domain="bench", payload=three)
"""
# name: (statement, most times the peer's cost under a tool; 0: no target)
CASES = {
    "a number, kept": ("with kept_number: pass", 0.0),
    "3 ints, tuple": ("d.mark(message='m', payload=(1, 2, i))", 0.3),
    "3 ints, kept tuple": ("with kept_tuple: pass", 0.0),
    "3 ints, kept list": ("with kept_list: pass", 0.3),
    "3 fields, numpy row": ("d.mark(message='m', payload=row)", 0.3),
    "1000 floats, numpy": ("d.mark(message='m', payload=rows)", 0.3),
    "bytes": ("d.mark(message='m', payload=b'0123456789')", 0.3),
    "sample int": ("ints.sample(i)", 0.5),
    "sample float": ("floats.sample(0.5)", 0.5),
    "sample group of 2": ("group.sample((i, 2))", 0.5),
    "batch of 1,000,000": ("floats.batch_submit(values, times)", 0.0),
}
OURS_ALONE = {
    "dict of 3": "d.mark(message='m', payload={'step': i, 'loss': 0.5, 'size': 3})",
    "str": "d.mark(message='m', payload='some text')",
}
TURN_NS = 10_000_000


def work(repeats: int) -> None:
    """Measures in this process and prints JSON: ns of each subject, the least of its turns."""
    loops = {"empty": compile_loop("", "pass")}
    for name, (statement, _) in CASES.items():
        for module in ("nvtx", "nvspan"):
            loops[f"{module} {name}"] = compile_loop(SETUP.format(module=module), statement)
    for name, statement in OURS_ALONE.items():
        loops[f"nvspan {name}"] = compile_loop(SETUP.format(module="nvspan"), statement)
    counts = {}
    for name, loop in loops.items():
        loop(20)
        counts[name] = max(10, int(TURN_NS / max(1.0, loop(100) / 100)))
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(repeats):
        for name, loop in loops.items():
            best[name] = min(best[name], loop(counts[name]) / counts[name])
    empty = best.pop("empty")
    print(json.dumps({name: ns - empty for name, ns in best.items()}))


def table(python: str, repeats: int, tool: Path) -> bool:
    """Prints the figures of one interpreter; True if every target was met."""
    measured = {}
    for state in ("no tool", "a tool"):
        environment = {k: v for k, v in os.environ.items() if "INJECTION" not in k}
        if state == "a tool":
            environment["NVTX_INJECTION64_PATH"] = str(tool)
        command = [python, __file__, "--work", "--repeats", str(repeats)]
        measured[state] = json.loads(subprocess.check_output(command, env=environment, text=True))
    met = True
    version = subprocess.check_output([python, "-V"], text=True).strip()
    print(f"\n{version}\n")
    print(
        "| ns | nvtx, no tool | nvspan, no tool | nvtx, a tool | nvspan, a tool | ratio | target |"
    )
    print("| --- " * 7 + "|")
    for name in [*CASES, *OURS_ALONE]:
        cells = [
            f"{measured[state][f'{module} {name}']:.0f}"
            if f"{module} {name}" in measured[state] else ""
            for state in measured for module in ("nvtx", "nvspan")
        ]  # fmt: skip
        under = measured["a tool"]
        theirs = under.get(f"nvtx {name}")
        ratio = under[f"nvspan {name}"] / theirs if theirs else None
        target = CASES[name][1] if name in CASES else 0.0
        met = met and not (ratio and target and ratio > target)
        cells += [f"{ratio:.2f}" if ratio else "", f"<= {target}" if target else ""]
        print("| " + " | ".join([name, *cells]) + " |")
    return met


def main() -> int:
    """Runs the workers and prints a table for each interpreter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="what to measure")
    parser.add_argument("--repeats", type=int, default=15, help="turns of each subject")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.repeats)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tool = null_tool.build(Path(folder), extension=True)
        met = [table(python, options.repeats, tool) for python in options.python]
        return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
