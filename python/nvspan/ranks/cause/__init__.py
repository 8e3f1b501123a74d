# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which rank of a job made the others wait, in which range, and what that costs.

It must never scan a file in Python. Start with `analysis`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nvspan.ranks.cause.job import Ranks

__all__ = ["analyze_ranks"]


def analyze_ranks(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    executor: object = None,
    *,
    step: str | None = None,
    domains: Sequence[str] = (),
    priors: Mapping[str, tuple[int, int]] | str | os.PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Ranks:
    """Says which rank of a job made the others wait, in which range, and what that costs.

    The files are read by workers, each into what its rank did between collectives, in any order and
    with the same result. A file that cannot be read is named in `Ranks.problems`, and the rest goes
    on. Threads and processes may call it at once.

    Args:
        files: the recordings of a job, one or more for each rank: paths, patterns, folders, URLs,
            as for `read_many`.
        executor: as for `read_many`: None or "threads", "processes", any executor of
            `concurrent.futures`, or a client of `dask.distributed`.
        step: the ranges that are steps, as for `Recording.steps`. None: they are chosen in each
            file as there, and where files differ, those of most count.
        domains: further domains whose ranges are collectives, by their names.
        priors: for hosts whose clock is known otherwise, the least and the largest ns to add to its
            times to get those of the first file's host; or a file of clocks.
        progress: called with the part of the files that is read, from 0 to 1.

    Raises:
        ValueError: no file is like a pattern, or none has collectives or steps.
        TypeError: `executor` cannot run anything.
        OSError: the file of clocks cannot be read.

    >>> found = nvspan.analyze_ranks("run/*.nvspan")                     # doctest: +SKIP
    >>> found.verdict.rank, found.verdict.range                          # doctest: +SKIP
    (1, 'dataloader.next')
    """
    from os import PathLike

    from nvspan.ranks.cause.analysis import ranks
    from nvspan.ranks.traced import DOMAINS

    paths = [files] if isinstance(files, (str, PathLike)) else files
    return ranks(*paths, step=step, domains=(*DOMAINS, *domains), priors=priors, executor=executor,
                 progress=progress)  # fmt: skip
