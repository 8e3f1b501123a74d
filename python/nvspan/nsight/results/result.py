# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Compute as tables: a row for each range, or for each kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nvspan.nsight.lines.tools import find_tool
from nvspan.nsight.ranges.evaluate import Pattern
from nvspan.nsight.ranges.names import RangeNames, known_of
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results import csv_reader
from nvspan.nsight.results.limiter import MEMORY, OCCUPANCY, SM, TIME, first, limiter, stalls
from nvspan.nsight.results.profiled import PUSH_POP, START_END, OpenRange, Profiled
from nvspan.nsight.results.rows import KernelRow, Metric, RangeRow
from nvspan.nsight.results.tables import Table, as_html, formatted
from nvspan.recording.regular_file import check_regular

_SHOWN_STALLS = 2

Range = tuple[str | None, str | None, str | None]  # domain, name, kind
_NO_RANGE = (None, None, None)


class NcuResult:
    """What is in reports of ncu. It stays the same, and any thread may read it.

    Attributes:
        results: each kernel, range or graph that was profiled, in ncu's order.
        filters: of the ranges that the table is about; none are all ranges.

    >>> result = nvspan.nsight.read_ncu("run.ncu-rep")                   # doctest: +SKIP
    >>> for row in result.ranges():                                      # doctest: +SKIP
    ...     print(row["name"], row["time"], row["limiter"])
    """

    def __init__(self, results: Iterable[Profiled], filters: Iterable[RangeFilter] = ()) -> None:
        self.results = tuple(results)
        self.filters = tuple(filters)

    def __len__(self) -> int:
        return len(self.results)

    def ranges(self, metrics: Iterable[str] = ()) -> list[RangeRow]:
        """A row for each range: those that the filters name, else all.

        A kernel counts in every range that is around it. Kernels in no range, if all are asked
        for, have a row without a name.

        Args:
            metrics: further ones by ncu's names, each a key of the rows.

        Returns:
            Rows with the fields domain, name, kind, results, processes, time and mean (ns), sm,
            memory and occupancy (percent of what is possible, weighted by time), stalls, limiter
            and metrics (a dict). What ncu was not asked for is None.
        """
        wanted = _further(metrics, RangeRow.columns())
        results_of: dict[Range, list[Profiled]] = {}
        for result in self.results:
            found = self._ranges_of(result)
            keys: list[Range] = [(each.domain, each.name, each.kind) for each in found]
            if not (keys or self.filters):
                keys = [_NO_RANGE]
            for key in dict.fromkeys(keys):
                results_of.setdefault(key, []).append(result)
        return [_row(key, results, wanted) for key, results in results_of.items()]

    def kernels(self, metrics: Iterable[str] = ()) -> list[KernelRow]:
        """A row for each result, with `metrics` by ncu's names.

        ``range`` is the innermost range that the filters name, else the innermost of all, as
        ``domain:name``.
        """
        wanted = _further(metrics, KernelRow.columns())
        return [
            _row(_NO_RANGE, [result], wanted).into(
                KernelRow,
                report=result.report,
                number=result.number,
                process=result.process,
                range=self._innermost(result),
                kernel=result.name,
                workload=result.kind,
                device=result.device,
                stream=result.stream,
                grid="x".join(map(str, result.grid)),
                block="x".join(map(str, result.block)),
            )
            for result in self.results
        ]

    def metric_names(self) -> list[str]:
        """The names of all metrics that any result has."""
        return sorted({name for result in self.results for name in result.metrics})

    def table(self, *, kernels: bool = False, metrics: Iterable[str] = ()) -> Table:
        """The rows of `ranges` or `kernels` with their columns."""
        kind = KernelRow if kernels else RangeRow
        wanted = _further(metrics, kind.columns())
        rows = self.kernels(wanted) if kernels else self.ranges(wanted)
        return Table([*kind.columns(), *wanted], rows)

    def to_pandas(self, *, kernels: bool = False, metrics: Iterable[str] = ()) -> Any:
        """The rows as a pandas DataFrame.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        import pandas

        table = self.table(kernels=kernels, metrics=metrics)
        return pandas.DataFrame.from_records(
            list(map(dict, table.rows)), columns=list(table.columns)
        )

    def to_arrow(self, *, kernels: bool = False, metrics: Iterable[str] = ()) -> Any:
        """The rows as a pyarrow Table.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
        """
        import pyarrow

        table = self.table(kernels=kernels, metrics=metrics)
        return pyarrow.table({name: [row[name] for row in table.rows] for name in table.columns})

    def _ranges_of(self, result: Profiled) -> list[OpenRange]:
        if not self.filters:
            return list(result.ranges)
        return [each for filter in self.filters for each in named_ranges(filter, result)]

    def _innermost(self, result: Profiled) -> str | None:
        found = self._ranges_of(result)
        if not found:
            return None
        chosen = found[0] if self.filters else found[-1]
        return chosen.name if chosen.domain is None else f"{chosen.domain}:{chosen.name}"

    def __str__(self) -> str:
        return formatted(self.table(), "table")

    def __repr__(self) -> str:
        return f"<NcuResult of {len(self.results)} results>"

    def _repr_html_(self) -> str:
        return as_html(self.table())


def read_reports(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    ncu: str | None = None,
    filters: Iterable[RangeFilter] = (),
    options: Iterable[str] = (),
) -> NcuResult:
    """Reads a report of Nsight Compute, or several of them together; `options` of ncu
    (``["--kernel-name", "gemm"]``) choose some of the results.

    The program `ncu` reads them, by default the one of NVSPAN_NCU, on PATH, or where its installer
    puts it. That needs no GPU.

    Raises:
        ValueError: a report cannot be read, or there is no ncu.
        OSError: a file is not there.
    """
    names = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    chosen = list(options)
    found: list[Profiled] = []
    for path in [os.fspath(each) for each in names]:
        check_regular(path)
        found += csv_reader.read(path, needed_tool(path, ncu), *chosen)
    return NcuResult(found, filters)


def needed_tool(report: str, ncu: str | None) -> str:
    """The program that reads a report.

    Raises:
        ValueError: there is none.
    """
    tool = find_tool("ncu", ncu)
    if tool is None:
        raise ValueError(
            f"cannot read {report!r}: that needs Nsight Compute (ncu), on PATH or in NVSPAN_NCU"
        )
    return tool


def range_names(results: Sequence[Profiled]) -> RangeNames:
    """The names of the ranges in reports, to find filters by them."""
    known = known_of((r.domain, r.name, r.kind) for result in results for r in result.ranges)
    return RangeNames(
        known,
        lambda filter: any(named_ranges(filter, result) for result in results),
        "report",
    )


def named_ranges(filter: RangeFilter, result: Profiled) -> list[OpenRange]:
    """The ranges that `filter` names around a result: of a stack the last of its path, the
    innermost first; none where the filter does not hit."""
    pattern = Pattern(filter)
    kind = START_END if pattern.span else PUSH_POP
    of_domain: dict[str | None, list[OpenRange]] = {}
    for each in result.ranges:
        if each.kind == kind and pattern.takes_domain(each.domain):
            of_domain.setdefault(each.domain, []).append(each)
    found: list[OpenRange] = []
    for ranges in of_domain.values():
        names = [each.name for each in ranges]
        if not pattern.span:
            found += [ranges[at] for at in pattern.hits(names)]
        elif pattern.are_open(names):
            found += [each for each in ranges if any(test(each.name) for test in pattern.names)]
    return found


def within(
    result: NcuResult, filters: Sequence[RangeFilter], excluded: Sequence[RangeFilter] = ()
) -> NcuResult:
    """The results in the ranges of `filters`, if there are any, and in none of `excluded`."""
    hit = [
        each
        for each in result.results
        if (not filters or any(named_ranges(f, each) for f in filters))
        and not any(named_ranges(f, each) for f in excluded)
    ]
    return NcuResult(hit, filters)


def _further(metrics: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The metrics that are no column yet, each once."""
    return tuple(name for name in dict.fromkeys(metrics) if name not in columns)


