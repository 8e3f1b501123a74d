# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `auto(device=True)` costs under Nsight Systems, and whether `backward` is the GPU's.

    NVSPAN_NSYS=PREFIX python benchmarks/gpu/bench_auto.py [--turns 16] [--steps 6]

Trains transformers on a GPU under nsys (PREFIX/bin/nsys), bare and under `auto` in turns within one
process. The truth about a backward pass is in the same report: the first start and the last end of
the work that was launched, by any thread, while the CPU was in it. Prints Markdown tables; the exit
code is 1 when a target was missed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODELS = {  # width, layers, batch, length
    "1024 wide, 12 layers, 16 x 1024 tokens": (1024, 12, 16, 1024),
    "256 wide, 4 layers, 16 x 512 tokens": (256, 4, 16, 512),
}
WORK = ("KERNEL", "MEMCPY", "MEMSET")

Passes = list[tuple[int, int]]


def profile(tool: str, folder: str, arguments: list[str]) -> tuple[dict[str, Any], str, str]:
    report, database, result = (f"{folder}/{name}" for name in ("r.nsys-rep", "r.sqlite", "r.json"))
    command = [
        tool, "profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true",
        "-o", report, sys.executable, str(HERE / "auto_worker.py"), result, *arguments,
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    export = [tool, "export", "-t", "sqlite", "-f", "true", "-o", database, report]
    subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
    return json.loads(Path(result).read_text()), database, report


def passes(database: str) -> tuple[Passes, Passes, Passes]:
    """Of each backward pass the range of the CPU, that of the GPU, and the span of its work."""
    query = sqlite3.connect(database).execute
    ranges = query("""
        select start, end, eventType from NVTX_EVENTS left join StringIds on id = textId
        where coalesce(text, value) = 'backward' order by start""").fetchall()
    pushed = query("""
        select distinct globalTid from NVTX_EVENTS left join StringIds on id = textId
        where coalesce(text, value) = 'step'""").fetchall()
    print(f"<!-- {len(ranges)} rows named backward, {len(pushed)} threads with steps -->")
    own = query("""
        select start, end from NVTX_EVENTS left join StringIds on id = textId
        where coalesce(text, value) = 'backward' and globalTid = ? order by start""",
        pushed[0]).fetchall()  # fmt: skip
    device = sorted({(a, b) for a, b, _ in ranges} - set(own))
    spans = []
    for begin, end in own:
        found = [
            query(f"""
                select min(work.start), max(work.end) from CUPTI_ACTIVITY_KIND_{kind} as work
                join CUPTI_ACTIVITY_KIND_RUNTIME as call using (correlationId)
                where call.start between ? and ?""", (begin, end)).fetchone()
            for kind in WORK
        ]  # fmt: skip
        known = [each for each in found if each[0] is not None]
        spans.append((min(a for a, _ in known), max(b for _, b in known)))
    return own, device, spans


def projected(tool: str, report: str) -> list[float]:
    """The ms that nsys's own projection shows for each `backward`."""
    command = [tool, "stats", "-r", "nvtx_gpu_proj_trace", "-f", "csv", "-q", report]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"nsys stats failed: {done.stdout[-500:]} {done.stderr[-500:]}")
        return []
    text = done.stdout
    lines = text[text.index("Name,") :]
    return [
        int(row["Projected Duration (ns)"]) / 1e6
        for row in csv.DictReader(io.StringIO(lines))
        if row["Name"].split(":")[-1] == "backward"
    ]


def milliseconds(spans: Passes) -> list[float]:
    return [(end - begin) / 1e6 for begin, end in spans]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6, help="of each turn")
    parser.add_argument("--keep", help="a folder for the reports")
    options = parser.parse_args()
    tool = str(Path(os.environ["NVSPAN_NSYS"]) / "bin" / "nsys")
    met = True
    for name, sizes in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            where = options.keep or folder
            result, database, report = profile(
                tool, where, [str(each) for each in (options.turns, options.steps, *sizes)]
            )
            bare, auto = (statistics.median(result["times"][each]) for each in ("bare", "auto"))
            print(f"\n## {name}\n\nstep: {bare:.0f} us under nsys, {auto:.0f} with auto, "
                  f"{100 * (auto / bare - 1):+.2f} % (target: 1)")  # fmt: skip
            print({kind: [round(each) for each in times] for kind, times in result["times"].items()})
            print({k: v for k, v in result["device"].items() if v})
            cpu, device, truth = passes(database)
            if len(cpu) != len(device):
                print(f"{len(cpu)} passes of the CPU, {len(device)} of the GPU")
                met = False
                continue
            triples = zip(milliseconds(cpu), milliseconds(device), milliseconds(truth), strict=True)
            print("\n| ms | CPU | GPU, by nvspan | GPU, by CUPTI | off by, % | starts, ends off, us |")
            print("|---" * 6 + "|")
            off = []
            for i, (one, ours, right) in enumerate(triples):
                off.append(100 * (ours / right - 1))
                apart = [(device[i][j] - truth[i][j]) / 1e3 for j in (0, 1)]
                if i < 5 or abs(off[-1]) > 2:
                    print(f"| {i} | {one:.3f} | {ours:.3f} | {right:.3f} | {off[-1]:+.2f} "
                          f"| {apart[0]:+.1f}, {apart[1]:+.1f} |")  # fmt: skip
            ordered = sorted(off)
            print(f"\n{len(off)} passes: off by {ordered[0]:+.2f} to {ordered[-1]:+.2f} %, median "
                  f"{statistics.median(off):+.2f} (target: 2)")  # fmt: skip
            shown = projected(tool, report)
            print(f"nsys's projection of the same: {len(shown)} ranges, "
                  f"{[round(each, 3) for each in shown[:10]]} ms")  # fmt: skip
            met = met and auto <= 1.01 * bare and max(map(abs, off)) <= 2
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
