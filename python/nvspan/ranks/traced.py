# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the search for a cause needs of a few files, made in a worker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nvspan import _reader
from nvspan.ranks.opening import opened, reason
from nvspan.recording.loop import read_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

#: Whose ranges are collectives.
DOMAINS = ("torch.distributed", "NCCL", "gloo", "MPI")
#: Of these, those whose ranges show when the CPU asked for a collective, not when it ran.
ENQUEUED = ("NCCL",)


class FileTime(NamedTuple):
    """Of which process a file is, and when it was recorded, in ns since 1970."""

    path: str
    rank: int | None
    world_size: int | None
    pid: int
    boot_id: str
    begin: int
    end: int


@dataclass
class TracedFile:
    """A file that was read.

    Attributes:
        path: where it is.
        traces: of its ranks, as bytes; empty: it has no collectives and no steps.
        step: the pattern that takes its steps; empty: it has none, or ranges that take turns.
        times: of which process it is, and when it was recorded.
        problems: what is damaged in it: sentences.
    """

    path: str
    traces: bytes
    step: str
    times: list[FileTime]
    problems: list[str]


@dataclass
class Traced:
    """What some files come to.

    Attributes:
        files: those that could be read.
        unread: which could not be read, and why.
    """

    files: list[TracedFile] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)


def trace(
    files: Sequence[str], domains: Sequence[str] = DOMAINS, step: str | None = None
) -> Traced:
    """Reads one file after the other: at most one of them is in memory.

    Args:
        files: the paths.
        domains: whose ranges are collectives.
        step: a pattern of the ranges that are steps; None: each file's are chosen.
    """
    found = Traced()
    for path in files:
        try:
            with opened(path) as (recording, problems):
                names, steps, chosen = _steps(recording, step)
                handle = recording._reader.handle()
                traces = _reader.rank_traces(
                    handle, list(domains), list(ENQUEUED), names, steps, os.fsencode(path)
                )
                times = [
                    FileTime(
                        path,
                        one.rank,
                        one.world_size,
                        one.pid,
                        one.boot_id,
                        one.start + one.unix_offset,
                        one.end + one.unix_offset,
                    )
                    for one in recording.processes
                ]
                del handle
                del recording
        except (OSError, ValueError, ImportError) as error:
            found.unread.append((path, reason(error, path)))
            continue
        found.files.append(TracedFile(path, traces, chosen, times, problems))
    return found


def _steps(
    recording: Recording, step: str | None
) -> tuple[set[tuple[int, int]], list[tuple[int, int, int]], str]:
    """The names of steps; thread, start and end of each; the pattern that takes them."""
    try:
        loop = read_loop(recording, step)
    except ValueError:  # no range is called so, or it has statistics alone
        return set(), [], ""
    choice = loop.choice
    if choice is None or choice.overlapping:
        return set(), [], ""
    columns = (memoryview(each) for each in (loop.steps.thread, loop.steps.start, loop.steps.end))
    names = set() if choice.members else loop.pairs_in(loop.step_groups)
    return names, list(zip(*columns, strict=True)), choice.pattern