def _row(of: Range, results: Sequence[Profiled], metrics: Iterable[str]) -> RangeRow:
    """The figures of results together."""
    times = [result.number_of(*TIME) for result in results]
    known = [time for time in times if time is not None]
    total = sum(known) if known else None
    means = _means(results, [time or 0.0 for time in times] if total else [1.0] * len(results))
    domain, name, kind = of
    return RangeRow(
        domain=domain,
        name=name,
        kind=kind,
        results=len(results),
        processes=len({(each.report, each.process) for each in results}),
        time=total,
        mean=total / len(known) if total is not None else None,
        sm=first(means, SM),
        memory=first(means, MEMORY),
        occupancy=first(means, OCCUPANCY),
        stalls=", ".join(f"{r} {p:.0%}" for r, p in stalls(means)[:_SHOWN_STALLS]) or None,
        limiter=limiter(means),
        metrics={name: combined(name, results, means) for name in metrics},
    )


def _means(results: Sequence[Profiled], weights: Sequence[float]) -> dict[str, float]:
    """Every number that the results have, averaged over those that have it."""
    sums: dict[str, float] = {}
    weight_of: dict[str, float] = {}
    for result, weight in zip(results, weights, strict=True):
        for name, value in result.metrics.items():
            if not isinstance(value, str):
                sums[name] = sums.get(name, 0.0) + weight * value
                weight_of[name] = weight_of.get(name, 0.0) + weight
    return {name: value / weight_of[name] for name, value in sums.items() if weight_of[name]}


def combined(name: str, results: Sequence[Profiled], means: Mapping[str, float]) -> Metric:
    """One value of a metric for several results: the sum of sums, the largest of maxima, the
    smallest of minima, and else the average by time. Text where all have the same."""
    values = [result.metrics[name] for result in results if name in result.metrics]
    if not values:
        return None
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        return values[0] if len(set(values)) == 1 else None
    for ending, together in ((".sum", sum), (".max", max), (".min", min)):
        if name.endswith(ending):
            return together(numbers)
    return means.get(name)
