# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What reading a recording costs: ``nvspan stats``, ``export`` and ``report`` on many ranges.

    python benchmarks/bench_report.py [--ranges 1000000,10000000] [--json FILE]

A C++ loop (record_loop.cpp: 16 registered names, two threads) makes the recordings. Each command
runs in a process of its own, three times, the best is kept: the wall time holds the start of the
interpreter, the memory is the most that was resident. Where NVSPAN_NSYS names an installation of
Nsight Systems, it records the same loop as well, a million ranges, and ``nsys stats`` is timed
beside ours, the export to SQLite that it needs apart. The exit code is 1 if a target was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from nvspan import launch

HERE = Path(__file__).parent
MILLION = 1_000_000
REPEATS = 3


def nvtx_include() -> Path:
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for found in Path(folder).glob("*/include/nvtx3"):
            return found.parent
    raise SystemExit("no NVTX headers: pip install nvidia-nvtx")


def build(folder: Path) -> Path:
    program = folder / "record_loop"
    compiler = os.environ.get("CXX") or shutil.which("g++") or "clang++"
    subprocess.run([compiler, "-O2", "-std=c++17", "-isystem", nvtx_include(), "-pthread",
                    HERE / "record_loop.cpp", "-o", program, "-ldl"], check=True)  # fmt: skip
    return program


def record(program: Path, ranges: int, folder: Path) -> Path:
    path = folder / f"{ranges}.nvspan"
    environment = {**os.environ, launch.INJECTION_VARIABLE: launch.injection_library(),
                   "NVSPAN_RECORD": str(path)}  # fmt: skip
    subprocess.run([program, "registered", str(ranges // 2), "2"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return path


def run(*arguments: object) -> tuple[float, float]:
    """The seconds and the MB of an nvspan command."""
    best: tuple[float, float] | None = None
    for _ in range(REPEATS):
        begin = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "nvspan", *map(str, arguments)],
                                   stdout=subprocess.DEVNULL)  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"nvspan {arguments[0]} failed")
        took = (time.perf_counter() - begin, usage.ru_maxrss / 1024)
        best = took if best is None else min(best, took)
    assert best is not None
    return best


def timed(command: list[object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        best = min(best, time.perf_counter() - begin)
    return best


def nsys_stats(program: Path, ranges: int, folder: Path) -> dict[str, float]:
    """Seconds of `nsys stats -r nvtx_sum` on so many ranges, and of the export before it."""
    tool = Path(os.environ["NVSPAN_NSYS"]) / "bin" / "nsys"
    report, database = folder / "nsys.nsys-rep", folder / "nsys.sqlite"
    under = [tool, "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true", "-o",
             report, program, "registered", ranges // 2, "2"]  # fmt: skip
    subprocess.run(list(map(str, under)), check=True, capture_output=True)
    export = timed([tool, "export", "-t", "sqlite", "-f", "true", "-o", database, report], 1)
    return {"export": export, "stats": timed([tool, "stats", "-r", "nvtx_sum", database], REPEATS)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranges", default="1000000,10000000")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    missed = []
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as made:
        folder = Path(made)
        program = build(folder)
        print("| ranges | recording, MB | command | seconds | MB resident | output, MB |")
        print("|---|---|---|---|---|---|")
        for ranges in map(int, options.ranges.split(",")):
            path = record(program, ranges, folder)
            size = path.stat().st_size / 1e6
            cases: dict[str, tuple[object, ...]] = {
                "stats": ("stats", path),
                "stats --tree": ("stats", path, "--tree"),
                "stats --compat nsys": ("stats", path, "--compat", "nsys"),
                "export --format perfetto": ("export", path, "-o", folder / "o.pftrace"),
                "report": ("report", path, "-o", folder / "o.html"),
            }
            if ranges <= MILLION:
                cases["export --format csv"] = ("export", path, "--format", "csv", "-o",
                                                folder / "o.csv")  # fmt: skip
                cases["export --format sqlite"] = ("export", path, "--format", "sqlite", "-o",
                                                   folder / "o.sqlite")  # fmt: skip
            for name, arguments in cases.items():
                seconds, memory = run(*arguments)
                written = sum(file.stat().st_size for file in folder.glob("o.*")) / 1e6
                for file in folder.glob("o.*"):
                    file.unlink()
                figures[f"{name} {ranges}"] = {
                    "seconds": seconds, "memory": memory, "written": written,
                }  # fmt: skip
                shown = f"{written:.1f}" if written else ""
                print(f"| {ranges:,} | {size:.0f} | `{name}` | {seconds:.2f} | {memory:.0f} "
                      f"| {shown} |", flush=True)  # fmt: skip
            path.unlink()
        if os.environ.get("NVSPAN_NSYS"):
            nsys = figures[f"nsys {MILLION}"] = nsys_stats(program, MILLION, folder)
            print(f"\n`nsys stats -r nvtx_sum`, {MILLION:,} ranges: {nsys['stats']:.2f} s, "
                  f"after an export of {nsys['export']:.2f} s.")  # fmt: skip
            for name, figure in figures.items():
                if name.startswith("stats ") and "nsys" not in name and "-" not in name:
                    ratio = nsys["stats"] / MILLION / (figure["seconds"] / int(name.split()[-1]))
                    figure["nsys_ratio"] = ratio
                    print(f"`{name}` takes {ratio:.1f} times less per range.", flush=True)
    targets = [
        (f"stats {10 * MILLION}", "seconds", 3), (f"stats {10 * MILLION}", "memory", 600),
        (f"export --format perfetto {10 * MILLION}", "seconds", 15),
        (f"report {MILLION}", "written", 5),
        (f"export --format csv {MILLION}", "seconds", 2),
        (f"export --format sqlite {MILLION}", "seconds", 2),
    ]  # fmt: skip
    for case, key, most in targets:
        if case in figures and figures[case][key] > most:
            missed.append(f"{case}: {key} {figures[case][key]:.2f}, more than {most}")
    most_ranges = f"stats {10 * MILLION}"
    if figures.get(most_ranges, {}).get("nsys_ratio", 20.0) < 20:
        missed.append(f"{most_ranges}: less than 20 times below nsys stats")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))
    print("\n".join(missed), file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
