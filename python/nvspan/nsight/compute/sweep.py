# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Functions with parameters that are swept over, under Nsight Compute, and a plot of the result."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from nvspan.nsight.compute import child
from nvspan.nsight.compute.function import profile
from nvspan.nsight.lines.ncu_command import METRICS
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results.profiled import Profiled
from nvspan.nsight.results.result import NcuResult, combined
from nvspan.report import render, text

WHOLE = "(call)"
_TIME = "gpu__time_duration.sum"

Sweep = "Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]"


class SweepResult:
    """What a sweep measured: `rows`, a dict for each range of each set of parameters.

    A row has the parameters by their names, ``range``, ``runs``, ``kernels`` (of one run), and of
    each metric, by its name, the mean of the runs; ``NAME.std``, ``NAME.min`` and ``NAME.max`` are
    those of the runs. What was derived stands under its own name.
    """

    def __init__(
        self, rows: list[dict[str, Any]], parameters: Sequence[str], metrics: Sequence[str],
        result: NcuResult,
    ) -> None:  # fmt: skip
        self.rows = rows
        self.parameters = tuple(parameters)
        self.metrics = tuple(metrics)
        #: Every kernel, as `read_ncu` has it.
        self.result = result

    def relative_to(self, range: str) -> list[dict[str, Any]]:
        """The rows with each metric divided by that of another range with the same parameters.

        Raises:
            ValueError: there is no such range.
        """
        base = {self._key(row): row for row in self.rows if row["range"] == range}
        if not base:
            raise ValueError(f"no range {range!r}; there are {self._ranges()}")
        made = []
        for row in self.rows:
            if (other := base.get(self._key(row))) is None:
                continue
            parts = {m: row[m] / other[m] if row[m] is not None and other[m] else None
                     for m in self.metrics}  # fmt: skip
            made.append({**row, **parts})
        return made

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame.from_records(self.rows)

    def to_csv(self) -> str:
        """The rows as CSV."""
        return render.as_csv(self.rows, list(self.rows[0]) if self.rows else [])

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, metric: str | None = None,
        x: str | None = None, kind: str = "line", rows: str | None = None,
        columns: str | None = None, values: bool = False,
    ) -> Any:  # fmt: skip
        """A line, or bars, for each range and each set of the other parameters.

        Args:
            path: the picture's file; None writes none.
            metric: by default the first.
            x: the parameter of the horizontal axis, by default the first.
            kind: "line" or "bar".
            rows, columns: parameters, or "range", for each value of which there is a row or a
                column of plots.
            values: write each value beside its point.

        Returns:
            The matplotlib Figure, of which titles and all else can be changed.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
            ValueError: there is no such metric, parameter or kind, or one is asked for twice.
        """
        metric = self.metrics[0] if metric is None else metric
        if x is None:
            x = self.parameters[0] if self.parameters else "range"
        if not self.rows or metric not in self.rows[0]:
            raise ValueError(f"no metric {metric!r}; there are {', '.join(self.metrics)}")
        known = (*self.parameters, "range")
        chosen = [name for name in (x, rows, columns) if name is not None]
        for name in chosen:
            if name not in known:
                raise ValueError(f"no parameter {name!r}; there are {', '.join(known)}")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"x, rows and columns must be different, not {', '.join(chosen)}")
        if kind not in ("line", "bar"):
            raise ValueError(f"kind must be line or bar, not {kind!r}")
        from matplotlib.figure import Figure

        down, across = (self._values(name) for name in (rows, columns))
        figure = Figure(figsize=(7 * len(across), 4.5 * len(down)), layout="constrained")
        grid = figure.subplots(len(down), len(across), squeeze=False)
        others = [name for name in known if name not in chosen]
        for (row, column), axes in zip(product(down, across), grid.flat, strict=True):
            place = {name: at for name, at in ((rows, row), (columns, column)) if name is not None}
            shown = [r for r in self.rows if all(str(r[name]) == at for name, at in place.items())]
            _draw(axes, shown, metric, x, others, kind, values=values)
            axes.set_title(", ".join(f"{name}={at}" for name, at in place.items()))
        if path is not None:
            figure.savefig(os.fspath(path))
        return figure

    def _values(self, name: str | None) -> list[str]:
        """The values of a parameter in their order; one where there is no parameter."""
        return [""] if name is None else list(dict.fromkeys(str(row[name]) for row in self.rows))

    def _key(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(repr(row[name]) for name in self.parameters)

    def _ranges(self) -> str:
        return ", ".join(dict.fromkeys(repr(row["range"]) for row in self.rows))

    def __str__(self) -> str:
        columns = [*self.parameters, "range", "runs", "kernels", *self.metrics]
        cells = [["" if row[c] is None else f"{row[c]:.6g}" if isinstance(row[c], float)
                  else str(row[c]) for c in columns] for row in self.rows]  # fmt: skip
        return text.aligned(columns, cells, ("range",)) if cells else "nothing was profiled"

    def __repr__(self) -> str:
        return f"<SweepResult of {len(self.rows)} rows>"


def _draw(
    axes: Any, rows: Sequence[Mapping[str, Any]], metric: str, x: str, others: Sequence[str],
    kind: str, *, values: bool,
) -> None:  # fmt: skip
    """One plot of some rows."""
    lines: dict[tuple[Any, ...], list[tuple[Any, float]]] = {}
    for row in rows:
        if row[metric] is not None:
            key = tuple(row[name] for name in others)
            lines.setdefault(key, []).append((row[x], row[metric]))
    ticks = list(dict.fromkeys(str(row[x]) for row in rows))
    for number, (key, points) in enumerate(lines.items()):
        name = ", ".join(
            str(value) if other == "range" else f"{other}={value}"
            for other, value in zip(others, key, strict=True)
        )
        places = [float(ticks.index(str(at))) for at, _ in points]
        heights = [height for _, height in points]
        if kind == "line":
            axes.plot(places, heights, marker="o", label=name)
        else:
            width = 0.8 / len(lines)
            shift = (number - (len(lines) - 1) / 2) * width
            places = [place + shift for place in places]
            axes.bar(places, heights, width, label=name)
        for place, height in zip(places, heights, strict=True) if values else ():
            axes.annotate(f"{height:.4g}", (place, height), ha="center", va="bottom")
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set(xlabel=x, ylabel=metric)
    axes.set_ylim(bottom=0)
    if others and lines:
        axes.legend()


class Kernel:
    """What `kernel` makes of a function: calls of it are as before, `profile` measures it."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def profile(
        self, sweep: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> SweepResult:  # fmt: skip
        """Runs the function with each set of parameters under ncu, in one process.

        Args:
            sweep: in place of that of the decorator.
            options: in place of those of the decorator.
        """
        given = {**self._options, **options}
        if sweep is not None:
            given["sweep"] = sweep
        return _profile(self._function, **given)


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    sweep: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]] = (),
    metrics: Iterable[str] = ("time",),
    runs: int = 1,
    warmup: int = 1,
    ranges: str | RangeFilter | Iterable[str | RangeFilter] | None = None,
    derive: Mapping[str, Callable[..., Any]] | None = None,
    combine: Callable[[list[float]], float] | None = None,
    clock_control: str | None = "none",
    **options: Any,
) -> Any:
    """Decorates a function so that ``function.profile()`` measures it for many parameters.

    Args:
        sweep: names of parameters with their values, of which every combination is run, or a list
            of dicts, each a set of parameters.
        metrics: plain names and those of ncu, any number.
        runs: how often each set is measured.
        warmup: how often each is run before.
        ranges: what is measured; None is each range that the function emits around kernels, nested
            ones too, and ``(call)`` where there is none.
        derive: names and functions that take the row's values by name: metrics (dots and colons in
            their names become ``_``), parameters, ``range``.
        combine: of the kernels in a range one value; None adds up sums, and averages the others.
        clock_control, options: as `ncu_command` has them; also ncu, timeout, output of
            `nvspan.nsight.ncu`.

    Calls of the function itself stay as they are.

    >>> @nvspan.nsight.kernel(sweep={"n": [1024, 2048]}, metrics=["time"])   # doctest: +SKIP
    ... def multiply(n):
    ...     a = torch.randn(n, n, device="cuda")
    ...     with nvspan.annotate("matmul"):
    ...         a @ a
    >>> print(multiply.profile())                                        # doctest: +SKIP
    """
    given = {
        "sweep": sweep, "metrics": list(metrics), "runs": runs, "warmup": warmup, "ranges": ranges,
        "derive": derive, "combine": combine, "clock_control": clock_control, **options,
    }  # fmt: skip
    if function is not None:
        return Kernel(function, given)
    return lambda decorated: Kernel(decorated, given)


def _sets(
    function: Callable[..., Any],
    sweep: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Each set of parameters, checked against the function's own."""
    if isinstance(sweep, Mapping):
        values = [list(each) for each in sweep.values()]
        sets = [dict(zip(sweep, each, strict=True)) for each in product(*values)]
    else:
        sets = [dict(each) for each in sweep] or [{}]
    signature = inspect.signature(function)
    for each in sets:
        try:
            signature.bind(**each)
        except TypeError as error:
            raise ValueError(f"sweep: {each!r} does not fit {function.__name__}: {error}") from None
    if not sets:
        raise ValueError("sweep names a parameter without values")
    return sets


