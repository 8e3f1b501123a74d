# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a job's ranks whose delays and clocks are given: who made whom wait is known."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np

from nvspan._reader import ExternalWriter

MS = 1_000_000
PHASES = {"dataloader.next": 2 * MS, "forward": 5 * MS, "backward": 8 * MS}
_FIELDS = ("group", "seq", "size", "rank", "bytes", "async", "peer")
_INT64 = 17
_SCHEMA = 1 << 40  # a number that is no predefined type's
_TYPES = {"<i8": 17, "<u8": 18, "<i4": 15, "<u4": 16}  # NVTX_PAYLOAD_ENTRY_TYPE_*
_DELAYED = (*_FIELDS, "delayed")  # where the rank says how long it had no core


class WrittenRank:
    """What one rank of the job did, in true time; written with the clock of its host."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.now = 1_000_000_000
        self.ranges: list[tuple[str, int, int]] = []
        self.steps: list[tuple[int, int, int]] = []
        self.collectives: list[tuple[str, int, int, tuple[int, ...]]] = []
        self.without_a_core: int | None = None  # ns so far, which its collectives say; None: no

    def work(self, name: str, ns: int) -> None:
        """The rank is in a range for so long."""
        self.ranges.append((name, self.now, self.now + ns))
        self.now += ns


def _column(values: Sequence[int]) -> array[int]:
    return array("q", values)


def meet(
    ranks: Sequence[WrittenRank], name: str, group: int, number: int, random: Random,
    sizes: Sequence[int] = (),
) -> None:  # fmt: skip
    """A collective of these ranks: each leaves it after the last has come."""
    last = max(rank.now for rank in ranks)
    for place, rank in enumerate(ranks):
        end = last + 10_000 + round(random.expovariate(1 / 20_000))
        size = sizes[place] if sizes else 4096
        fields: tuple[int, ...] = (group, number, len(ranks), place, size, 0, -1)
        if rank.without_a_core is not None:
            fields = (*fields, rank.without_a_core)
        rank.collectives.append((name, rank.now, end, fields))
        rank.now = end


def write_rank(
    path: Path, rank: WrittenRank, host: str, clock: Callable[[int], int], *, plain: bool = False
) -> Path:
    """The rank's recording. `clock` makes its host's time of the true one; `plain`: no payloads."""
    with ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(100 + rank.rank, host=host, boot_id=f"boot of {host}",
                                 rank=rank.rank)  # fmt: skip
        thread = writer.thread(process, 1, "main")
        torch = writer.domain(process, "torch")
        talk = writer.domain(process, "MPI" if plain else "torch.distributed")
        rows = [(*step[:2], "step", torch, step[2]) for step in rank.steps]
        rows += [(start, end, name, torch, None) for name, start, end in rank.ranges]
        for start, end, name, domain, number in rows:
            text = memoryview(writer.strings([name])).tolist()[0]
            writer.ranges(thread, domain, clock(start), clock(end), name=text,
                          payload=None if number is None else array("q", [number]))  # fmt: skip
        for name, start, end, fields in rank.collectives:
            text = memoryview(writer.strings([name])).tolist()[0]
            if plain:
                writer.ranges(thread, talk, clock(start), clock(end), name=text)
                continue
            names = _FIELDS if len(fields) == len(_FIELDS) else _DELAYED
            layout = np.dtype([(field, "<i8") for field in names])
            schema = writer.schema(
                talk, "collective", layout.itemsize,
                [(field, _INT64, 0, 0, 8 * i) for i, field in enumerate(names)],
            )  # fmt: skip
            writer.ranges(thread, talk, clock(start), clock(end), name=text, schema=schema,
                          payload=np.array([fields], dtype=layout))  # fmt: skip
    return path


def write_gpu_rank(path: Path, rank: WrittenRank) -> Path:
    """The same work and collectives, done by the GPU of the rank, as NCCL's plugin shows them."""
    with ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(100 + rank.rank, host="host0", boot_id="boot", rank=rank.rank)
        thread = writer.thread(process, 1, "main")
        torch, nccl = writer.domain(process, "torch"), writer.domain(process, "NCCL")
        step = memoryview(writer.strings(["step"])).tolist()[0]
        for start, end, number in rank.steps:
            writer.ranges(thread, torch, start, end, name=step, payload=array("q", [number]))
        for name, start, end in rank.ranges:
            text = memoryview(writer.strings([name])).tolist()[0]
            writer.device_ranges(process, torch, start, end, device=0, stream=7, name=text)
        asked, ran = memoryview(writer.strings(["ncclAllReduce", "AllReduce"])).tolist()
        layout = np.dtype([("device", "<i4"), ("rank", "<u4"), ("stream", "<u8"),
                           ("payload", "<i8"), ("size", "<u4"), ("thread", "<u4")])  # fmt: skip
        entries = [(name, _TYPES[of[0].str], 0, 0, of[1]) for name, of in layout.fields.items()]
        writer.known_schema(nccl, _SCHEMA, "nvspan device range", layout.itemsize, 1, entries)
        for _, start, end, (group, number, size, member, *_) in rank.collectives:
            writer.ranges(thread, nccl, start - 100_000, start - 90_000, name=asked)
            row = np.array([(0, member, group, number, size, 0)], dtype=layout).tobytes()
            words = array("Q", [_SCHEMA, len(row), len(row)]) + array("Q", row)
            writer.device_ranges(process, nccl, start, end, device=0, stream=group, name=ran,
                                 pieces=(words, array("q", [0, len(words)])))  # fmt: skip
    return path


