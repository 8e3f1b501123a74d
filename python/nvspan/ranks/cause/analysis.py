# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the recordings of a job's ranks and judges them, for `nvspan.analyze_ranks`."""

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
    from nvspan._reader import RankJob


def ranks(
    *paths: str | os.PathLike[str],
    step: str | None = None,
    domains: Sequence[str] = DOMAINS,
    priors: Mapping[str, tuple[int, int]] | str | os.PathLike[str] | None = None,
    executor: object = None,
    progress: Callable[[float], object] | None = None,
) -> Ranks:
    """As `nvspan.analyze_ranks`, but `domains` are all those whose ranges are collectives.

    What has a payload with ``group`` and ``seq``, or NCCL's, is matched by that; what has none by
    its name and order.
    """
    if not paths:
        raise ValueError("ranks takes the paths of one recording or more, there are none")
    # In the order of the ranks that the files are of, which any order of theirs comes to.
    names = sorted(expand(paths), key=lambda path: (len(path), path))
    job, files = collectives.read_job(
        names, executor, domains=domains, step=step, progress=progress
    )
    if not job.rank_count():
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