def _profile(
    function: Callable[..., Any], *,
    sweep: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]], metrics: Iterable[str],
    runs: int, warmup: int, ranges: Any, derive: Mapping[str, Callable[..., Any]] | None,
    combine: Callable[[list[float]], float] | None, preset: str | None = None,
    replay: str = "kernel", output: str | os.PathLike[str] | None = None, ncu: str | None = None,
    timeout: float | None = None, **options: Any,
) -> SweepResult:  # fmt: skip
    sets = _sets(function, sweep)
    measured = list(metrics)
    found = profile(
        function, [((), each) for each in sets], ranges=ranges, metrics=measured, preset=preset,
        replay=replay, warmup=warmup, runs=runs, output=output, ncu=ncu, timeout=timeout,
        **options,
    )  # fmt: skip
    names = [m for name in measured for m in METRICS.get(name, (name,)) if "__" in m] or [_TIME]
    return tabulate(found, sets, names, runs, derive or {}, combine)


def tabulate(
    found: NcuResult, sets: Sequence[Mapping[str, Any]], metrics: Sequence[str], runs: int,
    derive: Mapping[str, Callable[..., Any]], combine: Callable[[list[float]], float] | None,
) -> SweepResult:  # fmt: skip
    """The rows of a sweep, of results each of which has the label of its run around it."""
    labels = {child.label(n, r): (n, r) for n in range(len(sets)) for r in range(runs)}
    cells: dict[tuple[int, str], dict[int, list[Profiled]]] = {}
    for result in found.results:
        place = next((labels[r.name] for r in result.ranges
                      if r.domain == child.DOMAIN and r.name in labels), None)  # fmt: skip
        if place is None:
            continue
        for name in _ranges_of(found, result):
            cells.setdefault((place[0], name), {}).setdefault(place[1], []).append(result)
    if any(name != WHOLE for _, name in cells):  # what is around the ranges is not asked for
        cells = {key: of_runs for key, of_runs in cells.items() if key[1] != WHOLE}
    rows = []
    for (number, name), of_runs in sorted(cells.items(), key=lambda item: item[0][0]):
        row: dict[str, Any] = {
            **sets[number], "range": name, "runs": len(of_runs),
            "kernels": len(next(iter(of_runs.values()))),
        }  # fmt: skip
        for metric in metrics:
            row.update(_figures(metric, of_runs, combine))
        for derived, formula in derive.items():
            row[derived] = _derived(formula, row)
        rows.append(row)
    parameters = list(dict.fromkeys(key for each in sets for key in each))
    return SweepResult(rows, parameters, [*metrics, *derive], found)


