# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a job's ranks, and what they say of it.

Programs call `nvspan.analyze_ranks`.

>>> from nvspan.ranks.cause.analysis import ranks
>>> found = ranks("run-0.nvspan", "run-1.nvspan")                        # doctest: +SKIP
>>> found.verdict.rank, found.verdict.range                              # doctest: +SKIP
(1, 'dataloader.next')
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from nvspan.ranks.cause import collectives, verdict
from nvspan.ranks.cause.job import Ranks
from nvspan.ranks.clocks import Clocks
from nvspan.ranks.paths import expand
from nvspan.ranks.traced import DOMAINS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan._reader import RankJob


def ranks(
    *paths: str | os.PathLike[str],
    step: str = "step",
    domains: Sequence[str] = DOMAINS,
    priors: Mapping[str, tuple[int, int]] | str | os.PathLike[str] | None = None,
    executor: Any = None,
    progress: Callable[[float], object] | None = None,
) -> Ranks:
    """Finds out which rank of a job made the others wait, in which range, and what that costs.

    Args:
        *paths: The recordings of a job, one or more for each rank: paths, patterns, folders, URLs.
        step: The name of the ranges that are steps.
        domains: Whose ranges are collectives. What has a payload with ``group`` and ``seq``, or
            NCCL's, is matched by that; what has none by its name and order.
        priors: For hosts whose clock is known otherwise, as by PTP: the least and the largest ns
            to add to its times to get those of the first file's host. Or a file of clocks.
        executor: What reads the files, see :func:`nvspan.read_many`; the result is the same.
        progress: Called with the part of the files that is read, from 0 to 1.

    Returns:
        The ranks, with a ``verdict``.

    Raises:
        ValueError: There are no paths, or no file has collectives or steps.
        TypeError: `executor` cannot run anything.
        OSError: The file of clocks cannot be read.

    Threads and processes may call it at once.
    """
    if not paths:
        raise ValueError("ranks takes the paths of one recording or more, there are none")
    # In the order of the ranks that the files are of, which any order of theirs comes to.
    names = sorted(expand(paths), key=lambda path: (len(path), path))
    job, files = collectives.read_job(
        names, executor, domains=domains, step=step, progress=progress
    )
    rows = files.files
    if rows == 0 or not job.rank_count():
        raise ValueError("; ".join(files.problems) or "the files have no collectives")
    job.analyse(_of_ranks(job, priors))
    found = Ranks(job, files)
    found.verdict = verdict.judge(found)
    return found


def _of_ranks(
    job: RankJob, priors: Mapping[str, tuple[int, int]] | str | os.PathLike[str] | None
) -> list[tuple[int, int] | list[tuple[int, int, int]] | None]:
    """What is known of the clock of each rank's host."""
    if not priors:
        return []
    hosts = job.hosts()
    if isinstance(priors, Mapping):
        return [priors.get(host) for host in hosts]
    clocks = Clocks(priors)
    boots = job.boot_ids()
    for host, boot in zip(hosts, boots, strict=True):
        if clocks.boot_ids.get(host, boot) != boot:
            raise ValueError(
                f"{os.fspath(priors)!r} was measured in another boot of host {host!r} than the "
                "recordings were made in"
            )
    found = clocks.priors(hosts[0])
    return [found.get(host) for host in hosts]
