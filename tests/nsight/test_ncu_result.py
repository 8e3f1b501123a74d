# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of a real Nsight Compute, as ncu prints them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from helpers import ncu as real
from helpers.ncu import DATA
from helpers.packages import needs
from nvspan.nsight import NcuResult, RangeFilter, read_ncu
from nvspan.nsight.results import csv_reader, result, tables
from nvspan.nsight.results.profiled import OpenRange

TIME = "gpu__time_duration.sum"
PUSH, SPAN = "push_pop", "start_end"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return real.recorded(tmp_path_factory.mktemp("ncu"))


@pytest.fixture(params=["recorded", "real"])
def ncu(request, recorded):
    """A program that reads the reports: one that prints what ncu printed, or ncu."""
    return recorded if request.param == "recorded" else real.find()


# Of each result: name, kind, grid, time in ns, and the ranges around it.
STEP = [("app", "step", PUSH, 0)]
REPORTS = {
    "sync": [("range", "range", (), time, STEP) for time in (416736, 379872, 389824)],
    "span": [("range", "range", (), time, [("io", "load", SPAN, 0)]) for time in (245216, 341184)],
    "nested": [("range", "range", (), 282944, [("app", "outer", PUSH, 0)])],
    "threads": [("spin", "kernel", (9, 1, 1), 21696, [("app", "thread", PUSH, 0)]),
                ("spin", "kernel", (11, 1, 1), 21760, [("app", "main", PUSH, 0)])],
    "nodes": [("spin", "kernel", (5, 1, 1), 21728, [("app", "launched", PUSH, 0)]),
              ("spin", "kernel", (6, 1, 1), 21696, [("app", "launched", PUSH, 0)])],
}  # fmt: skip


def told(result):
    ranges = [(r.domain, r.name, r.kind, r.depth) for r in result.ranges]
    return (result.name, result.kind, result.grid, result.metrics[TIME], ranges)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report(name, ncu):
    found = csv_reader.read(str(DATA / f"{name}.ncu-rep"), ncu)
    assert [told(result) for result in found] == REPORTS[name]
    assert {result.units[TIME] for result in found} == {"ns"}
    assert {result.metrics["sm__maximum_warps_per_active_cycle_pct"] for result in found} == {50}


def test_a_graph_as_one(ncu):
    (graph,) = csv_reader.read(str(DATA / "graph.ncu-rep"), ncu)
    assert (graph.name, graph.kind, graph.metrics[TIME]) == ("graph", "graph", 617024)
    assert graph.ranges == (OpenRange("app", "launched", PUSH, 0),)


def layers(*filters):
    text = (DATA / "layers.csv").read_text()
    return NcuResult(csv_reader.parse(text, "layers.ncu-rep"), filters)


def test_a_row_for_each_range():
    rows = {row.name: row for row in layers().ranges()}
    assert list(rows) == ["forward", "layers.0"]
    row = rows["layers.0"]
    times = (20928, 2784, 5280)
    assert (row.domain, row.kind, row.results) == ("torch", PUSH, 3)
    assert (row.time, row.mean) == (sum(times), pytest.approx(sum(times) / 3))
    table = list(csv.DictReader(io.StringIO((DATA / "layers.csv").read_text())))[1:]
    parts = [float(r["sm__throughput.avg.pct_of_peak_sustained_elapsed"]) for r in table]
    assert row.sm == pytest.approx(sum(t * p for t, p in zip(times, parts, strict=True))
                                      / sum(times), abs=0.1)  # fmt: skip
    assert row.limiter == "latency: too few blocks, 0.093 of what the GPU holds at once"
    assert row.stalls.startswith("global memory ")
    assert rows["forward"].time == row.time


def test_filters_choose_the_ranges():
    assert [row.name for row in layers(RangeFilter("forward", domain="torch")).ranges()] == [
        "forward"
    ]
    assert layers(RangeFilter("layers.1", domain="torch")).ranges() == []
    assert layers(RangeFilter("layers.0")).ranges() == []