def _ranges_of(found: NcuResult, result: Profiled) -> list[str]:
    """The ranges that a result counts for, each once."""
    ranges = found._ranges_of(result) if found.filters else list(result.ranges)
    names = [each.name for each in ranges if each.domain != child.DOMAIN]
    return list(dict.fromkeys(names)) or [WHOLE]


def _figures(
    metric: str, of_runs: Mapping[int, list[Profiled]],
    combine: Callable[[list[float]], float] | None,
) -> dict[str, Any]:  # fmt: skip
    values = []
    for results in of_runs.values():
        numbers = [v for r in results if (v := r.number_of(metric)) is not None]
        if numbers:
            means = {metric: sum(numbers) / len(numbers)}
            values.append(combine(numbers) if combine else combined(metric, results, means))
    if not values:
        return dict.fromkeys((metric, f"{metric}.std", f"{metric}.min", f"{metric}.max"))
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) \
        if len(values) > 1 else None  # fmt: skip
    return {metric: mean, f"{metric}.std": spread, f"{metric}.min": min(values),
            f"{metric}.max": max(values)}  # fmt: skip


def _derived(formula: Callable[..., Any], row: Mapping[str, Any]) -> Any:
    """What a formula gives for a row, with those of its values that it has parameters for."""
    values = {"".join(c if c.isalnum() else "_" for c in name): v for name, v in row.items()}
    if "gpu__time_duration_sum" in values:
        values["time"] = values["gpu__time_duration_sum"]
    parameters = inspect.signature(formula).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return formula(**values)
    needed = [name for name, p in parameters.items() if p.default is p.empty]
    if missing := [name for name in needed if name not in values]:
        known = ", ".join(sorted(values))
        raise ValueError(f"derive: no value {missing[0]!r}; there are {known}")
    given = {name: values[name] for name in parameters if name in values}
    # What ncu did not measure gives nothing.
    return None if any(given[name] is None for name in needed) else formula(**given)
