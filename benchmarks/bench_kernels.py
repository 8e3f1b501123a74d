# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that `nvspan record --cuda` takes: the same as nsys takes? And what do they cost a step?

    python benchmarks/bench_kernels.py [--nsys NSYS] [--runs 3] [--blocks 30] [--steps 10]
        [--batch 2 16]

Needs a GPU and torch. `--nsys` is a path of Nsight Systems' command; without it there is no list to
compare with. The costs are of processes that live at the same time and train in turns, a block of
steps each, in an order that rotates: `off` records ranges alone, and each other's block is compared
with the one of `off` in the same round. Prints Markdown tables; the exit code is 1 where the lists
differ. All processes run on the same processors, four by default. `CUPTI alone` has CUPTI record
kernels and throws them away: benchmarks/gpu/cupti_alone.cpp, compiled with g++.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import nvspan

HERE = Path(__file__).resolve().parent
WORKER = str(HERE / "gpu" / "kernels_worker.py")
RECORD = [sys.executable, "-m", "nvspan", "record", "--no-report", "--force", "--lines", "off"]
NSYS = ["profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true"]
ALONE = "CUPTI alone"
TABLES = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
Durations = dict[str, list[int]]  # ns, by name in the order of their beginnings


def demangled(name: str) -> str:
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    return name if not text else ctypes.string_at(text).decode()


def of_nsys(report: str, nsys: str) -> Durations:
    database = report.replace(".nsys-rep", ".sqlite")
    command = [nsys, "export", "-t", "sqlite", "-f", "true", "-o", database, report]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    query = sqlite3.connect(database).execute
    have = {name for (name,) in query("select name from sqlite_master")}
    found: list[tuple[int, int, str]] = []
    kernels = "select start, end, value from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = {}"
    columns = {row[1] for row in query("pragma table_info(CUPTI_ACTIVITY_KIND_KERNEL)")}
    name = "mangledName" if "mangledName" in columns else "demangledName"
    found += query(kernels.format(name)).fetchall()
    for table in TABLES[1:]:
        if f"CUPTI_ACTIVITY_KIND_{table}" in have:
            rows = query(f"select start, end from CUPTI_ACTIVITY_KIND_{table}")
            found += [(start, end, table) for start, end in rows]
    return by_name((start, end, demangled(text)) for start, end, text in found)


def of_nvspan(path: str) -> tuple[Durations, int, dict[str, int]]:
    """The work; how much of it began before its call; what was lost."""
    recording = nvspan.read(path)
    rows = list(recording.ranges.rows())
    kinds = {"copy": "MEMCPY", "set": "MEMSET", "graph": "GRAPH_TRACE"}
    work = [row for row in rows if row["domain"] == "CUDA"]
    begun = {row["payload"]: row["start"] for row in rows if row["domain"] == "CUDA API"}
    losses = {row["reason"]: row["count"] for row in recording.losses.rows()}
    early = losses.get("GPU work before its launch", 0)
    assert begun
    named = (
        (row["start"], row["end"], kinds.get(row["category_name"], row["name"])) for row in work
    )
    return by_name(named), early, losses


def by_name(work: Iterable[tuple[int, int, str]]) -> Durations:
    found: Durations = collections.defaultdict(list)
    for start, end, name in sorted(work):
        found[name].append(end - start)
    return found


def without_own(found: Durations) -> Durations:
    return {name: times for name, times in found.items() if not name.startswith("nvspan_")}


def compare(nsys: str, runs: int, folder: str) -> bool:
    """In alternating runs of one program. False: the lists differ."""
    ours: list[Durations] = []
    theirs: list[Durations] = []
    early = 0
    lost: collections.Counter[str] = collections.Counter()
    for run in range(runs):
        path, report = f"{folder}/{run}.nvspan", f"{folder}/{run}.nsys-rep"
        program = [sys.executable, WORKER, "list"]
        record = [*RECORD, "--cuda", "kernels", "-o", path, WORKER, "list"]
        subprocess.run(record, check=True)
        subprocess.run([nsys, *NSYS, "-o", report, *program], check=True, stdout=subprocess.DEVNULL)
        found, before, losses = of_nvspan(path)
        ours.append(without_own(found))
        theirs.append(without_own(of_nsys(report, nsys)))
        early += before
        lost.update(losses)
    counts = [{name: len(times) for name, times in found.items()} for found in ours + theirs]
    same = all(each == counts[0] for each in counts)
    print(
        f"{runs} runs each: {sum(counts[0].values()):,} pieces of work of {len(counts[0])} names; "
        f"the lists are {'the same' if same else 'DIFFERENT'}; "
        f"{early} began before their call; lost: {dict(lost) or 'nothing'}\n"
    )
    if not same:
        names = sorted({name for each in counts for name in each})
        for name in names:
            row = [each.get(name, 0) for each in counts]
            if len(set(row)) > 1:
                print(f"    {row} {name[:150]}")
    shifts = []
    for name in counts[0]:
        own = [statistics.median(found[name]) for found in ours if name in found]
        other = [statistics.median(found[name]) for found in theirs if name in found]
        if other:
            shifts.append(
                (statistics.median(own) - statistics.median(other), statistics.median(other), name)
            )
    print("| median duration of a name | nvspan - nsys |\n|---|---|")
    ordered = sorted(abs(shift) for shift, _, _ in shifts)
    print(f"| half of the {len(ordered)} names within | {ordered[len(ordered) // 2]:.0f} ns |")
    print(f"| all within | {ordered[-1]:.0f} ns |")
    worst = max(shifts, key=lambda each: abs(each[0]))
    print(f"| the farthest: {worst[2][:60]} of {worst[1] / 1000:.1f} us | {worst[0]:.0f} ns |")
    own_sum, other_sum = (
        statistics.median(sum(map(sum, found.values())) for found in side)
        for side in (ours, theirs)
    )
    print(f"| sum of all | {100 * (own_sum / other_sum - 1):+.2f} % |\n")
    return same and early == 0


