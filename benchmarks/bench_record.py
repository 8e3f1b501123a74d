# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the recorder costs, how large its files are, and how fast they are read.

    python benchmarks/bench_record.py [--ranges N] [--read N] [--pairs N] [--only nsys]

It compiles record_loop.cpp and prints one JSON object. Costs are ns for one event. Where
NVSPAN_NSYS names an installation of Nsight Systems, the same loop runs under it as well, in turns
with ours, and `nsys` has both costs; the target is a tenth of its cost.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import nvspan
from nvspan import launch, recorder

SOURCE = Path(__file__).parent / "record_loop.cpp"

PYTHON = """
import sys, time, nvspan
best = 1e9
for _ in range(20):
    begin = time.perf_counter_ns()
    for _ in range(20000):
        with nvspan.annotate("x"):
            pass
    best = min(best, (time.perf_counter_ns() - begin) / 20000)
print(best)
"""

READ = """
import json, resource, sys, time, nvspan
begin = time.perf_counter()
rows = nvspan.read(sys.argv[1]).stats().rows
took = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": took, "peak_MiB": peak, "calls": sum(r.calls for r in rows)}))
"""


def include() -> str:
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for found in [*Path(folder).glob("cu*/include"), *Path(folder).glob("nvtx/include")]:
            if (found / "nvtx3").is_dir():
                return str(found)
    raise SystemExit("no NVTX headers: install nvidia-nvtx")


def environment(path: Path | None) -> dict[str, str]:
    made = dict(os.environ)
    if path is not None:
        made[launch.INJECTION_VARIABLE] = launch.injection_library()
        made[launch.CONFIG_VARIABLE] = recorder.config_string(path)
    return made


def output(command: list[str], path: Path | None) -> str:
    done = subprocess.run(command, env=environment(path), capture_output=True, text=True,
                          check=True)  # fmt: skip
    return done.stdout


def beside_nsys(program: Path, path: Path, ranges: int, turns: int) -> dict[str, object]:
    """The C loop under nsys and under us, which take turns: medians, and their ratio."""
    tool = Path(os.environ["NVSPAN_NSYS"]) / "bin" / "nsys"
    folder = path.parent / "nsys"
    folder.mkdir()
    result: dict[str, object] = {"ranges": ranges, "turns": turns}
    for kind in ("registered", "ascii"):
        costs: dict[str, list[float]] = {"ours": [], "nsys": []}
        for turn in range(turns):
            loop = [str(program), kind, str(ranges), "1"]
            costs["ours"].append(float(output(loop, path)))
            path.unlink()
            report = folder / f"{kind}{turn}"
            under = [str(tool), "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f",
                     "true", "-o", str(report)]  # fmt: skip
            text = output([*under, *loop], None)
            lines = map(str.strip, text.splitlines())
            numbers = [line for line in lines if line.replace(".", "").isdigit()]
            costs["nsys"].append(float(numbers[0]))
            for left in folder.iterdir():
                left.unlink()
        ours, nsys = (statistics.median(costs[name]) for name in ("ours", "nsys"))
        best = {f"{name}_best": min(found) for name, found in costs.items()}
        result[kind] = {"ours": ours, "nsys": nsys, "ratio": nsys / ours, **best}
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranges", type=int, default=1_000_000)
    parser.add_argument("--read", type=int, default=10_000_000)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", choices=["nsys"], help="that part alone")
    options = parser.parse_args()
    result: dict[str, object] = {"load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loop"
        subprocess.run(["g++", "-O2", "-std=c++17", "-isystem", include(), str(SOURCE), "-o",
                        str(program), "-ldl", "-pthread"], check=True)  # fmt: skip
        path = Path(folder) / "run.nvspan"

        if os.environ.get("NVSPAN_NSYS"):
            result["nsys"] = beside_nsys(program, path, min(options.ranges, 200_000), 5)
        if options.only:
            print(json.dumps(result, indent=2))
            return

        def cost(kind: str, threads: int) -> float:
            text = output([str(program), kind, str(options.ranges), str(threads)], path)
            nonlocal_size[0] = path.stat().st_size
            path.unlink()
            return statistics.mean(map(float, text.split()))

        nonlocal_size = [0]
        for kind in ("registered", "ascii", "startend", "mark"):
            costs = [cost(kind, 1) for _ in range(5)]
            result[kind] = {"best": min(costs), "median": statistics.median(costs)}
            if kind == "registered":
                result["bytes_per_range"] = nonlocal_size[0] / options.ranges
        ratios = []
        for _ in range(options.pairs):
            one = cost("registered", 1)
            ratios.append(cost("registered", 2) / one)
        result["two_threads_ratio"] = statistics.median(ratios)
        without = float(output([sys.executable, "-c", PYTHON], None))
        recorded = float(output([sys.executable, "-c", PYTHON], path))
        path.unlink()
        result["annotate"] = {"no_tool": without, "recorded": recorded,
                              "ratio": recorded / without}  # fmt: skip
        for count in (options.read // 10, options.read):
            output([str(program), "registered", str(count), "1"], path)
            result[f"stats_{count}"] = json.loads(output([sys.executable, "-c", READ, str(path)],
                                                         None))  # fmt: skip
            path.unlink()
    result["version"] = nvspan.__version__
    result["self_peak_MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result["date"] = time.strftime("%Y-%m-%d")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
