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
    # Waits for the CPU, so that its ranges begin and end while the GPU idles: has no target.
    "256 wide, 4 layers, 16 x 512 tokens": (256, 4, 16, 512),
}
WORK = ("KERNEL", "MEMCPY", "MEMSET")
OTHERS = """
    and shortName not in (select id from StringIds where value like 'nvspan\\_%' escape '\\')
"""  # nvspan's thread compares the clocks meanwhile

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
        select coalesce(text, value) as name, globalTid, start, end from NVTX_EVENTS
        left join StringIds on id = textId where name in ('step', 'backward') order by start
    """).fetchall()
    threads = {thread for name, thread, *_ in ranges if name == "step"}
    own: Passes = []
    device: Passes = []
    for name, thread, begin, end in ranges:
        if name == "backward":
            (own if thread in threads else device).append((begin, end))
    spans = []
    for begin, end in own:
        found = [
            query(f"""
                select min(work.start), max(work.end) from CUPTI_ACTIVITY_KIND_{kind} as work
                join CUPTI_ACTIVITY_KIND_RUNTIME as call using (correlationId)
                where call.start between ? and ? {OTHERS if kind == "KERNEL" else ""}""",
                (begin, end)).fetchone()
            for kind in WORK
        ]  # fmt: skip
        known = [each for each in found if each[0] is not None]
        spans.append((min(a for a, _ in known), max(b for _, b in known)))
    return own, device, spans


def projected(tool: str, report: str) -> list[float]:
    """The ms that nsys's own projection shows for each `backward`."""
    command = [tool, "stats", "-r", "nvtx_gpu_proj_trace", "-f", "csv", "-q", "--force-export=true"]
    command.append(report)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"nsys stats failed: {done.stdout[-500:]} {done.stderr[-500:]}")
        return []
    text = done.stdout
    lines = text[text.index("Name,") :]
    return [
        int(row["Projected Duration (ns)"]) / 1e6
        for row in csv.DictReader(io.StringIO(lines))
        if row["Name"].split(":")[-1] == "backward" and row["Style"] == "PushPop"
    ]


def spread(values: list[float]) -> str:
    return f"{min(values):+.2f} / {statistics.median(values):+.2f} / {max(values):+.2f}"


def milliseconds(spans: Passes) -> list[float]:
    return [(end - begin) / 1e6 for begin, end in spans]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6, help="of each turn")
    options = parser.parse_args()
    tool = str(Path(os.environ["NVSPAN_NSYS"]) / "bin" / "nsys")
    met = True
    for name, sizes in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            result, database, report = profile(
                tool, folder, [str(each) for each in (options.turns, options.steps, *sizes)]
            )
            bare, auto = (statistics.median(result["times"][each]) for each in ("bare", "auto"))
            print(f"\n## {name}\n\nstep: {bare:.0f} us under nsys, {auto:.0f} with auto, "
                  f"{100 * (auto / bare - 1):+.2f} % (target: 1)")  # fmt: skip
            for kind, times in result["times"].items():
                print(f"{kind}, each turn: {' '.join(f'{each:.0f}' for each in times)}")
            print({k: v for k, v in result["device"].items() if v})
            cpu, device, truth = passes(database)
            if len(cpu) != len(device):
                print(f"{len(cpu)} passes of the CPU, {len(device)} of the GPU")
                met = False
                continue
            lengths = [milliseconds(each) for each in (cpu, device, truth)]
            medians = [statistics.median(each) for each in lengths]
            off = [100 * (ours / right - 1) for ours, right in zip(*lengths[1:], strict=True)]
            apart = [
                [(ours[i] - right[i]) / 1e3 for ours, right in zip(device, truth, strict=True)]
                for i in (0, 1)
            ]
            shown = projected(tool, report)
            print("\n| backward, ms | CPU | GPU, by CUPTI | GPU, by nvspan | projected by nsys |")
            print("|---" * 5 + "|")
            cells = (medians[0], medians[2], medians[1], statistics.median(shown or [0]))
            print(
                "| ".join([f"| median of {len(off)} ", *(f"{each:.3f} " for each in cells)]) + "|"
            )
            print(f"\noff by {spread(off)} % (least / median / most; target: 2); starts by "
                  f"{spread(apart[0])} us, ends by {spread(apart[1])} us")  # fmt: skip
            if name == next(iter(MODELS)):
                met = met and auto <= 1.01 * bare and max(map(abs, off)) <= 2
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