class Worker:
    """A process that trains when it is told to."""

    def __init__(self, command: Sequence[str], env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})},
        )  # fmt: skip

    def wait(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        raise RuntimeError(f"{self.process.args} ended")

    def steps(self, count: int) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def workers(
    batch: int, nsys: str | None, left_out: Sequence[str], folder: str
) -> dict[str, Worker]:
    program = [WORKER, "steps", str(batch)]

    def recorded(cuda: str, name: str) -> list[str]:
        return [*RECORD, "--cuda", cuda, "-o", f"{folder}/{name}-{batch}.nvspan", *program]

    commands = {cuda: recorded(cuda, cuda) for cuda in ("off", "kernels", "api")}
    commands[ALONE] = recorded("off", "alone")
    if nsys:
        report = f"{folder}/steps-{batch}.nsys-rep"
        commands["nsys"] = [nsys, *NSYS, "-o", report, sys.executable, *program]
    commands["torch.profiler"] = [sys.executable, WORKER, "profiled", str(batch)]
    library = f"{folder}/cupti_alone.so"
    flags = ["-std=c++17", "-O2", "-shared", "-fPIC", f"-I{HERE.parent / 'src'}"]
    source = str(HERE / "gpu" / "cupti_alone.cpp")
    subprocess.run(["g++", *flags, source, "-o", library, "-ldl"], check=True)
    made = {
        name: Worker(command, {"CUPTI_ALONE": library} if name == ALONE else None)
        for name, command in commands.items()
        if name not in left_out
    }
    for worker in made.values():
        worker.wait()
    return made


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and its 95 % interval, by Student's t."""
    mean, error = statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))
    t = 1.96 + 2.4 / (len(values) - 1)
    return mean, mean - t * error, mean + t * error


def cost(
    batch: int, nsys: str | None, blocks: int, steps: int, left_out: Sequence[str], folder: str
) -> None:
    made = workers(batch, nsys, left_out, folder)
    times: dict[str, list[float]] = {name: [] for name in made}
    names = list(made)
    for block in range(-2, blocks):
        first = block % len(names)
        for name in names[first:] + names[:first]:
            took = made[name].steps(steps) / steps
            if block >= 0:
                times[name].append(took)
    for worker in made.values():
        worker.end()
    usual = statistics.median(times["off"]) / 1e6
    print(
        f"batch {batch}: a step takes {usual:.2f} ms; {blocks} blocks of {steps} steps\n\n"
        "| recorded | a step longer by | 95 % interval | median |\n"
        "|---|---|---|---|"
    )
    pairs = [(name, "off") for name in times if name != "off"]
    pairs += [("kernels", ALONE)] * (ALONE in times and "kernels" in times)
    for name, base in pairs:
        more = [100 * (a / b - 1) for a, b in zip(times[name], times[base], strict=True)]
        mean, low, high = interval(more)
        shown = name if base == "off" else f"{name}, than {base}"
        middle = statistics.median(more)
        print(f"| {shown} | {mean:+.2f} % | {low:+.2f} to {high:+.2f} % | {middle:+.2f} % |")
    print(flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nsys", help="the command of Nsight Systems")
    parser.add_argument("--runs", type=int, default=3, help="of each tool, of the list of work")
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--steps", type=int, default=10, help="of a block")
    parser.add_argument("--processors", type=int, default=4, help="that all processes share")
    parser.add_argument("--batch", type=int, nargs="*", default=[2, 16])
    parser.add_argument("--without", nargs="*", default=[], help="names of rows that are left out")
    options: Any = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.processors :])
    same = True
    with tempfile.TemporaryDirectory() as folder:
        if options.nsys and options.runs:
            same = compare(options.nsys, options.runs, folder)
        for batch in options.batch:
            cost(batch, options.nsys, options.blocks, options.steps, options.without, folder)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
