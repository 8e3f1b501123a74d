# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The collectives of a job's ranks side by side: who came last, and how long the others waited."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from nvspan.ranks import pool, traced
from nvspan.ranks.traced import DOMAINS, FileTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from nvspan._reader import RankJob


def columns(found: Mapping[str, Buffer]) -> dict[str, list[int]]:
    """The columns of a table of the core's as lists."""
    return {name: memoryview(column).tolist() for name, column in found.items()}


def communicator_text(group: int) -> str | None:
    """The number of a communicator in hexadecimal; None: it is not known."""
    return f"{group % 2**64:x}" if group else None


class CollectiveWaits(TypedDict):
    """A collective of a communicator in a job. Times are ns."""

    name: str
    communicator: str | None
    ranks: int
    count: int
    bytes: int  # of one rank
    waited: int  # by all ranks together, until the last had come
    late: int  # the last, after the median of the others
    last: int | None  # the rank that was the last most often
    was_last: int  # how often


def by_communicator(
    job: RankJob, table: dict[str, list[int]], numbers: Sequence[int]
) -> list[CollectiveWaits]:
    """A dict for each collective of each communicator, what was waited for longest first.

    Args:
        job: an analysed job.
        table: the columns of its collectives.
        numbers: the number of each rank, by place.
    """
    found: dict[tuple[int, int], CollectiveWaits] = {}
    last: dict[tuple[int, int], Counter[int]] = {}
    for op, group, members, size, waited, delay, came_last in zip(
        *(table[name] for name in ("op", "group", "members", "bytes", "waited", "delay", "last")),
        strict=True,
    ):
        key = (op, group)
        row = found.get(key)
        if row is None:
            row = found[key] = {
                "name": job.text(op),
                "communicator": communicator_text(group),
                "ranks": 0,
                "count": 0,
                "bytes": 0,
                "waited": 0,
                "late": 0,
                "last": None,
                "was_last": 0,
            }
            last[key] = Counter()
        row["count"] += 1
        row["ranks"] = max(row["ranks"], members)
        row["bytes"] += max(0, size)
        row["waited"] += waited
        if came_last >= 0:
            row["late"] += delay
            last[key][came_last] += 1
    for key, row in found.items():
        # Of those that were the last as often as one another, the lowest.
        most = max(last[key].values(), default=0)
        row["last"] = min(
            (numbers[place] for place, times in last[key].items() if times == most), default=None
        )
        row["was_last"] = most
    return sorted(found.values(), key=lambda row: (-row["waited"], -row["count"], row["name"]))


class Files:
    """What was read of a job's files."""

    def __init__(self) -> None:
        #: Files that could not be read, or hold neither collectives nor steps, and why.
        self.problems: list[str] = []
        #: What is damaged in files that were read: path and sentence.
        self.damage: list[tuple[str, str]] = []
        #: The others: of which process each is, and when it was recorded.
        self.times: list[FileTime] = []
        #: The pattern that takes the steps; empty: none, or ranges that follow one another.
        self.step = ""


def read_job(
    paths: Sequence[str],
    executor: object = None,
    *,
    domains: Sequence[str] = DOMAINS,
    step: str | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[RankJob, Files]:
    """Reads the collectives of each file and what its rank did between them, in workers.

    The ranks are in the order of `paths`, whatever was read first. Without `step` the steps of a
    file are those that are chosen in it; files in which others are chosen than in most are read
    once more, for the steps of most.
    """
    from nvspan import _reader

    job = _reader.RankJob()
    found = Files()
    read: dict[str, traced.TracedFile] = {}
    left: dict[str, str] = {}

    def take(
        names: Sequence[str], step: str | None, told: Callable[[float], object] | None
    ) -> None:
        work = functools.partial(traced.trace, domains=tuple(domains), step=step)
        for part in pool.run_all(executor, work, names, left.__setitem__, told):
            read.update((file.path, file) for file in part.files)
            left.update(part.unread)

    take(paths, step, progress)
    counts = Counter(file.step for file in read.values() if file.step)
    found.step = min(counts, key=lambda pattern: (-counts[pattern], pattern), default="")
    if found.step:
        take([path for path in read if read[path].step != found.step], found.step, None)
    for path in paths:
        if path in left:
            found.problems.append(f"{path}: {left[path]}")
            continue
        file = read[path]
        found.damage += sorted((path, problem) for problem in file.problems)
        if file.traces:
            found.times += file.times
            job.add_traces(file.traces)
        else:
            found.problems.append(f"{path}: no collectives and no steps")
    return job, found
