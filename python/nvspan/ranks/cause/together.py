# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether files are of one run, and whether their collectives synchronise the ranks."""

from __future__ import annotations

from nvspan.recording.time_text import age, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvspan.ranks.traced import FileTime

_CLOCK_ERROR = 60_000_000_000  # ns, by which the wall clocks of two machines may differ


def find_contradiction(times: Sequence[FileTime]) -> str | None:
    """Why files cannot be of one run; None: nothing speaks against it."""
    sizes = sorted({time.world_size for time in times if time.world_size is not None})
    if len(sizes) > 1:
        return f"they are of jobs of {' and '.join(map(str, sizes))} ranks"
    by_rank: dict[int | str, list[FileTime]] = {}
    for time in times:
        by_rank.setdefault(time.path if time.rank is None else time.rank, []).append(time)
    for rank, files in by_rank.items():
        other = next((one for one in files if one.pid != files[0].pid), None)
        if other is not None:
            return f"{files[0].path} and {other.path} are of two processes of rank {rank}"
    if len(by_rank) < 2:
        return None
    first_end = min((max(files, key=_end) for files in by_rank.values()), key=_end)
    last_begin = max((min(files, key=_begin) for files in by_rank.values()), key=_begin)
    gap = last_begin.begin - first_end.end
    if gap > (0 if last_begin.boot_id == first_end.boot_id else _CLOCK_ERROR):
        return f"{last_begin.path} starts {age(gap)} after {first_end.path} ended"
    return None


def _begin(time: FileTime) -> int:
    return time.begin


def _end(time: FileTime) -> int:
    return time.end


def find_apart(apart: int, matched: int) -> str | None:
    """Why collectives do not synchronise, of which ranks leave `apart`; None: most of them do."""
    if apart <= matched:
        return None
    return (
        f"in {apart:,} of {counted(apart + matched, 'collective')} a rank leaves before another "
        "arrives, or calls another operation"
    )


def find_impossible_wait(wait: int, rank: int, lengths: Sequence[int]) -> str | None:
    """Why nobody can have waited so many ns for a rank, where the others were recorded for
    `lengths`; None: somebody can."""
    longest = max(lengths, default=0)
    if not 0 < longest < wait:
        return None
    return (
        f"a rank would have waited {age(wait)} for rank {rank}, and none of the others was "
        f"recorded for more than {age(longest)}"
    )
