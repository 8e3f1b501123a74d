# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges in recordings, tables, the Perfetto trace, the page and the exports."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re

import pytest

import nvspan
from helpers import perfetto_trace
from helpers.device import only_fake
from helpers.device_recorded import MATH, OTHER, PROGRAM, RANGES, recording_of
from helpers.packages import needs
from helpers.page_data import tracks_of
from helpers.reported import run_nvspan
from helpers.traced import needs_library, nvspan_command
from nvspan.report import page
from nvspan.report.page.data import timeline
from nvspan.report.summary import Summary

pytestmark = needs_library

BACKENDS = ("callback", "exact")


@pytest.fixture(params=BACKENDS)
def path(request):
    return recording_of(PROGRAM, request.param)


def streams_of(recording):
    """The streams of a recording by their numbers: their names."""
    return {row.stream: row.stream_name for row in recording.stats("stream").rows}


def test_the_table_has_device_stream_and_launcher(path):
    recording = nvspan.read(path)
    assert recording.problems == []
    streams = streams_of(recording)
    rows = list(recording.ranges.rows())
    found = [
        (row["domain"], row["name"], row["payload_value"], streams[row["stream"]],
         None if row["launcher"] is None else rows[row["launcher"]]["name"])
        for row in rows if row["kind"] == 2
    ]  # fmt: skip
    assert sorted(found, key=repr) == RANGES
    assert {row["device"] for row in rows if row["kind"] == 2} == {0}
    cpu = [row for row in rows if row["kind"] != 2]
    assert [row["name"] for row in cpu] == ["step", "forward"] * 3 + ["replay"]
    nothing = {(row["device"], row["stream"], row["launcher"]) for row in cpu}
    assert nothing == {(None, None, None)}
    launchers = [rows[row["launcher"]] for row in rows if row["name"] == "copy"]
    assert [row["payload_value"] for row in launchers] == [0, 1, 2]


def test_self_time_is_that_of_the_cpu_alone(path):
    rows = list(nvspan.read(path).ranges.rows())
    for row in rows:
        if row["name"] == "step":
            inside = sum(r["duration"] for r in rows if r["kind"] == 0 and r["domain"] == "model"
                         and row["start"] <= r["start"] < row["end"])  # fmt: skip
            assert abs(row["self"] - (row["duration"] - inside)) < 10
        elif row["kind"] == 0:
            assert abs(row["self"] - row["duration"]) < 10


@needs("perfetto")
def test_the_perfetto_trace_has_lanes_and_arrows(path, tmp_path):
    out = tmp_path / "out.pftrace"
    run_nvspan("export", path, "-o", out)
    slices = perfetto_trace.read(out).slices
    lanes = {track for s in slices for track in s.track if "GPU" in track}
    assert len(lanes) == 2
    math, other = sorted(lanes, key=lambda lane: "math" not in lane)
    assert re.fullmatch(r"GPU 0 \(left\) · stream \d+ \(math\)", math)
    assert re.fullmatch(r"GPU 0 \(left\) · stream \d+", other)
    leaves = {flow: s.name for s in slices for flow in s.leaves}
    assert len(leaves) == sum(len(s.leaves) for s in slices)
    device = [s for s in slices if "GPU" in s.track[-1]]
    assert all(len(s.track) == 2 for s in device)
    found = [
        (s.name, s.arguments.get("payload"), s.track[-1], s.depth,
         [leaves[flow] for flow in s.arrives])
        for s in device
    ]  # fmt: skip
    expected = [
        (name, payload, math if stream == MATH else other, int(name == "layer"),
         [] if launcher is None else [launcher])
        for _, name, payload, stream, launcher in RANGES
    ]  # fmt: skip
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert sorted(leaves) == sorted(flow for s in device for flow in s.arrives)
    assert [len(s.leaves) for s in slices if s.name == "forward" and s not in device] == [2] * 3
    assert [len(s.leaves) for s in slices if s.name == "step"] == [1] * 3
    rows = {(r["name"], r["start"]) for r in nvspan.read(path).ranges.rows()}
    assert {(s.name, s.start) for s in device} <= rows


