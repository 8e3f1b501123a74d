# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Live state of running, stopped or dead processes, read from their recordings. Never interrupts a
process.

Start with `model.py`, the processes; `samples.py` reads them and owns their state, `judge.py` finds
the one that blocks the others, `snapshot.py` is the result and its text, `job_table.py` its table.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from nvspan.live.snapshot import Snapshot


def where(
    *targets: int | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    interval: float = 0.2,
    samples: int = 2,
    waits: Iterable[str] = (),
) -> Snapshot:
    """Sample the open ranges of processes and find the one that blocks the others.

    The processes need nvspan's recorder, in any mode: ``NVSPAN_RECORD=armed`` costs least. They may
    run, hold the GIL, be stopped, or be dead: then it is their last state. They are not
    interrupted.

    Args:
        targets: process ids; recordings; folders of them; patterns.
        interval: seconds between two samples. What moved in that time is not stuck.
        samples: how many samples; 1 does not show what moved.
        waits: names of ranges and spans, or of domains with a colon at the end, in which a process
            waits for others. Collectives of torch, NCCL, gloo and MPI are known.

    Raises:
        ValueError: no target, one that stands for no recording, or `interval` below 0, or `samples`
            below 1.
        ProcessLookupError: no process has this id, or it is recorded by nobody.

    It takes no lock and no GIL but the caller's, and may be called from any thread.

    >>> import nvspan
    >>> look = nvspan.where("run/*.nvspan")                              # doctest: +SKIP
    >>> print(look)                                                      # doctest: +SKIP
    >>> look.verdict.ranks                                               # doctest: +SKIP
    [3]
    """
    if not interval >= 0:
        raise ValueError(f"interval must be 0 or more seconds, not {interval!r}")
    if samples < 1:
        raise ValueError(f"samples must be 1 or more, not {samples!r}")
    import time

    from nvspan.live.judge import Waits
    from nvspan.live.process import paths_of
    from nvspan.live.samples import Samples

    found = Samples(paths_of(targets))
    if samples > 1:
        found.start()
        time.sleep(interval * (samples - 1))
    return found.snapshot(Waits(waits))
