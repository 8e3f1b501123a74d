# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reading reports of Nsight Systems, and projecting them onto the GPU, beside ``nsys stats``.

    NVSPAN_NSYS=/opt/nsys python benchmarks/bench_nsys_reports.py [--table FILE.sqlite]
        [--projection N ...] [--repeats K] [--no-nsys]

`--table` is the SQLite file of a real report. Those of `--projection` have the tables of a real one
(tests/data) and N ranges, N kernels and N calls: steps of 3 layers of 3 operations, 13 ranges and
13 kernels each, on two threads and three streams. nvspan's cache is off: each run reads anew.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "nsight"
PID = 1 << 48 | 4242 << 24
SLOT, STEP = 5_000, 80_000  # ns of a kernel's place, and of a step


def tid(thread: int) -> int:
    return PID | 4242 + thread


def steps(count: int) -> Iterator[tuple[int, int]]:
    """The threads of the steps and their begins."""
    for at in range(count // 13):
        yield at % 2, 1_000_000 + at // 2 * STEP


def ranges(count: int) -> Iterator[tuple[int, ...]]:
    for thread, begin in steps(count):
        yield begin, begin + STEP - 1_000, 59, tid(thread), 1, 1
        for layer in range(3):
            at = begin + 1_000 + layer * 25_000
            yield at, at + 24_000, 59, tid(thread), 2 + layer, 1
            for op in range(3):
                start = at + 1_000 + op * SLOT
                yield start, start + SLOT - 500, 59, tid(thread), 5 + op, 0


def calls(count: int) -> Iterator[tuple[int, int, int]]:
    """Thread, begin and number of each."""
    number = 0
    for thread, begin in steps(count):
        for layer in range(3):
            at = begin + 1_000 + layer * 25_000
            for place in (*(at + 1_200 + op * SLOT for op in range(3)), at + 20_000):
                number += 1
                yield thread, place, number
        number += 1
        yield thread, begin + 78_000, number


def make(path: Path, count: int) -> None:
    """A report of `count` ranges, kernels and calls."""
    path.write_bytes(lzma.decompress((DATA / "2025.3.2-nodes.sqlite.xz").read_bytes()))
    with closing(sqlite3.connect(path)) as db:
        db.executescript("pragma journal_mode=off; pragma synchronous=off;")
        for table in ("NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMAS", "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                      "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "StringIds",
                      "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                      "TARGET_INFO_NVTX_CUDA_STREAM", "ThreadNames", "PROCESSES"):  # fmt: skip
            db.execute(f"delete from {table}")
        names = ["step", "layer 0", "layer 1", "layer 2", "norm", "attention", "mlp",
                 "cudaLaunchKernel_v7000"]  # fmt: skip
        names += [f"kernel {i}<float>(int)" for i in range(8)]
        db.executemany("insert into StringIds values (?, ?)", enumerate(names, 1))
        db.executemany(
            "insert into NVTX_EVENTS (start, eventType, text, globalTid, domainId) "
            "values (0, 75, 'app', ?, 1)", [(tid(0),)],
        )  # fmt: skip
        db.executemany(
            "insert into NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId)"
            " values (?, ?, ?, ?, ?, ?)", ranges(count),
        )  # fmt: skip
        db.executemany(
            "insert into CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid,"
            " correlationId, nameId, returnValue) values (?, ?, 0, ?, ?, 8, 0)",
            ((at, at + 900, tid(thread), number) for thread, at, number in calls(count)),
        )
        columns = [row[1] for row in db.execute("pragma table_info(CUPTI_ACTIVITY_KIND_KERNEL)")]
        given = {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                 "demangledName", "shortName"}  # fmt: skip
        free = [name if name in given else "0" for name in columns]
        db.execute("create temp table K (start, end, deviceId, contextId, streamId, correlationId,"
                   " globalPid, demangledName, shortName)")  # fmt: skip
        db.executemany(
            "insert into K values (?, ?, 0, 1, ?, ?, ?, ?, ?)",
            ((at + 3_000, at + 6_000 + number % 7 * 300, 7 + number % 3, number, PID,
              9 + number % 8, 9 + number % 8) for thread, at, number in calls(count)),
        )  # fmt: skip
        db.execute(f"insert into CUPTI_ACTIVITY_KIND_KERNEL select {','.join(free)} from K")
        db.execute("update ANALYSIS_DETAILS set duration = ?", (STEP * count,))
        db.commit()


def timed(command: list[str]) -> tuple[float, float, float]:
    """The seconds that it took, those of the processors, and the MiB that it needed at most."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        print(" ".join(command), said.decode()[-400:], file=sys.stderr)
    seconds = time.perf_counter() - before
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(title: str, lines: dict[str, list[str]], repeats: int) -> None:
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in lines}
    for _ in range(repeats):
        for name, line in lines.items():
            found[name].append(timed(line))
    cells = []
    for name, values in found.items():
        seconds = sorted(each[0] for each in values)
        processor = min(each[1] for each in values)
        cells.append(
            f"{name} {seconds[len(seconds) // 2]:.2f} s (best {seconds[0]:.2f}; of the "
            f"processors {processor:.2f}), {max(each[2] for each in values):.0f} MiB"
        )
    print(f"{title}: {'; '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", type=Path)
    parser.add_argument("--projection", type=int, nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-nsys", action="store_true")
    options = parser.parse_args()
    nsys = str(Path(os.environ.get("NVSPAN_NSYS", "/opt/nsys")) / "bin" / "nsys")
    nvspan = [sys.executable, "-m", "nvspan", "stats"]

    def pair(path: Path, report: str, *words: str) -> dict[str, list[str]]:
        lines = {"nvspan": [*nvspan, str(path), *words]}
        if not options.no_nsys:
            lines["nsys"] = [nsys, "stats", "-q", "-r", report, str(path)]
        return lines

    if options.table:
        compare(f"table of {options.table}", pair(options.table, "nvtx_sum"), options.repeats)
    for count in options.projection:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.sqlite"
            make(path, count)
            size = path.stat().st_size >> 20
            title = f"{count} ranges onto {count} kernels ({size} MiB)"
            compare(title, pair(path, "nvtx_gpu_proj_sum", "--gpu"), options.repeats)
    print(f"this program needed {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
