# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.nsight.ncu and kernel: the process that calls the function, the rows of a sweep, and what
is said where it cannot be. test_ncu_function_on_gpu.py measures."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from helpers import ncu as real
from helpers.packages import needs
from helpers.recorded import record_command
from helpers.traced import needs_library
from helpers.tree import ROOT
from nvspan.nsight import NcuError, RangeFilter, kernel, ncu
from nvspan.nsight.compute import child, function, sweep
from nvspan.nsight.results import csv_reader
from nvspan.nsight.results.profiled import OpenRange
from nvspan.nsight.results.result import NcuResult

pytestmark = needs_library

TIME = "gpu__time_duration.sum"
TEXT = (ROOT / "tests" / "data" / "nsight" / "layers.csv").read_text()


def emit(name, times=1, *, domain=None):
    """What is called in another process."""
    import nvspan

    for _ in range(times):
        with nvspan.annotate(name, domain=domain):
            pass


def fail():
    raise ZeroDivisionError("of the function")


def written(folder, *calls, warmup=1, runs=1, called=emit):
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        function._write(str(folder), called, calls, warmup, runs)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    return [sys.executable, "-m", child.MODULE, str(folder)]


@needs("cloudpickle")
def test_the_calls_in_the_other_process(tmp_path):
    line = written(tmp_path, (("a",), {}), (("b", 2), {"domain": "app"}), warmup=2, runs=2)
    recording = record_command(line, folder=tmp_path).recording
    rows = {(r["domain"], r["name"], r["kind"]): r["calls"] for r in recording.stats().rows}
    spans = {(child.DOMAIN, name, "start_end"): 1 for name in ("0.0", "0.1", "1.0", "1.1")}
    assert rows == {
        (child.DOMAIN, "call", "start_end"): 4, **spans,
        (None, "a", "push_pop"): 2, ("app", "b", "push_pop"): 4,
    }  # fmt: skip


@needs("cloudpickle")
def test_plain_names_are_looked_up_in_a_run_of_the_function(tmp_path):
    line = written(tmp_path, (("work",), {"domain": "app"}))
    filters, recording = function._filters("work", line, str(tmp_path))
    assert filters == [RangeFilter("work", domain="app")]
    assert filters[0].evaluate(recording).calls == 1
    assert function._filters("app@work/", line, str(tmp_path)) == (filters, None)


@needs("cloudpickle")
def test_an_error_of_the_function_is_told(tmp_path):
    line = written(tmp_path, ((), {}), called=fail)
    with pytest.raises(NcuError, match="ZeroDivisionError: of the function"):
        function._filters("work", line, str(tmp_path))


def labelled(runs=2, sizes=(10, 20)):
    """The kernels of a real report, as if each had run for each size and run, and a bit longer each
    time."""
    found = []
    for number, size in enumerate(sizes):
        for run in range(runs):
            own = (OpenRange(child.DOMAIN, "call", "start_end"),
                   OpenRange(child.DOMAIN, child.label(number, run), "start_end"))  # fmt: skip
            for each in csv_reader.parse(TEXT):
                time = each.metrics[TIME] * size + run
                found.append(replace(each, ranges=own + each.ranges,
                                     metrics={**each.metrics, TIME: time}))  # fmt: skip
    return NcuResult(found)


SETS = [{"n": 10}, {"n": 20}]


def test_rows_of_a_sweep():
    found = sweep.tabulate(
        labelled(), SETS, [TIME, "launch__registers_per_thread"], 2,
        {"rate": lambda n, time: n / time, "label": lambda range, **_: range.upper()}, None,
    )  # fmt: skip
    assert [(row["n"], row["range"], row["runs"], row["kernels"]) for row in found.rows] == [
        (10, "forward", 2, 3), (10, "layers.0", 2, 3), (20, "forward", 2, 3),
        (20, "layers.0", 2, 3),
    ]  # fmt: skip
    row = found.rows[1]
    assert row[TIME] == 289920 + 1.5
    assert (row[f"{TIME}.min"], row[f"{TIME}.max"]) == (289920, 289923)
    assert row[f"{TIME}.std"] == pytest.approx(3 / 2**0.5)
    assert row["rate"] == pytest.approx(10 / 289921.5)
    assert row["label"] == "LAYERS.0"
    assert found.metrics == (TIME, "launch__registers_per_thread", "rate", "label")
    assert str(found).splitlines()[1].split()[:4] == ["10", "forward", "2", "3"]
    assert found.to_csv().splitlines()[0].startswith("n,range,runs,kernels,gpu__time")


def test_kernels_are_combined_as_asked():
    found = sweep.tabulate(labelled(1), SETS, [TIME], 1, {}, max)
    assert [row[TIME] for row in found.rows] == [209280, 209280, 418560, 418560]


def test_kernels_in_no_range_of_the_function():
    bare = [replace(r, ranges=r.ranges[:2]) for r in labelled(1).results]
    found = sweep.tabulate(NcuResult(bare), SETS, [TIME], 1, {}, None)
    assert [(row["n"], row["range"]) for row in found.rows] == [(10, "(call)"), (20, "(call)")]


def test_kernels_around_the_ranges_of_the_function_are_left_out():
    found = labelled(1).results
    around = [replace(r, ranges=r.ranges[:2]) for r in found[:2]]
    made = sweep.tabulate(NcuResult([*around, *found]), SETS, [TIME], 1, {}, None)
    assert {row["range"] for row in made.rows} == {"forward", "layers.0"}
    assert [row["kernels"] for row in made.rows] == [3, 3, 3, 3]


def test_relative_to_another_range():
    found = sweep.tabulate(labelled(1), SETS, [TIME], 1, {}, None)
    assert [row[TIME] for row in found.relative_to("forward")] == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="no range 'backward'; there are 'forward'"):
        found.relative_to("backward")


