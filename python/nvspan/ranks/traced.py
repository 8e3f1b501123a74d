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
class Traced:
    """What some files come to.

    Attributes:
        traces: path, and the traces of its ranks as bytes; none where it has no collectives and no
            steps.
        times: of which process each file is, and when it was recorded.
        unread: which could not be read, and why.
        problems: what is damaged in the others: path and sentence.
    """

    traces: list[tuple[str, bytes]] = field(default_factory=list)
    times: list[FileTime] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def trace(files: Sequence[str], domains: Sequence[str] = DOMAINS, step: str = "step") -> Traced:
    """Reads one file after the other: at most one of them is in memory.

    Args:
        files: the paths.
        domains: whose ranges are collectives.
        step: the name of the ranges that are steps.
    """
    found = Traced()
    for path in files:
        try:
            with opened(path) as (recording, problems):
                handle = recording._reader.handle()
                traces = _reader.rank_traces(
                    handle, list(domains), list(ENQUEUED), step, os.fsencode(path)
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
        found.traces.append((path, traces))
        found.times += times if traces else ()
        found.problems += [(path, line) for line in problems]
    return found
