# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvspan.writer`` costs, beside ``nvtx.writer``, and what it costs to import a trace.

    python benchmarks/bench_writer.py [--ranges 2000000] [--import-mb 500] [--json FILE]

Both writers pass the same batches and the same single ranges to one library with NVTX's writer
interface (tests/programs/nvtxw_backend.cpp, told to do nothing with them), in turns, five times;
the best of each is kept. Then nvspan alone writes a recording from columns, and imports a made-up
Kineto trace. The exit code is 1 if a recording takes fewer than 20 million ranges a second.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_report import nvtx_include

import nvspan

REPEATS = 5
TARGET = 20e6  # ranges a second into a recording
BACKEND = Path(__file__).parents[1] / "tests" / "programs" / "nvtxw_backend.cpp"


def build(folder: Path) -> Path:
    library = folder / "libbackend.so"
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, "-O2", "-std=c++17", "-shared", "-fPIC", "-isystem", nvtx_include(),
                    BACKEND, "-o", library], check=True)  # fmt: skip
    return library


def rows_of(package: Any, count: int) -> Any:
    begin = package.numpy_dtype("i8", entry_kind=package.EntryKind.RANGE_BEGIN)
    end = package.numpy_dtype("i8", entry_kind=package.EntryKind.RANGE_END)
    handle = package.PayloadEntryType.REGISTERED_STRING
    message = package.numpy_dtype(np.uintp, entry_kind=package.EntryKind.MESSAGE, entry_type=handle)
    rows = np.zeros(count, np.dtype([("begin", begin), ("end", end), ("message", message)]))
    rows["begin"] = np.arange(count) * 100
    rows["end"] = rows["begin"] + 80
    return rows


def into_library(package: Any, library: Path, count: int) -> dict[str, float]:
    """Ranges in batches, and one by one with a registered message."""
    writer = importlib.import_module(f"{package.__name__}.writer")
    backend = writer.load_backend(library)
    rows = rows_of(package, count)
    singles = 20_000
    with (
        writer.Session("run", backend=backend, config="silent=1") as session,
        session.create_stream("stream", domain="bench") as stream,
    ):
        domain = session.get_domain("bench")
        text = domain.get_registered_string("range")
        rows["message"] = text.handle
        schema = domain.get_schema(rows.dtype, kind=package.EventKind.RANGE_PUSHPOP)
        batches = 200
        begun = time.perf_counter()
        for _ in range(batches):
            stream.write_event_batch(schema, rows)
        batched = (time.perf_counter() - begun) / batches
        begun = time.perf_counter()
        for i in range(singles):
            stream.write_pushpop(i, i + 1, message=text)
        single = time.perf_counter() - begun
    return {
        "a batch, us": batched * 1e6,
        "ranges a second in batches": count / batched,
        "a single range, us": single / singles * 1e6,
    }


def into_recording(count: int, path: Path, names: int, memory: int = 2_000_000_000) -> float:
    """Ranges a second, from columns to the closed file."""
    starts = np.arange(count) * 100
    ends = starts + 80
    session = nvspan_writer().Session("run", output=path, memory=memory)
    session.begin()
    domain = session.get_domain("bench")
    handles = [domain.get_registered_string(f"range {i}").handle for i in range(names)]
    messages = np.array(handles)[np.arange(count) % names]
    stream = session.create_stream("stream", domain=domain)
    stream.open()
    begun = time.perf_counter()
    stream.write_ranges(starts, ends, message=messages)
    session.end()
    return count / (time.perf_counter() - begun)


def nvspan_writer() -> Any:
    return importlib.import_module("nvspan.writer")


def kineto(path: Path, megabytes: int) -> int:
    """A trace of operators, launches and kernels, about that long; how many ranges it has."""
    step = """{{"ph": "X", "cat": "cpu_op", "name": "aten::op{0}", "pid": 7, "tid": 7,
 "ts": {1}.250, "dur": 12.125,
 "args": {{"External id": {2}, "Input Dims": [[64, 128], [128, 256]]}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": {1}.750,
 "dur": 5.001, "args": {{"External id": {2}, "cbid": 211, "correlation": {2}}}}},
{{"ph": "X", "cat": "kernel", "name": "void gemm<{0}>(float*)", "pid": 0, "tid": 7, "ts": {1}.900,
 "dur": 2.5, "args": {{"device": 0, "stream": 7, "correlation": {2}, "grid": [1, 2, 3]}}}},
"""
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [\n')
        while file.tell() < megabytes * 1e6:
            file.writelines(step.format(i % 300, i * 20, i) for i in range(count, count + 1000))
            count += 1000
        file.write(
            '{"ph": "M", "name": "process_name", "ts": 0, "pid": 7, "args": {"name": "x"}}]}'
        )
    return 3 * count


def imported(path: Path, output: Path) -> tuple[float, float]:
    """Seconds, and the most MB that were resident."""
    code = "import sys; from nvspan.imports import import_file; import_file(*sys.argv[1:])"
    command = [sys.executable, "-c", code, str(path), str(output)]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranges", type=int, default=2_000_000)
    parser.add_argument("--import-mb", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    packages = [nvspan]
    try:
        packages.append(importlib.import_module("nvtx"))
        importlib.import_module("nvtx.writer")
    except ImportError:
        print("nvtx.writer is not installed: nvspan alone")
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="nvspan-writer-") as folder:
        library = build(Path(folder))
        for _ in range(REPEATS):
            for package in packages:
                for case, value in into_library(package, library, options.ranges).items():
                    key = f"{package.__name__}: {case}"
                    best = max if "second" in case else min
                    figures[key] = best(value, figures.get(key, value))
        output = Path(folder) / "out.nvspan"
        for names in (1, 1000):
            best = max(into_recording(options.ranges, output, names) for _ in range(REPEATS))
            figures[f"recording of {names} names, ranges a second"] = best
        spilled = 10 * options.ranges
        best = max(into_recording(spilled, output, 1000, spilled * 4) for _ in range(REPEATS))
        figures["recording of 10 times as many, by a file, ranges a second"] = best
        ranges = kineto(Path(folder) / "trace.json", options.import_mb)
        seconds, megabytes = imported(Path(folder) / "trace.json", output)
        figures["import, MB a second"] = options.import_mb / seconds
        figures["import, ranges"] = ranges
        figures["import, MB resident at most"] = megabytes
    for key, value in figures.items():
        print(f"{key:55} {value:15,.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    worst = min(value for key, value in figures.items() if key.startswith("recording"))
    return int(worst < TARGET)


if __name__ == "__main__":
    sys.exit(main())