def test_a_row_for_each_kernel():
    rows = layers().kernels(["launch__registers_per_thread"])
    assert [row.grid for row in rows] == ["8x16x1", "128x1x1", "256x1x1"]
    assert [row.block for row in rows] == ["64x1x1", "128x1x1", "32x4x1"]
    assert [row.range for row in rows] == ["torch:layers.0"] * 3
    assert [row.time for row in rows] == [20928, 2784, 5280]
    assert rows[0].metrics["launch__registers_per_thread"] == 80
    assert rows[0].kernel.startswith("sm80_xmma_gemm_f32f32")
    assert [row.process for row in rows] == [1414] * 3


def test_further_metrics_of_a_range():
    (_, row) = layers().ranges([TIME, "launch__grid_size", "gpu__time_duration.max", "absent__x",
                                "launch__cluster_scheduling_policy"])  # fmt: skip
    metrics = row.metrics
    assert row[TIME] == metrics[TIME]
    assert list(row)[-5:] == list(metrics)
    assert (metrics[TIME], metrics["gpu__time_duration.max"]) == (28992, 20928)
    assert metrics["launch__grid_size"] == pytest.approx(
        (20928 * 128 + 2784 * 128 + 5280 * 256) / 28992
    )
    assert (metrics["absent__x"], metrics["launch__cluster_scheduling_policy"]) == (
        None,
        "PolicySpread",
    )


def test_a_column_that_is_asked_for_by_its_name_keeps_its_values():
    result = layers()
    assert result.ranges(["time", "limiter"]) == result.ranges()
    assert result.kernels(["time", "grid"]) == result.kernels()
    assert tables.formatted(result.table(metrics=["time"]), "csv") == tables.formatted(
        result.table(), "csv"
    )
    assert tables.formatted(result.table(metrics=["time"]), "table") == str(result)


def test_a_metric_in_a_table_has_all_its_digits():
    shown = tables.formatted(layers().table(metrics=[TIME]), "table").splitlines()
    assert shown[2].split()[-1] == "28,992"
    assert tables._cell(TIME, 43424.0) == "43,424"


def test_the_forms_of_a_table():
    result = layers()
    text = str(result).splitlines()
    assert text[0].split()[:5] == ["range", "results", "time", "mean", "sm"]
    assert text[2].split()[:4] == ["torch:layers.0", "3", "29.0", "us"]
    document = tables.formatted(result.table(metrics=[TIME]), "csv")
    rows = list(csv.DictReader(io.StringIO(document)))
    assert [row["name"] for row in rows] == ["forward", "layers.0"]
    assert float(rows[1][TIME]) == 28992
    assert json.loads(tables.formatted(result.table(), "json")) == list(map(dict, result.ranges()))
    assert tables.formatted(result.table(kernels=True), "markdown").count("\n") == 4
    kernels = tables.formatted(result.table(kernels=True), "table").splitlines()
    assert kernels[1].split()[1] == f"{result.results[0].name[:57]}..."
    assert "<td>torch:layers.0</td>" in result._repr_html_()
    assert str(NcuResult([])) == "no ranges were profiled"


@needs("pyarrow")
def test_arrow_and_pandas():
    arrow = layers()
    table = arrow.to_arrow(metrics=[TIME])
    assert table["name"].to_pylist() == ["forward", "layers.0"]
    assert table[TIME].to_pylist() == [28992, 28992]
    pytest.importorskip("pandas")
    frame = arrow.to_pandas(kernels=True)
    assert list(frame["time"]) == [20928, 2784, 5280]


