# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What it takes to reduce the recordings of many ranks to one summary.

    python benchmarks/bench_ranks.py [--files 1000] [--ranges 100000] [--folder DIR] [--json FILE]
    python benchmarks/bench_ranks.py --files 10000 --ranges 1000000 --executor processes

Writes a file for each rank, steps of four phases whose lengths differ, then reduces 10, 100, ...
of them, each time in a process of its own: seconds, seconds of processor time, and the most memory
that it held. Then the same bytes are asked of other executors (those that are installed: Dask's and
MPI's), of files of which 1 % are damaged, and of workers of which one is killed. --peers reads a
thousandth of the ranges with pandas. The second command, which wants 160 GB and many processors,
makes as many files as fit into --most-gb and are made within --most-seconds.
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
    cpu = sum(of.ru_utime + of.ru_stime for of in after) - before.ru_utime - before.ru_stime
    return {
        "files": len(paths), "seconds": seconds, "cpu_seconds": cpu,
        # Of the largest process.
        "megabytes": max(of.ru_maxrss for of in after) / 1024,
        "bytes": hashlib.sha256(job.to_bytes()).hexdigest(), "unread": len(job.unread),
        "calls": sum(row["calls"] for row in job.stats().rows),
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


def with_pandas(folder: Path, ranges: int) -> dict[str, Any]:
    """The percentiles of a table of so many ranges, as a program with pandas would ask for them."""
    import pandas

    path = str(folder / "one.nvspan")
    write_file(path, 0, ranges)
    table = str(folder / "one.parquet")
    from nvspan.export import tables

    tables.write_parquet(nvspan.read(path), table, lambda _: None)
    begin = time.monotonic()
    frame = pandas.read_parquet(table)
    duration = frame["end"] - frame["start"] if "duration" not in frame else frame["duration"]
    duration.groupby(frame["name"]).describe(percentiles=[0.5, 0.9, 0.99])
    took = time.monotonic() - begin
    begin = time.monotonic()
    nvspan.read_many(path)
    return {
        "ranges": len(frame),
        "pandas_seconds": took,
        "nvspan_seconds": time.monotonic() - begin,
    }


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
    parser.add_argument("--peers", action="store_true", help="read a thousandth with pandas")
    parser.add_argument("--only", action="store_true", help="no other executors, no damage")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="nvspan-ranks-", dir=options.folder))
    results: dict[str, Any] = {}
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
            others = {"processes": []}
            if importlib.util.find_spec("distributed"):
                others["dask"] = []
            beside = f"{os.environ.get('PATH', '')}:{Path(sys.executable).parent}"
            mpi = shutil.which("mpiexec", path=beside)
            if importlib.util.find_spec("mpi4py") and mpi:
                others["mpi"] = [mpi, "-n", "3"]
            for name, prefix in others.items():
                found = results[name] = alone(paths, name, prefix)
                found["right"] = found["bytes"] == wanted
            results["damaged"] = with_damage(folder, paths)
            results["killed"] = with_a_killed_worker(paths, wanted)
            for name in (*others, "damaged", "killed"):
                right &= results[name]["right"]
                print(f"{name}: {results[name]['seconds']:.2f} s, right: {results[name]['right']}")
        if options.peers:
            results["peers"] = with_pandas(folder, results["written"]["ranges"] // 1000)
            print(results["peers"])
    finally:
        shutil.rmtree(folder)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