def gpu_columns(rows):
    return {row.name: (row.calls, row.gpu_calls, row.gpu_total) for row in rows}


def test_gpu_time_stands_beside_cpu_time(path):
    ranges = list(nvspan.read(path).ranges.rows())

    def total(name):
        return sum(r["duration"] for r in ranges if r["name"] == name and r["kind"] == 2)

    summary = Summary(nvspan.read(path))
    assert gpu_columns(summary.rows) == {
        "step": (3, None, None), "forward": (3, 3, total("forward")), "replay": (1, None, None),
        "layer": (0, 3, total("layer")), "copy": (0, 3, total("copy")),
        "alone": (0, 1, total("alone")), "in graph": (0, 2, total("in graph")),
    }  # fmt: skip
    (forward,) = [row for row in summary.rows if row.name == "forward"]
    assert (forward.kind, forward.domain) == ("push_pop", "model")
    assert forward.gpu_mean == total("forward") / 3
    assert forward.gpu_share == total("forward") / summary.wall
    assert forward.total == sum(
        r["duration"] for r in ranges if r["name"] == "forward" and r["kind"] == 0
    )


def test_every_format_of_stats_has_them(path):
    written = csv.DictReader(io.StringIO(run_nvspan("stats", path, "--format", "csv").stdout))
    parsed = json.loads(run_nvspan("stats", path, "--format", "json").stdout)["rows"]
    assert [row["name"] for row in written] == [row["name"] for row in parsed]
    assert {row["name"]: row["gpu_calls"] for row in parsed} == {
        "step": None, "forward": 3, "replay": None, "layer": 3, "copy": 3, "alone": 1,
        "in graph": 2,
    }  # fmt: skip
    table = run_nvspan("stats", path).stdout
    heading, *lines = table.splitlines()
    assert heading.split()[-6:] == [
        "gpu_calls", "gpu_total", "gpu_self", "gpu_p50", "gpu_share", "name",
    ]  # fmt: skip
    (alone,) = [line.split() for line in lines if line.endswith(" alone")]
    assert (alone[0], len(alone)) == ("1", 9)  # "1 300 us 300 us 300 us 2% alone"
    markdown = run_nvspan("stats", path, "--format", "markdown").stdout
    columns = "| gpu_calls | gpu_total | gpu_self | gpu_p50 | gpu_share | name |"
    assert columns in " ".join(markdown.split())
    assert run_nvspan("stats", path, "--sort", "gpu_total").stdout.splitlines()[0] == heading
    nsys = run_nvspan("stats", path, "--compat", "nsys").stdout
    assert sum("StartEnd" in line for line in nsys.splitlines()) == 5


def device_totals(recording):
    """Name -> what device ranges of it took, and without those within it in its stream."""
    totals = {}
    for row in recording.ranges.rows():
        if row["kind"] == 2:
            totals[row["name"]] = totals.get(row["name"], 0) + row["duration"]
    within = {"forward": totals["layer"]}
    return {name: [total, total - within.get(name, 0)] for name, total in totals.items()}


def test_a_device_range_has_the_time_without_those_within_it(path):
    recording = nvspan.read(path)
    wanted = device_totals(recording)
    for by in ("stream", "device"):
        rows = {row.name: row for row in recording.stats(by).rows}
        assert {name: (row.total, row.self) for name, row in rows.items()} == {
            name: tuple(each) for name, each in wanted.items()
        }
    summary = {row.name: row for row in Summary(recording).rows}
    assert {name: summary[name].gpu_self for name in wanted} == {
        name: own for name, (_, own) in wanted.items()
    }
    assert {summary[name].self for name in ("layer", "alone")} == {None}


