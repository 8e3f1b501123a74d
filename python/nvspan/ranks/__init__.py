# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of many processes: their recordings reduced to one summary by any executor.

It must never scan a file in Python. Start with `many`.
"""

from __future__ import annotations

from nvspan._lazy import lazy_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from nvspan.ranks.many import ManyRecordings
    from nvspan.ranks.modules import ManyModules
    from nvspan.ranks.steps import ManySteps

__all__ = ["ManyModules", "ManyRecordings", "ManySteps", "read_many"]


__getattr__ = lazy_attributes(
    __name__,
    ManyModules="nvspan.ranks.modules:ManyModules",
    ManyRecordings="nvspan.ranks.many:ManyRecordings",
    ManySteps="nvspan.ranks.steps:ManySteps",
)


def read_many(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    executor: object = None,
    *,
    by_rank: bool = False,
    steps: bool = False,
    step: str | None = None,
    modules: bool | str = False,
    summaries: str = "use",
    progress: Callable[[float], object] | None = None,
) -> ManyRecordings:
    """Reduces the recordings of a job to one summary, file by file.

    Memory grows with the number of names (with `by_rank`, of names and ranks; with `steps`, of
    steps), not of ranges: a worker holds one file at a time. A file that cannot be read is named in
    `ManyRecordings.unread` and the rest goes on; so is one whose worker died twice.

    Args:
        files: paths, patterns with ``*`` and ``?``, folders (their ``.nvspan`` files), or URLs of
            fsspec such as ``s3://bucket/run-*.nvspan``.
        executor: None or "threads" (the reader releases the GIL), "processes", any executor of
            `concurrent.futures`, `mpi4py.futures` among them, or a client of `dask.distributed`.
        by_rank: keep a row for each range of each rank.
        steps: find the steps of each rank as well; takes two more passes over the files.
        step: what a step is called, as for `Recording.steps`.
        modules: find what each module of a model costs as well; takes three more passes. A text is
            the domain of their ranges in place of "torch".
        summaries: "use" the summaries beside the files, "write" those that are missing or stale as
            well, or "ignore" them.
        progress: called with the part that is done, from 0 to 1.

    Raises:
        ValueError: no file is like a pattern, or none of the files can be read.
        TypeError: `executor` cannot run anything.

    >>> job = nvspan.read_many("run/*.nvspan")                           # doctest: +SKIP
    >>> job.stats().rows[0].p99                                          # doctest: +SKIP
    1204224.0
    """
    from nvspan.ranks.many import reduce
    from nvspan.ranks.mapping import Job

    wanted = Job(
        by_rank=by_rank, steps=steps or (step is not None and not modules), step=step,
        modules=("torch" if modules is True else modules) or None, summaries=summaries,
    )  # fmt: skip
    return reduce(files, executor, wanted, progress)