@pytest.mark.parametrize("kind", ["line", "bar"])
def test_a_plot(kind, tmp_path):
    pytest.importorskip("matplotlib")
    found = sweep.tabulate(labelled(1), SETS, [TIME], 1, {}, None)
    figure = found.plot(tmp_path / "plot.png", kind=kind)
    assert (tmp_path / "plot.png").stat().st_size > 5000
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("n", TIME)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["forward", "layers.0"]
    if kind == "line":
        assert [list(line.get_ydata()) for line in axes.lines] == [[289920, 579840]] * 2


def swept(rows):
    """A result of these (n, dtype, transpose, range, time)."""
    names = ("n", "dtype", "transpose", "range", TIME)
    made = [dict(zip(names, row, strict=True)) for row in rows]
    return sweep.SweepResult(made, names[:3], [TIME], NcuResult(()))


def test_plots_in_rows_and_columns(tmp_path):
    pytest.importorskip("matplotlib")
    found = swept(
        (n, dtype, transpose, name, n * (2 - transpose))
        for n in (1, 2) for dtype in ("f32", "f16") for transpose in (False, True)
        for name in ("matmul", "add")
    )  # fmt: skip
    figure = found.plot(tmp_path / "plot.png", rows="dtype", columns="transpose", values=True)
    assert [axes.get_title() for axes in figure.axes] == [
        "dtype=f32, transpose=False", "dtype=f32, transpose=True",
        "dtype=f16, transpose=False", "dtype=f16, transpose=True",
    ]  # fmt: skip
    for axes in figure.axes:
        factor = 2 if "False" in axes.get_title() else 1
        assert [list(line.get_ydata()) for line in axes.lines] == [[factor, 2 * factor]] * 2
        assert [text.get_text() for text in axes.texts] == [f"{factor}", f"{2 * factor}"] * 2
        assert [t.get_text() for t in axes.get_legend().get_texts()] == ["matmul", "add"]
    figure = found.plot(x="range", columns="n", rows="dtype", kind="bar")
    assert len(figure.axes) == 4
    assert [[bar.get_height() for bar in bars] for bars in figure.axes[0].containers] == [
        [2, 2], [1, 1],
    ]  # fmt: skip


def test_what_cannot_be_plotted():
    found = sweep.tabulate(labelled(1), SETS, [TIME], 1, {}, None)
    with pytest.raises(ValueError, match="no metric 'speed'"):
        found.plot(metric="speed")
    for name in ("x", "rows", "columns"):
        with pytest.raises(ValueError, match="no parameter 'm'; there are n, range"):
            found.plot(**{name: "m"})
    with pytest.raises(ValueError, match="x, rows and columns must be different, not n, n"):
        found.plot(rows="n")
    with pytest.raises(ValueError, match="kind must be line or bar"):
        found.plot(kind="pie")


def test_a_decorated_function_is_called_as_before():
    @kernel
    def add(a, b=2):
        """Adds."""
        return a + b

    assert (add(1), add(1, b=3), add.__name__, add.__doc__) == (3, 4, "add", "Adds.")


def test_sets_of_parameters():
    def two(a, b=0): ...

    assert sweep._sets(two, {"a": [1, 2], "b": [3, 4]}) == [
        {"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4},
    ]  # fmt: skip
    assert sweep._sets(two, [{"a": 1}, {"a": 2, "b": 5}]) == [{"a": 1}, {"a": 2, "b": 5}]
    with pytest.raises(ValueError, match="does not fit two: missing a required argument: 'a'"):
        sweep._sets(two, ())
    with pytest.raises(ValueError, match="got an unexpected keyword argument 'c'"):
        sweep._sets(two, {"a": [1], "c": [2]})
    with pytest.raises(ValueError, match="sweep names a parameter without values"):
        sweep._sets(two, {"a": []})


def test_a_formula_of_what_is_not_there():
    with pytest.raises(ValueError, match="no value 'speed'; there are gpu__time_duration_max"):
        sweep._derived(lambda speed: speed, {"gpu__time_duration.max": 1.0})


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"runs": 0}, ValueError, "runs must be 1 or more, not 0"),
        ({"warmup": 1.5}, TypeError, "warmup must be an int, not 1.5"),
        ({"ncu": "/nowhere/ncu"}, FileNotFoundError, "no Nsight Compute: '/nowhere/ncu'"),
        ({"replay": "graph", "ncu": sys.executable}, ValueError, "replay must be one of"),
    ],
)
def test_what_makes_no_sense(options, error, words):
    with pytest.raises(error, match=words):
        ncu(len, [], **options)


def test_what_cannot_be_pickled():
    with pytest.raises(TypeError, match="the function and its arguments must be pickled"):
        ncu(len, (each for each in "a"), ncu=sys.executable)
    assert pickle  # plain pickle says the same


def test_a_machine_without_a_gpu():
    if real.has_driver():
        pytest.skip("there is a CUDA driver here")
    with pytest.raises(NcuError, match=r"problem  ncu finds no CUDA driver \(libcuda.so.1\) here"):
        ncu(len, [], ncu=real.find())


def test_the_time_is_over_for_what_ncu_started_as_well(tmp_path):
    """In place of ncu a program that starts another one, and waits."""
    tool = tmp_path / "ncu"
    started = tmp_path / "started"
    tool.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {started}\nwait\n")
    tool.chmod(0o755)
    with pytest.raises(subprocess.TimeoutExpired):
        ncu(len, [], ncu=str(tool), timeout=2)
    pid = int(started.read_text())
    until = time.monotonic() + 20
    while _is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