def write_job(
    folder: Path,
    count: int = 4,
    *,
    extra: Callable[[int, int, str], int] = lambda rank, step, name: 0,
    starved: Callable[[int, int, str], int] | None = None,
    says: bool = True,
    steps: int = 40,
    hosts: int = 1,
    clock: Callable[[int, int], int] = lambda host, at: at,
    pairs: bool = False,
    plain: bool = False,
    gpu: bool = False,
    phases: Mapping[str, int] = PHASES,
    jitter: float = 0.01,
    seed: int = 0,
) -> list[Path]:
    """A job of `steps` steps, each of PHASES and an all-reduce of all ranks.

    Args:
        folder: Where the files go.
        count: How many ranks there are.
        extra: ns by which a rank is slower in a step's phase.
        starved: ns in which a rank has no core in a step's phase, which is longer for that.
        says: Whether collectives have a field for that.
        steps: How many steps there are.
        hosts: Over how many hosts the ranks are spread.
        clock: What a host's clock shows at a true time.
        pairs: Ranks 0 and 1 meet in a group of their own after the first phase.
        plain: Collectives have names alone, as MPI's.
        phases: The work of a step, in ns.
        gpu: The work and the collectives are the GPU's.
        jitter: The deviation of each phase, as a part of it.
        seed: Another job for each.
    """
    random = Random(seed)
    ranks = [WrittenRank(i) for i in range(count)]
    for rank in ranks:
        rank.without_a_core = 1000 * rank.rank if starved is not None and says else None
    for step in range(steps):
        begins = [rank.now for rank in ranks]
        for place, (name, ns) in enumerate(phases.items()):
            for rank in ranks:
                lasts = round(ns * random.gauss(1, jitter)) + extra(rank.rank, step, name)
                without = 0 if starved is None else starved(rank.rank, step, name)
                rank.work(name, lasts + without)
                if rank.without_a_core is not None:
                    rank.without_a_core += without
            if pairs and place == 0:
                meet(ranks[:2], "barrier", 7, step, random)
        meet(ranks, "MPI_Allreduce" if plain else "all_reduce", 5, step, random)
        for rank, begin in zip(ranks, begins, strict=True):
            rank.steps.append((begin, rank.now, step))
            rank.now += 5_000
    if gpu:
        return [write_gpu_rank(folder / f"run-{rank.rank}.nvspan", rank) for rank in ranks]
    return [
        write_rank(folder / f"run-{rank.rank}.nvspan", rank, f"host{rank.rank % hosts}",
                   lambda at, host=rank.rank % hosts: clock(host, at), plain=plain)
        for rank in ranks
    ]  # fmt: skip
