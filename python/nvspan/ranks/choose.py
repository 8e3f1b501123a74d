# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses ranks of a job: the slowest, or those that are given by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nvspan.ranks.many import ManyRecordings

_WORDS = "slowest:K or a rank"
_REMOVED = ("medoid", "outliers")


def choose(job: ManyRecordings, which: str) -> list[int]:
    """The ranks that `which` stands for, each once, in its order. See `ManyRecordings.choose`."""
    times = _times(job)
    if not times:
        raise ValueError("no file says which rank it is of")
    chosen: list[int] = []
    for word in filter(None, (word.strip() for word in which.split(","))):
        chosen += _of_word(job, word, times)
    if not chosen:
        raise ValueError(f"ranks must be {_WORDS}, not {which!r}")
    return list(dict.fromkeys(chosen))


def _of_word(job: ManyRecordings, word: str, times: dict[int, float]) -> list[int]:
    name, _, count = word.partition(":")
    if name == "slowest" and (not count or (count.isdigit() and int(count) > 0)):
        slowest = sorted(times, key=lambda rank: (-times[rank], rank))
        return slowest[: int(count or 1)]
    if word in _REMOVED:
        raise ValueError(
            f"ranks {word!r} is not supported: give ranks by number, as 3,7, or slowest:K "
            "('nvspan steps FOLDER' lists them)"
        )
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
