# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The collectives of a job's ranks side by side: who came last, and how long the others waited."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan._reader import RankJob

#: Whose ranges are collectives.
DOMAINS = ("torch.distributed", "NCCL", "gloo", "MPI")
#: Of these, those whose ranges show when the CPU asked for a collective, not when it ran.
ENQUEUED = ("NCCL",)


def columns(found: dict[str, Any]) -> dict[str, list[int]]:
    """The columns of a table of the core's as lists."""
    return {name: memoryview(column).tolist() for name, column in found.items()}


class Files:
    """What was read of a job's files."""

    def __init__(self) -> None:
        #: Files that could not be read, or hold neither collectives nor steps, and why.
        self.problems: list[str] = []
        self.files = 0


def read_job(
    paths: Iterable[str | os.PathLike[str]],
    *,
    domains: Sequence[str] = DOMAINS,
    step: str = "step",
) -> tuple[RankJob, Files]:
    """Reads the collectives of each file and what its rank did between them, one file at a time."""
    from nvspan import _reader

    job = _reader.RankJob()
    found = Files()
    for path in paths:
        name = os.fspath(path)
        reader = _reader.Reader([os.fsencode(name)])
        if reader.unreadable():
            found.problems += reader.problems()
            continue
        found.files += 1
        if not job.add(reader.handle(), list(domains), list(ENQUEUED), step):
            found.problems.append(f"{name}: no collectives and no steps")
    return job, found
