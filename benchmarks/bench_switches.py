# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What switching, check mode, spans and kept ranges cost, beside a kept annotation.

The subjects take turns in one process for each state (no tool, the null tool). Examples:

    python benchmarks/bench_switches.py
    python benchmarks/bench_switches.py --python env311/bin/python env313/bin/python

The exit code is 1 when a target was missed, and 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import null_tool
from worker import compile_loop

SETUP = """
import nvspan
kept = nvspan.annotate("kept", domain="bench")
ranged = nvspan.get_domain("bench").range("ranged")
span = nvspan.span("span", domain="bench")
"""
SUBJECTS = {
    "empty": "pass",
    "kept annotate": "with kept: pass",
    "domain.range": "with ranged: pass",
    "span": "span.start(); span.end()",
    "annotate": 'with nvspan.annotate("x"): pass',
}
TURN_NS = 20_000_000
FUNCTIONS = 10_000


def measure_loops(subjects: dict[str, str], repeats: int) -> dict[str, float]:
    """ns for each subject, the empty loop subtracted; the least of its turns."""
    loops = {name: compile_loop(SETUP, statement) for name, statement in subjects.items()}
    counts = {}
    for name, loop in loops.items():
        loop(1000)
        counts[name] = max(1, int(TURN_NS / max(1.0, loop(10_000) / 10_000)))
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(repeats):
        for name, loop in loops.items():
            best[name] = min(best[name], loop(counts[name]) / counts[name])
    empty = best.pop("empty")
    return {name: ns - empty for name, ns in best.items()}


def measure_switch(repeats: int) -> float:
    """ms to switch annotations off and on again with 10,000 decorated functions."""
    import nvspan

    functions = []
    for n in range(FUNCTIONS):

        def function() -> None:
            pass

        functions.append(nvspan.annotate(f"function {n % 100}", domain="bench")(function))
    functions[0]()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        nvspan.disable()
        nvspan.enable()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def work(repeats: int) -> None:
    """Measures in this process and prints JSON."""
    import nvspan

    result = {"loops": measure_loops(SUBJECTS, repeats), "switch ms": measure_switch(repeats)}
    with nvspan.check():
        checked = {name: SUBJECTS[name] for name in ("empty", "annotate")}
        result["checked"] = measure_loops(checked, repeats)
    print(json.dumps({"version": list(sys.version_info[:2]), **result}))


def main() -> int:
    """Runs the workers and prints one table."""
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
    missed = 0
    heads = ["CPython", "state", *list(SUBJECTS)[1:], "annotate, checked", "off and on"]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    with tempfile.TemporaryDirectory() as folder:
        tool = null_tool.build(Path(folder))
        for python in options.python:
            for state in ("no tool", "a tool"):
                environment = {k: v for k, v in os.environ.items() if "INJECTION" not in k}
                if state == "a tool":
                    environment["NVTX_INJECTION64_PATH"] = str(tool)
                command = [python, __file__, "--work", "--repeats", str(options.repeats)]
                output = subprocess.check_output(command, env=environment, text=True)
                measured = json.loads(output)
                ns, checked = measured["loops"], measured["checked"]["annotate"]
                missed += measured["switch ms"] > 10 or checked > 1000
                cells = [f"{ns[name]:.0f} ns" for name in list(SUBJECTS)[1:]]
                version = ".".join(map(str, measured["version"]))
                row = [version, state, *cells, f"{checked:.0f} ns"]
                print("| " + " | ".join([*row, f"{measured['switch ms']:.1f} ms"]) + " |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