CELLS = {
    '610  "app:step:Int64:0:RGB:0xff0000:ASCII:step" ': [("app", "step")],
    '1  "<default domain>:a:none:none:none:none:none:none"  "t:b:none:none:RGB:0xff:REGISTERED:b" ':
        [(None, "a"), ("t", "b")],
    '1  "app:a:b:none:none:RGB:0xff:ASCII:a:b" ': [("app", "a:b")],
    '1  "app:a, "b"/c:none:none:RGB:0xff:ASCII:a, "b"/c" ': [("app", 'a, "b"/c')],
    # a registered name that ncu does not know in this thread
    '1  "<default domain>:<invalid handle>:none:none:RGB:0xff::invalid handle" ':
        [(None, "<invalid handle>")],
    '1  "app:x:Double:-1.5:none:none:UNICODE:x" ': [("app", "x")],
    "": [],
}  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_ranges_in_a_cell(cell):
    assert list(csv_reader._texts(cell, has_number=False)) == CELLS[cell]


def test_start_end_ranges_in_a_cell():
    first = "12:io:a:none:none:RGB:0xff:ASCII:a"
    cell = f' "{first}"  "1:<default domain>:c:none:none:none:none:none:none" '
    assert list(csv_reader._texts(cell, has_number=True)) == [("io", "a"), (None, "c")]


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_what_is_no_report(damage, ncu, tmp_path):
    path = tmp_path / "bad.ncu-rep"
    whole = (DATA / "nested.ncu-rep").read_bytes()
    path.write_bytes(whole[:3000] if damage == "cut" else b"x")
    with pytest.raises(ValueError, match=r"cannot read '.*bad\.ncu-rep'"):
        csv_reader.read(str(path), ncu)


@pytest.mark.parametrize("size", [20000, 30000, 45000, -1])
def test_a_report_that_was_cut_off(size, tmp_path):
    path = tmp_path / "bad.ncu-rep"
    path.write_bytes((DATA / "sync.ncu-rep").read_bytes()[:size])
    with pytest.raises(ValueError, match=r"cannot read '.*bad\.ncu-rep'"):
        csv_reader.read(str(path), real.find())


def test_one_report_or_several(ncu):
    path = DATA / "nested.ncu-rep"
    for given in (str(path), path, [str(path)], (path,)):
        (result,) = read_ncu(given, ncu=ncu).results
        assert (result.report, result.metrics[TIME]) == (str(path), 282944)
    assert len(read_ncu([path, path], ncu=ncu)) == 2


def test_no_file():
    with pytest.raises(FileNotFoundError):
        read_ncu(["/nowhere/x.ncu-rep"])


def test_no_ncu(monkeypatch):
    monkeypatch.setattr(result, "find_tool", lambda command, given: None)
    with pytest.raises(
        ValueError, match=r"that needs Nsight Compute \(ncu\), on PATH or in NVSPAN"
    ):
        read_ncu([str(DATA / "nested.ncu-rep")])


def test_two_results_beside_each_other():
    slower = layers()
    doubled = NcuResult(
        [type(r)(**{**r.__dict__, "metrics": {**r.metrics, TIME: 2 * r.metrics[TIME]}})
         for r in slower.results[:2]]
    )  # fmt: skip
    rows = tables.compare(slower.ranges(), doubled.ranges())
    assert [row.name for row in rows] == ["forward", "layers.0"]
    assert rows[0].change == pytest.approx(23712 / (28992 / 3) - 1)
    assert (rows[0].before.results, rows[0].after.results) == (3, 2)
    one = NcuResult(slower.results, [RangeFilter("forward", domain="torch")])
    (alone,) = tables.compare([], one.ranges())
    record = alone.as_dict()
    assert (record["time_before"], record["change"], record["time_after"]) == (None, None, 28992)
    headings, cells = tables.compared(rows)
    assert len(headings) == len(cells[0])
    assert "occupancy before" in headings
    bare = NcuResult([type(r)(**{**r.__dict__, "metrics": {TIME: r.metrics[TIME]}})
                      for r in slower.results])  # fmt: skip
    headings, cells = tables.compared(tables.compare(bare.ranges(), bare.ranges()))
    assert headings == [
        "range",
        "results before",
        "results after",
        "mean before",
        "mean after",
        "change",
    ]
    assert cells[1] == ["torch:layers.0", "3", "3", "9.66 us", "9.66 us", "0%"]
