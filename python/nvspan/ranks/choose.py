# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses ranks of a job: the slowest, or those that are given by number."""

from __future__ import annotations

_WORDS = "slowest:K or a rank"
_REMOVED = ("medoid", "outliers")


def choose(which: str, times: dict[int, float]) -> list[int]:
    """The ranks that `which` names, each once, in its order; `times`: how long each rank took."""
    if not times:
        raise ValueError("no file says which rank it is of")
    chosen: list[int] = []
    for word in filter(None, (word.strip() for word in which.split(","))):
        chosen += _of_word(word, times)
    if not chosen:
        raise ValueError(f"ranks must be {_WORDS}, not {which!r}")
    return list(dict.fromkeys(chosen))


def _of_word(word: str, times: dict[int, float]) -> list[int]:
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
