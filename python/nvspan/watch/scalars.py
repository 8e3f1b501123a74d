# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ranges took since the last look, as the numbers that trackers of experiments plot."""

from __future__ import annotations

import re

from nvspan.recording.statistics import percentile_of_counts
from nvspan.watch.buckets import duration
from nvspan.watch.figures import Watch
from nvspan.watch.tally import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    _Key = tuple[str | None, str | None, str]  # domain, name, kind

_KINDS = {"push_pop": "", "start_end": "", "device": "/gpu"}
_UNUSUAL = re.compile(r"[^\w\-. /]")  # what names of MLflow's metrics may not have


class Scalars:
    """Mean and 99th percentile of the durations of ranges, and how many there were, between looks.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process.
        match: patterns of the ranges that are wanted, each of a name or "domain:name"; None: all.
        prefix: of every name.

    Raises:
        TypeError: a target is neither a process id nor a path, or `match` is one text.

    A look reads the recording: some ms in mode "stats". One thread at a time may use it.

    >>> scalars = nvspan.watch.Scalars(match=["step", "load"])           # doctest: +SKIP
    >>> wandb.log(scalars.read(), step=number)                           # doctest: +SKIP
    """

    __module__ = "nvspan.watch"

    def __init__(
        self,
        *targets: int | str | os.PathLike[str],
        match: Iterable[str] | None = None,
        prefix: str = "nvspan/",
    ) -> None:
        self._watch = Watch(targets, match)
        self._prefix = prefix
        self._before: dict[tuple[str, int, _Key], tuple[float, dict[int, int]]] = {}

    @property
    def problems(self) -> list[str]:
        """Why targets and files could not be read at the last look."""
        return self._watch.problems

    def read(self) -> dict[str, float]:
        """``PREFIX[DOMAIN/]NAME[/gpu]/mean_ms``, ``.../p99_ms`` and ``.../calls`` of ranges that
        have ended since the last call. Of several processes they are together.

        What names of MLflow's metrics may not have is "_" in a name.
        """
        sums: dict[str, float] = {}
        counts: dict[str, dict[int, int]] = {}
        for figures in self._watch.read():
            for key, tally in figures.tally.ranges.items():
                label = self._label(*key)
                before, known = self._before.get((figures.path, figures.pid, key), (0.0, {}))
                sums[label] = sums.get(label, 0.0) + tally.sum - before
                new = counts.setdefault(label, {})
                for bucket, count in tally.counts.items():
                    new[bucket] = new.get(bucket, 0) + count - known.get(bucket, 0)
                self._before[figures.path, figures.pid, key] = (tally.sum, dict(tally.counts))
        found = {}
        for label, new in counts.items():
            calls = sum(new.values())
            if calls > 0:
                found[f"{label}/mean_ms"] = sums[label] / calls / 1e6
                found[f"{label}/p99_ms"] = duration(percentile_of_counts(new, 0.99)) / 1e6
                found[f"{label}/calls"] = float(calls)
        return found

    def _label(self, domain: str | None, name: str | None, kind: str) -> str:
        of = "" if domain is None else f"{text(domain)}/"
        return self._prefix + _UNUSUAL.sub("_", f"{of}{text(name)}{_KINDS[kind]}")
