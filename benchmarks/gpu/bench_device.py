# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Measures device ranges on a GPU, torch's beside ours, and prints Markdown tables.

    python benchmarks/gpu/bench_device.py [accuracy cost overlap replays drift nsys]
        [--drift SECONDS]

Needs a GPU, nvcc and torch. Every measurement is a process of its own under nvspan's recorder;
those of `nsys` are under the Nsight Systems that NVSPAN_NSYS names (PREFIX/bin/nsys), and compare
the ranges in its report with the kernels in the same report.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from nvspan import launch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))
from helpers.device import (  # type: ignore[import-not-found] # noqa: E402
    device_ranges,
    with_origins,
)

KINDS = ("small", "fill", "persist", "occ")
TITLES = ("one small block, 5 us", "8 waves of 10 us", "all registers, 100 us",
          "2,048 threads each, 100 us")  # fmt: skip


def run(truth: str, *arguments: object, record: bool = True, env: dict[str, str] | None = None
        ) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # fmt: skip
    """The worker's result, and the events of its recording."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.jsonl"
        environment = launch.child_environment(
            "jsonl", file if record else Path(os.devnull), None,
            environment={**os.environ, **(env or {})},
        )  # fmt: skip
        command = [sys.executable, str(HERE / "device_worker.py"), truth, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr}")
        events = []
        if record:
            with file.open() as lines:
                events = [json.loads(line) for line in lines]
        return json.loads(done.stdout), events


def deferred(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ranges that were sent with times of the time stamp counter."""
    return [{**each, "uncertainty": each["uncertainty_ns"]} for each in device_ranges(events)]


def classic(events: list[dict[str, Any]], clocks: list[list[int]]) -> list[dict[str, Any]]:
    """Start/end ranges, their times made readings of the time stamp counter."""
    (stamp_1, mono_1), (stamp_2, mono_2) = clocks
    slope = (stamp_2 - stamp_1) / (mono_2 - mono_1)
    open_ranges, found = {}, []
    for event in with_origins(events):
        if event["kind"] == "start":
            open_ranges[event["id"]] = event
        elif event["kind"] == "end":
            start = open_ranges.pop(event["id"])
            begin, end = (stamp_1 + (each["ts"] - mono_1) * slope for each in (start, event))
            found.append({"begin": begin, "end": end, "payload": start["payload"],
                          "message": start["message"], "uncertainty": 0})  # fmt: skip
    return found


def errors(result: dict[str, Any], ranges: list[dict[str, Any]], mode: str
           ) -> dict[str, list[tuple[float, float, int]]]:  # fmt: skip
    """By kind: (start error, end error) in us, and the uncertainty in ns."""
    found: dict[str, list[tuple[float, float, int]]] = {}
    by_name: dict[str, list[dict[str, Any]]] = {}
    for each in ranges:
        by_name.setdefault(each["message"], []).append(each)
    for part in result["truth"]:
        kind, repeat = part["kind"], part["repeat"]
        if mode == "graph":
            own = sorted(by_name.get(f"graph {kind}", []), key=lambda r: r["begin"])
            own = own[repeat * 100 : (repeat + 1) * 100]
        else:
            own = by_name.get(f"{kind} {repeat}", [])
        (stamp_1, global_1, _), (stamp_2, global_2, _) = part["before"], part["after"]
        slope = (stamp_2 - stamp_1) / (global_2 - global_1)
        for each in own:
            i = each["payload"]
            start, end = part["times"][2 * i], part["times"][2 * i + 1]
            truth = [stamp_1 + (at - global_1) * slope for at in (start, end)]
            found.setdefault(kind, []).append((
                (each["begin"] - truth[0]) / slope / 1e3, (each["end"] - truth[1]) / slope / 1e3,
                each["uncertainty"],
            ))  # fmt: skip
    return found


