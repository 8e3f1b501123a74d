# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `nvspan ranks` costs for a job of many ranks: 10,000 with 1,000 collectives each.

    python benchmarks/bench_rank_job.py [--ranks 10000] [--steps 1000] [--per-host 8] [--folder DIR]

Writes the recording of each rank: a step has two ranges of work and an all-reduce of all ranks.
Each host's clock is off by seconds and drifts by up to 100 ppm; one rank is slow in one range, in
most steps. Reports seconds by the clock and of the processor, the memory, whether the right rank
was named, and how far clocks may be off.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from nvspan._reader import ExternalWriter
from nvspan.ranks.cause import collectives
from nvspan.ranks.cause.job import Ranks
from nvspan.ranks.cause.verdict import judge

FIELDS = ("group", "seq", "size", "rank", "bytes", "async", "peer")
LAYOUT = np.dtype([(name, "<i8") for name in FIELDS])
INT64 = 17  # of NVTX's payload entries
WORK = (("forward", 5_000_000), ("backward", 8_000_000))  # ns


class Host:
    """Its clock: an offset of seconds and a drift."""

    def __init__(self, number: int, random: np.random.Generator) -> None:
        self.name = f"host{number}"
        self.offset = 0 if number == 0 else int(random.integers(-5_000_000_000, 5_000_000_000))
        self.drift = 0.0 if number == 0 else float(random.uniform(-100e-6, 100e-6))

    def shows(self, at: np.ndarray) -> np.ndarray:
        return at + 10**13 + self.offset + (self.drift * at).astype(np.int64)


def times(
    ranks: int, steps: int, slow: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """By rank and step: how long the work takes; and when each step begins, by step."""
    work = np.empty((len(WORK), ranks, steps), np.int64)
    for at, (_, ns) in enumerate(WORK):
        work[at] = (ns * (1 + 0.01 * random.standard_normal((ranks, steps)))).astype(np.int64)
    # Not always, as the clocks are told from who else comes last.
    work[0, slow] += 3_000_000 * (random.random(steps) < 0.8)
    longest = work.sum(axis=0).max(axis=0) + 200_000
    return work, np.concatenate([[0], np.cumsum(longest)[:-1]]) + 1_000_000_000


def write(
    path: Path, rank: int, ranks: int, host: Host, work: np.ndarray, begins: np.ndarray,
    ends: np.ndarray,
) -> None:  # fmt: skip
    with ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(100 + rank, host=host.name, boot_id=host.name, rank=rank)
        thread = writer.thread(process, 1, "main")
        torch, talk = writer.domain(process, "torch"), writer.domain(process, "torch.distributed")
        names = memoryview(writer.strings([*(name for name, _ in WORK), "step", "all_reduce"]))
        at = begins
        for name, lasts in zip(names, work, strict=False):
            writer.ranges(thread, torch, host.shows(at), host.shows(at + lasts), name=name)
            at = at + lasts
        writer.ranges(thread, torch, host.shows(begins), host.shows(ends), name=names[-2],
                      payload=np.arange(len(begins), dtype=np.int64))  # fmt: skip
        schema = writer.schema(
            talk, "collective", LAYOUT.itemsize,
            [(field, INT64, 0, 0, 8 * i) for i, field in enumerate(FIELDS)],
        )  # fmt: skip
        fields = np.zeros(len(begins), LAYOUT)
        fields["group"], fields["size"], fields["rank"] = 5, ranks, rank
        fields["seq"], fields["bytes"], fields["peer"] = np.arange(len(begins)), 4096, -1
        writer.ranges(thread, talk, host.shows(at), host.shows(ends), name=names[-1],
                      schema=schema, payload=fields)  # fmt: skip


def written(folder: Path, options: argparse.Namespace) -> tuple[list[str], int]:
    """The files of the ranks, and which rank is slow."""
    random = np.random.default_rng(1)
    slow = options.ranks * 2 // 3
    work, begins = times(options.ranks, options.steps, slow, random)
    last = begins + work.sum(axis=0).max(axis=0)
    hosts = [Host(i, random) for i in range(-(-options.ranks // options.per_host))]
    paths = []
    for rank in range(options.ranks):
        path = folder / f"run-{rank}.nvspan"
        ends = last + 10_000 + random.exponential(20_000, options.steps).astype(np.int64)
        write(path, rank, options.ranks, hosts[rank // options.per_host], work[:, rank], begins,
              ends)  # fmt: skip
        paths.append(str(path))
    return paths, slow


class Clock:
    """Prints what a part of the work took."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def part(self, name: str) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:<40} {wall - self.wall:7.2f} s  {cpu - self.cpu:7.2f} s of the processor  "
              f"{memory:7.0f} MB", flush=True)  # fmt: skip
        self.wall, self.cpu = wall, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--ranks", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="for the recordings (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-", dir=options.folder) as folder:
        clock = Clock()
        paths, slow = written(Path(folder), options)
        size = sum(os.path.getsize(path) for path in paths) / 1e6
        clock.part(f"writing {size:,.0f} MB, without nvspan ranks")
        begin = time.perf_counter()
        job, files = collectives.read_job(paths)
        clock.part("reading")
        job.analyse([])
        clock.part("matching, clocks, who waited for whom")
        found = Ranks(job, files)
        clock.part("delays, costs, critical path")
        found.verdict = judge(found)
        clock.part("the verdict")
        print(f"{'all but writing':<40} {time.perf_counter() - begin:7.2f} s")
    sure = [rank.uncertainty for rank in found.ranks if rank.uncertainty is not None]
    print(f"{found.clocks:,} clocks, of which {len(found.ranks) - len(sure)} ranks' are not known; "
          f"known to +- {np.median(sure) / 1000 if sure else 0:.1f} us in the median")  # fmt: skip
    print(f"{found.counts}")
    print(f"rank {slow} is slow; the verdict: {found.verdict.text}")
    return int((found.verdict.rank, found.verdict.range) != (slow, WORK[0][0]))


if __name__ == "__main__":
    raise SystemExit(main())