def test_the_tree_has_the_streams_with_what_ran_within_what(path):
    recording = nvspan.read(path)
    wanted = device_totals(recording)
    shown = json.loads(run_nvspan("stats", path, "--tree", "--format", "json").stdout)["rows"]
    streams = [row["label"] for row in shown if row["kind"] == "stream"]
    assert len(streams) == 2
    math, other = sorted(streams, key=lambda label: "math" not in label)
    found = {(row["lane"], row["level"], row["label"]): (row["total"], row["self"])
             for row in shown if row["kind"] == "device"}  # fmt: skip
    assert found == {
        (math, 1, "model:forward (GPU)"): tuple(wanted["forward"]),
        (math, 2, "layer (GPU)"): tuple(wanted["layer"]),
        (math, 1, "in graph (GPU)"): tuple(wanted["in graph"]),
        (other, 1, "copy (GPU)"): tuple(wanted["copy"]),
        (other, 1, "alone (GPU)"): tuple(wanted["alone"]),
    }
    of_math = next(row for row in shown if row["label"] == math)
    assert of_math["total"] == wanted["forward"][0] + wanted["in graph"][0]
    steps, replays = (
        sum(row["duration"] for row in recording.ranges.rows() if row["name"] == name)
        for name in ("step", "replay")
    )
    assert [row["label"] for row in shown if row["kind"] == "push_pop"] == (
        ["step", "model:forward", "replay"] if steps > replays
        else ["replay", "step", "model:forward"]
    )  # fmt: skip
    text = run_nvspan("stats", path, "--tree").stdout
    assert "    layer (GPU)" in text


