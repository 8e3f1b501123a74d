# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Times one case in one state, in a process of its own: python worker.py CASE STATE MS REPEATS.

The subjects take turns, so that what else the machine does falls on all of them alike. One turn
is a loop of about MS milliseconds; each turn also times the empty loop, which is subtracted. The
clock is the thread's CPU time, which stands still while another process has the core.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib
import json
import os
import statistics
import sys
from collections.abc import Callable
from time import thread_time_ns

from cases import CASES, Case, Measured

Loop = Callable[[int], int]

TEMPLATE = """
def loop(count, clock=clock):
    start = clock()
    for i in range(count):
        {statement}
    return clock() - start
"""


def compile_loop(setup: str, statement: str) -> Loop:
    """A function that runs `statement` a number of times and returns the ns it took."""
    namespace: dict[str, object] = {"clock": thread_time_ns}
    exec(setup, namespace)
    exec(TEMPLATE.format(statement=statement), namespace)
    loop = namespace["loop"]
    assert callable(loop)
    return loop


def loops_of(case: Case, measured: Measured) -> dict[str, Loop]:
    """The loop of every subject that this interpreter can import."""
    loops: dict[str, Loop] = {"empty": compile_loop("", "pass")}
    if case.null_statement:
        loops["nullcontext"] = compile_loop(case.null_setup, case.null_statement)
    if case.bare_statement:
        loops["bare"] = compile_loop(case.bare_setup, case.bare_statement)
    for module in ("nvtx", "nvspan"):
        try:
            importlib.import_module(module)
        except ImportError as error:
            measured.missing[module] = str(error)
            continue
        loops[module] = compile_loop(case.setup.format(module=module), case.statement)
    return loops


def come_and_go(loops: dict[str, Loop]) -> None:
    """Attaches the null tool to nvspan while its loop is warm, runs it so, and detaches it."""
    if "nvspan" not in loops:
        return
    from nvspan import _core

    loops["nvspan"](2000)
    _core.attach(os.environ["BENCH_NULL_INJECTION"], "")
    loops["nvspan"](2000)
    _core.detach()


def measure(case: Case, state: str, turn_ms: float, repeats: int) -> Measured:
    """Medians over `repeats` interleaved turns of every subject."""
    measured = Measured(case.name, state)
    if state == "asyncio":
        import asyncio  # noqa: F401
    loops = loops_of(case, measured)
    if state == "gone":
        come_and_go(loops)
        loops.pop("nvtx", None)
    counts = {}
    for name, loop in loops.items():
        loop(2000)
        each = max(loop(5000) / 5000, 5.0)
        counts[name] = max(1000, int(turn_ms * 1e6 / each))
    gc.collect()
    gc.disable()
    samples: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(repeats):
        for name, loop in loops.items():
            samples[name].append(loop(counts[name]) / counts[name])
    gc.enable()
    measured.empty = empty = statistics.median(samples.pop("empty"))
    for name, values in samples.items():
        measured.ns[name] = statistics.median(values) - empty
        low, _, high = statistics.quantiles(values, n=4)
        measured.spread[name] = high - low
    return measured


def main() -> None:
    """Prints the measurement as one line of JSON."""
    name, state, turn_ms, repeats = sys.argv[1:5]
    case = next(case for case in CASES if case.name == name)
    measured = measure(case, state, float(turn_ms), int(repeats))
    print(json.dumps(dataclasses.asdict(measured)))


if __name__ == "__main__":
    main()
