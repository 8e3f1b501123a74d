# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range statistics as Prometheus metrics, through the package prometheus_client."""

from __future__ import annotations

import threading

from nvspan.watch.buckets import checked_limits, cumulative
from nvspan.watch.figures import Watch
from nvspan.watch.tally import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from typing import Any

_PROCESS = ("host", "pid", "rank")
_RANGE = (*_PROCESS, "domain", "range", "kind")
# The kind, name, help and labels of each family.
_FAMILIES = (
    ("Histogram", "range_duration_seconds", "How long ranges took that have ended.", _RANGE),
    ("Gauge", "ranges_open", "How many ranges are open now.", _RANGE[:-1]),
    ("Counter", "marks", "How many marks there were.", (*_PROCESS, "domain", "mark")),
    ("Counter", "events", "How many NVTX events there were.", _PROCESS),
    ("Counter", "lost_events", "How many events could not be recorded.", _PROCESS),
    (
        "Counter",
        "missed_ranges",
        "How many ranges a ring overwrote while they were open.",
        _PROCESS,
    ),
    (
        "Counter",
        "unseen_seconds",
        "Time whose events a ring overwrote between two scrapes.",
        _PROCESS,
    ),
    ("Gauge", "recording_info", "A recording that is read.", (*_PROCESS, "file", "mode")),
    ("Gauge", "unreadable_recordings", "Targets and files that could not be read.", ()),
)


class PrometheusCollector:
    """A collector for the registry of prometheus_client, which asks it at every scrape.

    ====================================  ====================================================
    metric                                what it is
    ====================================  ====================================================
    nvspan_range_duration_seconds         histogram: how long the ranges took that have ended
    nvspan_ranges_open                    gauge: how many are open now
    nvspan_marks_total                    counter of marks
    nvspan_events_total                   counter of NVTX events, also in mode "armed"
    nvspan_lost_events_total              counter of those that could not be recorded
    nvspan_missed_ranges_total            counter of those that a ring overwrote while open
    nvspan_unseen_seconds_total           counter of the time that a ring overwrote before a scrape
    nvspan_recording_info                 1 for each recording, with its file and mode
    nvspan_unreadable_recordings          gauge: targets and files that could not be read
    ====================================  ====================================================

    Labels are host, pid and rank ("" where there is none), and domain ("NVTX" is the default
    domain), range and kind ("push_pop", "start_end", "device") of ranges, mark of marks.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process. Files that
            come later are found.
        match: patterns with ``*`` and ``?`` of the ranges and marks that are wanted, each of a name
            or "domain:name"; None: all. Every name is a time series for each bucket.
        buckets: where the buckets end, in seconds; None: 22 of them from 10 us to 100 s. A duration
            within 0.4% of such an end may count on its other side.

    Raises:
        TypeError: a target is neither a process id nor a path, or `match` is one text.
        ValueError: `buckets` do not ascend, or are not above 0.

    A scrape reads the files on the thread of the scrape. It takes no lock that an annotation takes.
    Mode "stats" is the cheapest to read; of "full" the whole file is read each time. Threads may
    scrape at the same time.

    >>> import nvspan.watch, prometheus_client                           # doctest: +SKIP
    >>> collector = nvspan.watch.PrometheusCollector(match=["step", "request"])  # doctest: +SKIP
    >>> prometheus_client.REGISTRY.register(collector)                   # doctest: +SKIP
    """

    __module__ = "nvspan.watch"

    def __init__(
        self,
        *targets: int | str | os.PathLike[str],
        match: Iterable[str] | None = None,
        buckets: Iterable[float] | None = None,
    ) -> None:
        self._watch = Watch(targets, match)
        self._limits = checked_limits(buckets)
        self._lock = threading.Lock()

    @property
    def problems(self) -> list[str]:
        """Why targets and files could not be read at the last scrape."""
        return self._watch.problems

    def describe(self) -> list[Any]:
        """Nothing: a registry need not read recordings to know the names."""
        return []

    def collect(self) -> Iterator[Any]:
        """The metric families of prometheus_client.

        Raises:
            ModuleNotFoundError: prometheus_client is not installed.
        """
        from prometheus_client import core

        with self._lock:
            found = self._watch.read()
            problems = len(self._watch.problems)
        families = [
            getattr(core, f"{kind}MetricFamily")(f"nvspan_{name}", help, labels=labels)
            for kind, name, help, labels in _FAMILIES
        ]
        durations, opened, marks, events, lost, missed, unseen, info, unreadable = families
        unreadable.add_metric((), problems)
        ends = [*(f"{limit:g}" for limit in self._limits), "+Inf"]
        for figures in found:
            tally, rank = figures.tally, "" if figures.rank is None else str(figures.rank)
            process = (text(figures.host), str(figures.pid), rank)
            for (domain, name, kind), ranges in tally.ranges.items():
                counts = cumulative(ranges.counts, self._limits)
                labels = (*process, text(domain, "NVTX"), text(name), kind)
                durations.add_metric(labels, list(zip(ends, counts, strict=True)), ranges.sum / 1e9)
            for family, names in ((opened, figures.open), (marks, tally.marks)):
                for (domain, name), count in names.items():
                    family.add_metric((*process, text(domain, "NVTX"), text(name)), count)
            if figures.events is not None:
                events.add_metric(process, figures.events)
            lost.add_metric(process, tally.lost)
            missed.add_metric(process, tally.missed)
            unseen.add_metric(process, tally.unseen / 1e9)
            for path, mode in figures.files:
                info.add_metric((*process, text(path), mode), 1)
        yield from families