NESTED = """
import sys
s = cuda.stream()

def deep(n):
    with nvspan.device_range("deep", stream=s, backend=sys.argv[1]):
        cuda.launch(s, 200_000)
        if n:
            deep(n - 1)
            cuda.launch(s, 200_000)

for _ in range(2):
    deep(3)
cuda.synchronize()
with cuda.capture(s) as graph:
    with nvspan.device_range("graph", stream=s, backend=sys.argv[1]):
        cuda.launch(s, 200_000)
        with nvspan.device_range("node", stream=s, backend=sys.argv[1]):
            cuda.launch(s, 200_000)
executable = graph.instantiate()
executable.launch(s, 3)
cuda.synchronize()
assert nvspan.device_flush(30)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_device_ranges_within_one_of_their_name_count_once(backend):
    recording = nvspan.read(recording_of(NESTED, backend))
    spans = [(row["start"], row["end"]) for row in recording.ranges.rows() if row["name"] == "deep"]
    outermost = [
        end - start for start, end in spans
        if not any(s <= start and end <= e and (s, e) != (start, end) for s, e in spans)
    ]  # fmt: skip
    assert (len(spans), len(outermost)) == (8, 2)
    rows = {row.name: row for row in recording.stats().rows}
    deep = rows["deep"]
    assert (deep.calls, deep.total) == (8, sum(outermost))
    assert deep.sum == sum(end - start for start, end in spans)
    assert deep.self == pytest.approx(deep.total, abs=10)
    # Host functions take the times late on a real GPU: a node may reach out of its graph.
    least = rows["graph"].total - rows["node"].total
    if backend == "callback":
        assert least - 40_000 <= rows["graph"].self <= rows["graph"].total
    else:
        assert rows["graph"].self == pytest.approx(least, abs=40_000)
    options = ("--tree", "--sort", "first", "--format", "json")
    shown = json.loads(run_nvspan("stats", recording_of(NESTED, backend), *options).stdout)
    found = [(row["level"], row["name"], row["calls"]) for row in shown["rows"]][1:]
    within = {level for level, name, _ in found if name == "node"}
    assert within == {2} or (backend == "callback" and within == {1})
    assert found[:2] == [(1, "deep", 8), (1, "graph", 3)]
    assert [(name, calls) for _, name, calls in found[2:]] == [("node", 3)]


@pytest.mark.parametrize("by", ["device", "stream"])
def test_rows_for_each_device_or_stream(path, by):
    rows = nvspan.read(path).stats(by).rows
    expected = {("forward", MATH, 3), ("layer", MATH, 3), ("copy", OTHER, 3), ("alone", OTHER, 1),
                ("in graph", MATH, 2)}  # fmt: skip
    assert {row.kind for row in rows} == {"device"}
    assert {(row.device, row.device_name) for row in rows} == {(0, "left")}
    found = {(row.name, row.stream_name, row.calls) for row in rows}
    assert found == ({(n, None, c) for n, _, c in expected} if by == "device" else expected)
    table = run_nvspan("stats", path, "--by", by).stdout
    lane = "GPU 0 (left)" + (" · stream" if by == "stream" else "")
    assert table.count(lane) == 5
    with pytest.raises(ValueError, match="by must be one of"):
        nvspan.read(path).stats("gpu")


def test_the_page_has_lanes_of_devices(path):
    recording = nvspan.read(path)
    tracks = tracks_of(timeline(recording, Summary(recording)))
    labels = [track["label"] for track, _ in tracks]
    assert len(labels) == 3
    assert labels[1:] == sorted(labels[1:], key=lambda label: int(label.split()[5]))
    math = next(levels for track, levels in tracks if "math" in track["label"])
    names = [[block.name for block in level] for level in math[:-1]]  # the last has the marks
    assert names == [["model:forward"] * 3 + ["in graph"] * 2, ["layer"] * 3]
    text = page.html(recording)
    assert "GPU 0 (left)" in text
    assert '"gpu_total"' in text


@needs("pyarrow")
def test_exports_have_device_and_stream(path, tmp_path):
    import pyarrow.parquet

    out = tmp_path / "out.parquet"
    run_nvspan("export", path, "--format", "parquet", "-o", out)
    table = pyarrow.parquet.read_table(out)
    ranges = nvspan.read(path).ranges
    for column in ("device", "stream", "launcher"):
        assert table.column(column).to_pylist() == [row[column] for row in ranges.rows()]
    out = tmp_path / "out.csv"
    run_nvspan("export", path, "--format", "csv", "-o", out)
    with open(out, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} == {"push_pop", "device"}
    assert [row["device"] for row in rows if row["kind"] == "device"] == ["0"] * 12
    out = tmp_path / "out.sqlite"
    run_nvspan("export", path, "--format", "sqlite", "-o", out)
    import sqlite3

    with contextlib.closing(sqlite3.connect(out)) as database:
        count = "select count(*) from NVTX_EVENTS where eventType = 60"
        assert database.execute(count).fetchone() == (12,)


@needs("perfetto")
def test_a_part_of_the_recording(path, tmp_path):
    recording = nvspan.read(path).filter(names=["copy", "step"])
    rows = list(recording.ranges.rows())
    names = [(row["name"], row["launcher"]) for row in rows if row["kind"] == 2]
    steps = [at for at, row in enumerate(rows) if row["name"] == "step"]
    assert names == [("copy", at) for at in steps]
    out = tmp_path / "out.pftrace"
    run_nvspan("export", path, "--filter", "forward", "--filter", "copy", "-o", out)
    slices = perfetto_trace.read(out).slices
    leaves = [len(s.leaves) for s in slices if "GPU" not in s.track[-1]]
    assert leaves == [1] * 3  # of "forward"; what called "copy" is left out, and so its arrow
    device = [(s.name, len(s.arrives)) for s in slices if "GPU" in s.track[-1]]
    assert sorted(device) == [("copy", 0)] * 3 + [("forward", 1)] * 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_statistics_alone_tell_device_ranges_apart(backend):
    recording = nvspan.read(recording_of(PROGRAM, backend, mode="stats"))
    found = {(row.name, row.kind, row.calls) for row in recording.stats().rows}
    assert found == {
        ("step", "push_pop", 3), ("forward", "push_pop", 3), ("replay", "push_pop", 1),
        ("forward", "device", 3), ("layer", "device", 3), ("copy", "device", 3),
        ("alone", "device", 1), ("in graph", "device", 2),
    }  # fmt: skip
    assert recording.stats("stream").rows == []


@needs("perfetto")
@pytest.mark.parametrize("backend", BACKENDS)
def test_ranges_that_overlap_have_rows_of_one_name(backend, tmp_path):
    path = recording_of(f"""
