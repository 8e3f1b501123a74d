# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results about processes that run and about jobs of many processes. Times are ns."""

from __future__ import annotations

from nvspan._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer


class Rank(Result):
    """One rank of a job."""

    rank: int  #: its number, or the file's place among the files where none is recorded
    host: str  #: its host's name
    path: str  #: its file
    waited: int  #: time that it waited for others, until the last had come
    late: int  #: by how much it was later than the median of the others, where it was the last
    was_last: int  #: in how many collectives it was the last
    collectives: int  #: how many of its collectives are matched with other ranks'
    uncertainty: int | None  #: by how much its clock may be off; None: not known
    contradictions: int  #: collectives that contradict its clock
    gpu: bool  #: whether its collectives and its work are those of the GPU
    bytes: int  #: what it handed to its collectives
    overlap: float | None  #: the part of its collectives' time in which it did not wait; None: none
    roots: dict[str, int]  #: delay by range, the largest first


class JobCounts(Result):
    """What of a job was matched, and what was not."""

    alone: int  #: collectives of which one rank alone has a range
    absent: int  #: ranks of the largest group that no file is of
    uncertain: int  #: collectives whose last rank is not known, as clocks are not
    clocks: int  #: how many clocks there are
    contradictions: int  #: collectives that contradict a clock


class CriticalPath(Result):
    """The chain of work and collectives that a job's end hangs on."""

    columns: dict[str, Buffer]  #: `rank`, `name` and `ns` of the work
    collectives: int  #: time between last arrivals and ends
    duration: int  #: of all of it


class Standings(Result):
    """By how much the ranks of a job take longer than the others in their usual step."""

    mean: list[float]  #: of each rank
    error: list[float]  #: its standard error
    chance: list[float]  #: at most: that one of ranks that are alike stands out as much
    stands: list[bool]  #: whether it does
    block: int  #: steps that are taken together, as neighbours are alike
    blocks: int  #: how many such blocks there are; 0: too few steps
    needed: float  #: standard errors above zero from which on a rank stands out
    half: float  #: standard errors on each side that hold the mean with 95 % probability


JOB_RESULTS = (
    CriticalPath,
    JobCounts,
    Rank,
    Standings,
)
