# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range statistics for experiment trackers: plain numbers, since the last reading."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

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
_UNUSUAL = re.compile(r"[^\w\-. /]")  # not allowed in the names of MLflow's metrics


class Scalars:
    """Mean and 99th percentile of the durations of ranges, and their number, between readings.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process.
        match: patterns of the ranges that are wanted, each of a name or "domain:name"; None: all.
        prefix: of every name.

    Raises:
        TypeError: a target is neither a process id nor a path, or `match` is one text.

    A reading takes some ms in mode "stats". One thread at a time may use it.

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
        self._before: dict[tuple[str, int, _Key], tuple[float, Counter[int]]] = {}

    @property
    def problems(self) -> list[str]:
        """Why targets and files could not be read at the last reading."""
        return self._watch.problems

    def read(self) -> dict[str, float]:
        """``PREFIX[DOMAIN/]NAME[/gpu]/mean_ms``, ``.../p99_ms`` and ``.../calls`` of ranges that
        have ended since the last call, in all processes together.

        "_" replaces what names of MLflow's metrics may not have.
        """
        sums: defaultdict[str, float] = defaultdict(float)
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for figures in self._watch.read():
            for key, tally in figures.tally.ranges.items():
                label, whose = self._label(*key), (figures.path, figures.pid, key)
                before, known = self._before.get(whose, (0.0, Counter()))
                sums[label] += tally.sum - before
                counts[label].update(tally.counts)
                counts[label].subtract(known)
                self._before[whose] = (tally.sum, tally.counts.copy())
        found = {}
        for label, new in counts.items():
            calls = sum(new.values())
            if calls > 0:
                found[f"{label}/mean_ms"] = sums[label] / calls / 1e6
                found[f"{label}/p99_ms"] = duration(percentile_of_counts(new, 0.99)) / 1e6
                found[f"{label}/calls"] = float(calls)
        return found

    def _label(self, domain: str | None, name: str | None, kind: str) -> str:
        lead = "" if domain is None else f"{text(domain)}/"
        return self._prefix + _UNUSUAL.sub("_", f"{lead}{text(name)}{_KINDS[kind]}")