s = cuda.stream()
start = lambda name: nvspan.start_device_range(name, stream=s, backend={backend!r})
a = start("a"); cuda.launch(s, 20_000_000)
b = start("b"); cuda.launch(s, 20_000_000)
nvspan.end_device_range(a); cuda.launch(s, 20_000_000)
nvspan.end_device_range(b)
c = start("c"); cuda.launch(s, 20_000_000); nvspan.end_device_range(c)
assert nvspan.device_flush(30)
""")
    out = tmp_path / "out.pftrace"
    run_nvspan("export", path, "-o", out)
    slices = perfetto_trace.read(out).slices
    assert sorted((s.name, s.depth) for s in slices) == [("a", 0), ("b", 0), ("c", 0)]
    assert len({s.track for s in slices}) == 1
    by_name = {s.name: s for s in slices}
    assert by_name["a"].start < by_name["b"].start < by_name["a"].end < by_name["b"].end
    recording = nvspan.read(path)
    ((_, levels),) = tracks_of(timeline(recording, Summary(recording)))
    assert [len(level) for level in levels[:-1]] == [2, 1]


@only_fake
def test_devices_and_default_streams_have_lanes_of_their_own():
    recording = nvspan.read(
        recording_of("""
for device in (0, 1):
    cuda.use(device)
    with nvspan.device_range("work", stream=0):
        cuda.launch(0, 100_000)
assert nvspan.device_flush(30)
""")
    )
    lanes = [(row.lane, row.calls) for row in recording.stats("stream").rows]
    assert sorted(lanes) == [(f"GPU {n} · default stream", 1) for n in (0, 1)]
    assert sorted(row.lane for row in recording.stats("device").rows) == ["GPU 0", "GPU 1"]


def test_an_annotation_of_both_has_an_arrow_of_its_own():
    recording = nvspan.read(
        recording_of("""
with nvspan.annotate("outer"):
    with nvspan.annotate("both", device=True):
        cuda.launch(0, 100_000)
assert nvspan.device_flush(30)
""")
    )
    rows = list(recording.ranges.rows())
    (device,) = [row for row in rows if row["kind"] == 2]
    assert device["name"] == "both"
    assert (rows[device["launcher"]]["name"], rows[device["launcher"]]["kind"]) == ("both", 0)


def test_what_was_lost_is_in_the_recording():
    path = recording_of("""
s = cuda.stream()
with cuda.capture(s):
    handle = nvspan.start_device_range("across", stream=s)
    cuda.launch(s)
nvspan.end_device_range(handle)
with nvspan.device_range("kept", stream=s):
    cuda.launch(s)
assert nvspan.device_flush(30)
""")
    summary = Summary(nvspan.read(path))
    assert summary.notes == ["device ranges not shown: 1 capture_boundary"]
    done = nvspan_command("doctor", "--json", path, check=True)
    (found,) = [f for f in json.loads(done.stdout)["findings"] if f["name"] == "recording"]
    assert (found["status"], found["details"]["device_lost"]) == ("note", {"capture_boundary": 1})
    assert found["text"].endswith(
        "1 device range not shown: 1 (open across the start or end of a capture)"
    )


def test_many_ranges_are_told_in_calls_of_bounded_size():
    recording = nvspan.read(
        recording_of("""
s = cuda.stream()
for i in range(10_000):
    with nvspan.device_range("many", stream=s, backend="exact", payload=i):
        pass
assert nvspan.device_flush(60)
""")
    )
    rows = [row["payload_value"] for row in recording.ranges.rows() if row["kind"] == 2]
    assert sorted(rows) == list(range(10_000))
    batches = [event for event in recording.events if event["kind"] == "event_batch"]
    assert max(event["size"] for event in batches) <= 4096 * 100
    assert not any("hex" in event for event in batches)  # the ranges have it all


def test_ranges_are_of_the_thread_that_asked():
    recording = nvspan.read(
        recording_of("""
import threading
s = cuda.stream()

def work(times):
    for _ in range(times):
        with nvspan.annotate("work"), nvspan.device_range("work", stream=s):
            cuda.launch(s)

for times in (1, 2):
    thread = threading.Thread(target=work, args=(times,), name=f"worker {times}")
    thread.start()
    thread.join()
work(3)
assert nvspan.device_flush(30)
""")
    )
    rows = recording.stats("thread").rows
    asked = {row.thread: row.calls for row in rows if row.kind != "device"}
    assert sorted(asked.values()) == [1, 2, 3]
    assert {r.thread: r.calls for r in rows if r.kind == "device"} == asked
    (device,) = [row for row in recording.stats().rows if row.kind == "device"]
    assert (device.calls, device.threads) == (6, 3)
