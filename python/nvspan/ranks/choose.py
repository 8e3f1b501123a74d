# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which ranks are worth a look: the slowest, the most usual, those that differ, named ones."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nvspan.ranks.many import ManyRecordings

_DEVIATIONS = 5.0
_OF_NORMAL = 1.4826  # times the median distance is the standard deviation of a normal distribution
_LEAST_PART = 0.01  # of the median: what is closer is no outlier, however alike the others are
_MOST_NAMES = 50  # with the most time: a rank's place among the others
_WORDS = "slowest:K, medoid, outliers or a rank"


def choose(job: ManyRecordings, which: str) -> list[int]:
    """The ranks that `which` stands for, each once, in its order. See `ManyRecordings.choose`."""
    times = _times(job)
    if not times:
        raise ValueError("no file says which rank it is of")
    chosen: list[int] = []
    for word in filter(None, (word.strip() for word in which.split(","))):
        chosen += _of_word(job, word, times)
    if not chosen and "outliers" not in which:
        raise ValueError(f"ranks must be {_WORDS}, not {which!r}")
    return list(dict.fromkeys(chosen))


def _of_word(job: ManyRecordings, word: str, times: dict[int, float]) -> list[int]:
    name, _, count = word.partition(":")
    if name == "slowest" and (not count or (count.isdigit() and int(count) > 0)):
        slowest = sorted(times, key=lambda rank: (-times[rank], rank))
        return slowest[: int(count or 1)]
    if word == "medoid":
        return [_medoid(_places(job, times))]
    if word == "outliers":
        return _outliers(times)
    if word.isdigit():
        if int(word) not in times:
            raise ValueError(f"no file is of rank {word}; there are {min(times)} to {max(times)}")
        return [int(word)]
    raise ValueError(f"ranks must be {_WORDS}, not {word!r}")


def _times(job: ManyRecordings) -> dict[int, float]:
    """The time of each rank: of its typical step, or from its first range to its last."""
    try:
        found = {row["rank"]: row["median"] for row in job.steps().ranks}
    except ValueError:
        found = {}
        for row in job.processes:
            took = float(row["last"] - row["first"])
            found[row["rank"]] = max(found.get(row["rank"], 0.0), took)
    return {rank: time for rank, time in found.items() if rank is not None}


def _places(job: ManyRecordings, times: dict[int, float]) -> dict[int, list[float]]:
    """For each rank the time that it spent in each of the ranges with the most time."""
    try:
        rows = job.stats("rank").rows
    except ValueError:
        return {rank: [time] for rank, time in times.items()}
    names: dict[tuple[str, ...], dict[int, float]] = {}
    for row in rows:
        if row["rank"] is not None:
            key = tuple(map(str, (row["domain"], row["name"], row["kind"], row["backward"])))
            of = names.setdefault(key, {})
            of[row["rank"]] = of.get(row["rank"], 0.0) + row["self"]
    largest = sorted(names.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    kept = [of for _, of in largest[:_MOST_NAMES]]
    return {rank: [of.get(rank, 0.0) for of in kept] for rank in times}


def _medoid(places: dict[int, list[float]]) -> int:
    """The rank closest to the median of all, name by name: found in linear time."""
    width = len(next(iter(places.values())))
    middle = [median(place[column] for place in places.values()) for column in range(width)]

    def distance(rank: int) -> tuple[float, int]:
        return sum(abs(a - b) for a, b in zip(places[rank], middle, strict=True)), rank

    return min(places, key=distance)


def _outliers(times: dict[int, float]) -> list[int]:
    middle = median(times.values())
    spread = median(abs(time - middle) for time in times.values()) * _OF_NORMAL
    limit = max(_DEVIATIONS * spread, _LEAST_PART * middle)
    return sorted(rank for rank, time in times.items() if abs(time - middle) > limit)
