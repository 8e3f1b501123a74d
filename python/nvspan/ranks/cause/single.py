# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Single collectives: when each rank came, who came last, and how long the others waited."""

from __future__ import annotations

from itertools import islice
from typing import TypedDict

from nvspan.ranks.cause.collectives import columns, communicator_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nvspan._reader import RankJob

_NOT_KNOWN = -(2**63)  # the core's
_OF_RANK = ("rank", "arrived", "left", "waited", "uncertainty")
_AT_ONCE = 1_000_000  # arrivals that are in memory at a time, or those of one collective
_SOME = 100  # collectives that are listed where nobody asks for a number of them
_SOME_ARRIVALS = 20_000  # of these together


class Arrival(TypedDict):
    """A rank in a collective. Times are ns of CLOCK_MONOTONIC of the first rank's host."""

    rank: int
    arrived: int | None  # None: not known
    left: int | None
    waited: int  # until the last had come
    uncertainty: int | None  # by how much `arrived` may be off


class SingleCollective(TypedDict):
    """A collective, as :meth:`nvspan.ranks.cause.job.Ranks.single` says. Times are ns."""

    name: str
    communicator: str | None
    number: int  # in the communicator
    step: int | None
    bytes: int | None
    compared: bool  # not where a rank is missing, or its clock contradicts the others
    enqueued: bool  # times are those at which the CPU asked for it
    last: int | None  # None: not known, or nobody waited
    waited: int  # by all together
    late: int  # the last, after the median of the others
    uncertainty: int  # of that
    ranks: list[Arrival]


def chosen(table: dict[str, list[int]], most: int | str | None) -> Sequence[int]:
    """Places in the table of a job's collectives: `most` as for `Ranks.single`.

    Raises:
        ValueError: `most` is neither a number nor "all".
    """
    waited, members = table["waited"], table["members"]
    if most == "all":
        return range(len(waited))
    if isinstance(most, str) or (most is not None and most < 0):
        raise ValueError(f"most must be a number or 'all', not {most!r}")
    order = sorted(range(len(waited)), key=lambda k: (-waited[k], k))
    if most is not None:
        return order[:most]
    some: list[int] = []
    arrivals = 0
    for k in order[:_SOME]:
        arrivals += members[k]
        if some and arrivals > _SOME_ARRIVALS:
            break
        some.append(k)
    return some


def rows(
    job: RankJob,
    table: dict[str, list[int]],
    numbers: Sequence[int],
    steps: Sequence[int],
    chosen: Sequence[int],
) -> Iterator[SingleCollective]:
    """The chosen collectives, as :meth:`nvspan.ranks.cause.job.Ranks.single` says.

    Args:
        job: an analysed job.
        table: the columns of its collectives.
        numbers: the number of each rank, by place.
        steps: the number of each step, by place.
        chosen: places in the table.
    """
    members = table["members"]
    first = 0
    while first < len(chosen):
        count = members[chosen[first]]
        behind = first + 1
        while behind < len(chosen) and count + members[chosen[behind]] <= _AT_ONCE:
            count += members[chosen[behind]]
            behind += 1
        part = chosen[first:behind]
        found = columns(job.arrivals(part))
        arrivals = zip(*(found[name] for name in _OF_RANK), strict=True)
        for k in part:
            ranks: list[Arrival] = [
                {
                    "rank": numbers[rank],
                    "arrived": _known(arrived),
                    "left": _known(left),
                    "waited": waited,
                    "uncertainty": None if arrived == _NOT_KNOWN else uncertainty,
                }
                for rank, arrived, left, waited, uncertainty in islice(arrivals, members[k])
            ]
            at = {name: column[k] for name, column in table.items()}
            group, last, step = at["group"], at["last"], steps[at["step"]]
            yield {
                "name": job.text(at["op"]),
                "communicator": communicator_text(group),
                "number": at["sequence"],
                "step": step if step >= 0 else None,
                "bytes": at["bytes"] if at["bytes"] >= 0 else None,
                "compared": at["members"] > 1 and bool(at["whole"]) and not at["differs"],
                "enqueued": bool(at["enqueued"]),
                "last": numbers[last] if last >= 0 else None,
                "waited": at["waited"],
                "late": at["delay"] if last >= 0 else 0,
                "uncertainty": at["uncertainty"],
                "ranks": ranks,
            }
        first = behind


def _known(ns: int) -> int | None:
    return None if ns == _NOT_KNOWN else ns