def spread(values: list[float]) -> str:
    ordered = sorted(values)
    picks = [ordered[len(ordered) * p // 100] for p in (5, 50, 95)]
    return " / ".join(f"{value:+.2f}" for value in picks)


def accuracy(truth: str) -> None:
    print("| | kernels | ranges | start p5 / p50 / p95, us | end | stated uncertainty, us |")
    print("|---|---|---|---|---|---|")
    for backend in ("exact", "callback"):
        for mode in ("eager", "graph"):
            result, events = run(truth, "accuracy", backend, mode)
            ranges = deferred(events) if backend == "exact" else classic(events, result["clock"])
            for kind, values in errors(result, ranges, mode).items():
                starts, ends, uncertain = zip(*values, strict=True)
                print(f"| {backend}, {mode} | {TITLES[KINDS.index(kind)]} | {len(values)} "
                      f"| {spread(list(starts))} | {spread(list(ends))} "
                      f"| {max(uncertain) / 1e3:.2f} |", flush=True)  # fmt: skip
            lost = {k: v for k, v in result["stats"].items() if v}
            print(f"\n{backend}, {mode}: {lost}\n", flush=True)


def cost(truth: str) -> None:
    for connections in ("8", "1"):
        result, _ = run(
            truth, "cost", record=False, env={"CUDA_DEVICE_MAX_CONNECTIONS": connections}
        )
        print(f"\nCUDA_DEVICE_MAX_CONNECTIONS={connections}; kernels, us: "
              f"{[round(value, 1) for value in result['plain']]}\n")  # fmt: skip
        print("| | CPU, us per range | GPU added, eager, us per range | GPU added, graph |")
        print("|---|---|---|---|")
        for name, cpu in result["cpu"].items():
            columns = [
                ", ".join(f"{value:.2f}" for value in result[mode].get(name, []))
                for mode in ("eager", "graph")
            ]
            print(f"| {name} | {cpu:.2f} | {columns[0]} | {columns[1]} |", flush=True)
        print({k: v for k, v in result["stats"].items() if v})


def nsys(truth: str) -> None:
    """What a report of Nsight Systems shows: device ranges against CUPTI's times of the kernels."""
    tool = str(Path(os.environ["NVSPAN_NSYS"]) / "bin" / "nsys")
    print("| | kernels | ranges | start p5 / p50 / p95, us | end |")
    print("|---|---|---|---|---|")
    for mode in ("eager", "graph"):
        with tempfile.TemporaryDirectory() as folder:
            report, database = f"{folder}/r.nsys-rep", f"{folder}/r.sqlite"
            subprocess.run([
                tool, "profile", "-t", "cuda,nvtx", "--cuda-graph-trace=node", "-s", "none",
                "--cpuctxsw=none", "-f", "true", "-o", report, sys.executable,
                str(HERE / "device_worker.py"), truth, "accuracy", "exact", mode,
            ], check=True, capture_output=True)  # fmt: skip
            subprocess.run([tool, "export", "-t", "sqlite", "-f", "true", "-o", database, report],
                           check=True, capture_output=True)  # fmt: skip
            in_report(database, mode)


def in_report(database: str, mode: str) -> None:
    query = sqlite3.connect(database).execute
    kernels = query("""
        select start, end from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = shortName
        where value in ('plain', 'registers') order by start""").fetchall()
    ranges: dict[str, list[tuple[int, int]]] = {}
    for start, end, text in query("""
            select start, end, coalesce(text, value) from NVTX_EVENTS
            left join StringIds on id = textId where eventType in (59, 60) order by start"""):
        ranges.setdefault(text, []).append((start, end))
    at = len(ranges.pop("warm", []))
    for kind in KINDS:
        names = [f"graph {kind}"] if mode == "graph" else [f"{kind} {i}" for i in range(5)]
        own = [each for name in names for each in ranges.get(name, [])]
        part = kernels[at : at + 500]
        at += 500
        title = TITLES[KINDS.index(kind)]
        if len(own) != len(part):
            print(f"| {mode} | {title} | {len(own)} for {len(part)} kernels | | |", flush=True)
            continue
        pairs = list(zip(own, part, strict=True))
        starts, ends = ([(r[i] - k[i]) / 1e3 for r, k in pairs] for i in (0, 1))
        print(f"| {mode} | {title} | {len(own)} | {spread(starts)} | {spread(ends)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["accuracy", "cost", "overlap", "replays"])
    parser.add_argument("--drift", type=int, default=240)
    parser.add_argument("--replays", type=int, default=100_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        truth = str(Path(folder) / "libtruth.so")
        subprocess.run(
            ["nvcc", "-O2", "-arch=native", "-shared", "-Xcompiler", "-fPIC",
             str(HERE / "truth.cu"), "-o", truth], check=True,
        )  # fmt: skip
        for what in chosen.what:
            print(f"\n## {what}\n", flush=True)
            if what == "accuracy":
                accuracy(truth)
            elif what == "nsys":
                nsys(truth)
            elif what == "cost":
                cost(truth)
            elif what == "overlap":
                for connections in ("8", "1"):
                    print(connections, run(truth, "overlap", record=False, env={
                        "CUDA_DEVICE_MAX_CONNECTIONS": connections})[0], flush=True)  # fmt: skip
            elif what == "replays":
                print(run(truth, "replays", chosen.replays, record=False)[0], flush=True)
            elif what == "drift":
                result, events = run(truth, "drift", chosen.drift)
                found = errors(result, deferred(events), "eager")["second"]
                middle = [sorted(v[0] for v in found[i : i + 10])[5]
                          for i in range(0, len(found), 10)]  # fmt: skip
                print("seconds", len(middle), "start error", spread(middle), "first",
                      middle[:3], "last", middle[-3:], "uncertainty us",
                      max(v[2] for v in found) / 1e3)  # fmt: skip


if __name__ == "__main__":
    main()
