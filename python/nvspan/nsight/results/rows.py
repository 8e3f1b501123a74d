# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of tables of ncu's results. Times are ns, other figures without a unit percent."""

from __future__ import annotations

from nvspan._result import Result, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Metric = float | str | None


class FigureRow(Row):
    """A row of ranges or kernels, in which further metrics are keys as well."""

    metrics: dict[str, Metric]  #: those asked for, by ncu's names

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The fields that every row has."""
        return tuple(name for name in cls._types if name != "metrics")

    def __getitem__(self, key: str) -> object:
        return self.metrics[key] if key in self.metrics else super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        yield from self.columns()
        yield from self.metrics

    def __len__(self) -> int:
        return len(self.columns()) + len(self.metrics)

    def as_dict(self) -> dict[str, object]:
        """The fields and the metrics by name."""
        return dict(self)


class RangeRow(FigureRow):
    """A range, with all that was profiled in it. Shares are weighted by time; None: not known."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: kernels in no range
    kind: str | None  #: "push_pop" or "start_end"
    results: int  #: kernels, graphs, or calls that were replayed as one
    processes: int  #: in how many processes
    time: float | None  #: of all results
    mean: float | None  #: of one result
    sm: float | None  #: of what the SMs can do
    memory: float | None  #: of what the memory can do
    occupancy: float | None  #: active warps, of those possible
    stalls: str | None  #: what the warps waited for most
    limiter: str | None  #: what limits it, in words


class KernelRow(FigureRow):
    """One result: a kernel, a graph, or a range that was replayed as one."""

    report: str  #: the file
    number: int  #: the place in the file, from 0
    process: int | None  #: the process id
    range: str | None  #: the innermost range around it, with its domain
    kernel: str  #: its name
    workload: str  #: "kernel", "range" or "graph"
    device: int | None  #: the number of the device
    stream: int | None  #: the number of the stream
    grid: str  #: as "8x16x1"
    block: str  #: as "64x1x1"
    time: float | None
    sm: float | None  #: of what the SMs can do
    memory: float | None  #: of what the memory can do
    occupancy: float | None  #: active warps, of those possible
    stalls: str | None  #: what the warps waited for most
    limiter: str | None  #: what limits it, in words


class DetailRow(Row):
    """A metric or a rule on the page "details" of a result."""

    report: str  #: the file
    number: int  #: the place in the file, from 0
    range: str | None  #: the innermost range around it, with its domain
    kernel: str  #: its name
    section: Metric  #: the section's name; of a rule, its identifier
    metric: Metric  #: None: a rule
    value: Metric
    unit: Metric
    rule: Metric  #: None: a metric
    message: Metric  #: what the rule says
    speedup: Metric  #: the percentage that following it may give


class ComparedRow(Result):
    """A range in two sets of results."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: kernels in no range
    kind: str | None  #: "push_pop" or "start_end"
    change: float | None  #: of the mean time of a result, as a part of one
    before: RangeRow | None  #: None: it was not profiled
    after: RangeRow | None

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The keys of `as_dict`."""
        sides = (f"{key}_{side}" for side in ("before", "after") for key in _COMPARED)
        return ("domain", "name", "kind", "change", *sides)

    def as_dict(self) -> dict[str, object]:
        """The fields by name, those of both sides as ``time_before``, ``time_after``, ..."""
        sides = [
            getattr(side, key, None) for side in (self.before, self.after) for key in _COMPARED
        ]
        values = (self.domain, self.name, self.kind, self.change, *sides)
        return dict(zip(self.columns(), values, strict=True))


_COMPARED = ("results", "time", "mean", "sm", "memory", "occupancy", "limiter")
