# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Chrome traces that other programs wrote are read as recordings."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.packages import needs
from helpers.reported import nvspan_done, run_nvspan
from helpers.traced import python
from nvspan._reader import TraceImport
from nvspan.export import perfetto
from nvspan.imports import import_file

HEAD = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}, {"id": 1, "name": "NVIDIA H200"}],
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
    "baseTimeNanoseconds": 1_700_000_000_000_000_000,
}


def event(phase: str, name: str, ts: float, **fields: object) -> dict[str, object]:
    return {"ph": phase, "name": name, "ts": ts, "pid": 42, "tid": 43, **fields}


def imported(tmp_path: Path, trace: object, **options: object) -> nvspan.Recording:
    source, output = tmp_path / "trace.json", tmp_path / "trace.nvspan"
    source.write_text(trace if isinstance(trace, str) else json.dumps(trace), encoding="utf-8")
    import_file(source, output, **options)
    recording = nvspan.read(output)
    assert recording.problems == []
    return recording


def rows(recording: nvspan.Recording, *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in recording.ranges.rows()]


def test_kineto_with_kernels_and_their_launches(tmp_path):
    launch = {"cat": "cuda_runtime", "dur": 2.5}
    kernel = {"cat": "kernel", "pid": 1, "tid": 7}
    recording = imported(tmp_path, {**HEAD, "traceEvents": [
        event("X", "gemm<float>", 50.25, dur=10, **kernel,
              args={"device": 1, "stream": 7, "correlation": 5, "grid": [1, 2, 3]}),
        event("X", "Memcpy HtoD", 70, dur=1, cat="gpu_memcpy", pid=1, tid=9,
              args={"device": 1, "stream": 9, "correlation": 99}),
        event("X", "aten::mm", 10, dur=20.125, cat="cpu_op", args={"Input Dims": [[1], [2, 3]]}),
        event("X", "cudaLaunchKernel", 12.001, **launch, args={"cbid": 211, "correlation": 5}),
        event("s", "ac2g", 12, id=5), event("f", "ac2g", 50, id=5, bp="e"),
        event("X", "step", 50.25, dur=30, cat="gpu_user_annotation", pid=1, tid=7, args={}),
        event("M", "process_name", 0, args={"name": "python"}),
        event("M", "thread_name", 0, args={"name": "thread 43 (python)"}),
    ]})  # fmt: skip
    assert rows(recording, "kind", "domain", "name", "start", "end", "device", "stream",
                "launcher") == [
        (0, "cpu_op", "aten::mm", 10_000, 30_125, None, None, None),
        (0, "cuda_runtime", "cudaLaunchKernel", 12_001, 14_501, None, None, None),
        (2, "gpu_user_annotation", "step", 50_250, 80_250, 1, 7, None),
        (2, "kernel", "gemm<float>", 50_250, 60_250, 1, 7, 1),
        (2, "gpu_memcpy", "Memcpy HtoD", 70_000, 71_000, 1, 9, None),
    ]  # fmt: skip
    (process,) = recording.processes
    assert (process.pid, process.command, process.rank, process.world_size) == (
        42, ["python"], 3, 8,
    )  # fmt: skip
    assert recording.unix_offset == HEAD["baseTimeNanoseconds"]
    assert recording.threads.text("name")[0] == "thread 43 (python)"
    lanes = {row.lane for row in recording.stats(by="stream").rows if row.kind == "device"}
    assert lanes == {"GPU 1 (NVIDIA H200) · stream 7", "GPU 1 (NVIDIA H200) · stream 9"}


def test_arguments_are_fields_of_payloads(tmp_path):
    given = {
        "n": 5,
        "x": 0.5,
        "text": 'h\u00e9 "q"\n',
        "flag": True,
        "no": None,
        "e": 1e300,
        "list": [1, [2, "z"]],
        "object": {"k": 1},
        "wide": -(2**40),
        "huge": 2**70,
    }
    recording = imported(tmp_path, [
        event("X", "whole", 1, dur=5, cat="c", args=given),
        event("X", "whole", 2, dur=1, cat="c", args={}),
        event("X", "whole", 3, dur=1, cat="c"),
        event("X", "whole", 4, dur=1, cat="c", args={"n": 2**40}),
        event("X", "other", 4, dur=1, cat="d", args={"n": 6, "stream": "9"}),
        event("B", "begun", 10, args={"n": 7, "text": "x"}),
        event("E", "begun", 12, args={"late": 1}),
        event("b", "async", 14, cat="q", id=1, args={"k": 3}),
        event("e", "async", 15, cat="q", id=1),
        event("i", "mark", 16, args={"k": "v"}),
        event("X", "gemm", 50, dur=10, cat="kernel",
              args={"device": 1, "stream": 7, "correlation": 5, "grid": [1, 2, 3],
                    "occupancy": 0.5}),
        event("X", "launch", 18, dur=1, cat="cuda_runtime", args={"cbid": 211, "correlation": 5}),
    ])  # fmt: skip
    found = {
        (row["name"], row["start"]): recording.payload_fields(at) if row["payload_bytes"] else None
        for at, row in enumerate(recording.ranges.rows())
    }
    shown = {k: v for k, v in given.items() if v is not None}
    shown |= {"flag": 1, "list": '[1, [2, "z"]]', "object": '{"k": 1}', "huge": float(2**70)}
    assert found == {
        ("whole", 1000): shown, ("whole", 2000): None, ("whole", 3000): None,
        ("whole", 4000): {"n": 2**40}, ("other", 4000): {"n": 6, "stream": "9"},
        ("begun", 10_000): {"n": 7, "text": "x"}, ("async", 14_000): {"k": 3},
        ("gemm", 50_000): {"correlation": 5, "occupancy": 0.5, "grid": "[1, 2, 3]"},
        ("launch", 18_000): {"cbid": 211, "correlation": 5},
    }  # fmt: skip
    (kernel,) = (row for row in recording.ranges.rows() if row["name"] == "gemm")
    assert (kernel["device"], kernel["stream"], kernel["payload.grid"]) == (1, 7, "[1, 2, 3]")
    assert next(iter(recording.marks.rows()))["payload.k"] == "v"
    groups = {row.field: row.calls for row in recording.stats(by="payload.n").rows}
    assert groups[5] == groups[6] == groups[7] == groups[2**40] == 1
    grids = recording.stats(by="payload.grid").rows
    assert {row.field for row in grids if row.name == "gemm"} == {"[1, 2, 3]"}
    perfetto.write(recording, str(tmp_path / "x.pftrace"))
    assert b"occupancy" in (tmp_path / "x.pftrace").read_bytes()


def test_arguments_without_end_are_cut_and_counted(tmp_path):
    source = tmp_path / "t.json"
    source.write_text(json.dumps([
        event("X", "long", 1, dur=1, args={"text": "\u00e9" * 20_000, "nul": "a\0b"}),
        event("X", "many", 2, dur=1, args={f"k{i}": i for i in range(100)}),
        event("C", "counters", 3, args={f"k{i}": i for i in range(100)}),
        *(event("X", "forms", 4 + i, dur=1, args={f"f{i}": i}) for i in range(5000)),
    ]))  # fmt: skip
    done = import_file(source, tmp_path / "t.nvspan")
    assert (done.ranges, done.samples) == (5002, 100)
    assert done.left_out == {
        "argument, or the rest of a long one": 2 + 36, "arguments of one form too many": 906,
    }  # fmt: skip
    recording = nvspan.read(tmp_path / "t.nvspan")
    assert recording.problems == []
    first, second = (recording.payload_fields(row) for row in (0, 1))
    assert first == {"text": "\u00e9" * 8192, "nul": "a"}
    assert second == {f"k{i}": i for i in range(64)}


def test_every_phase(tmp_path):
    recording = imported(tmp_path, [
        event("B", "outer", 1, cat="c"), event("B", "inner", 2, cat="d"), event("E", "", 3),
        event("E", "", 4), event("i", "instant", 5, s="t"), event("X", "open", 6),
        event("C", "memory", 7, args={"used": 5, "free": 2.5}),
        event("C", "n", 8, args={"value": 1}),
        event("b", "async", 9, cat="net", id="0x1"), event("b", "other", 9, cat="net", id="0x2"),
        event("n", "point", 10, cat="net", id="0x1"),
        event("e", "async", 12, cat="net", id="0x1"), event("e", "other", 11, cat="net", id="0x2"),
        event("X", "text ids", 20, dur=1, pid="worker", tid="loop"),
        event("X", "exponent", 1.5e3, dur=2e1), event("O", "object", 1, id=1),
        event("X", "esc\"aped \\ é 😀", 30, dur="4"), event("E", "", 40),
    ])  # fmt: skip
    assert sorted(rows(recording, "kind", "domain", "name", "start", "end", "depth"),
                  key=lambda row: (row[3], row[2])) == [
        (0, "c", "outer", 1000, 4000, 0),
        (0, "d", "inner", 2000, 3000, 0),
        (0, None, "open", 6000, None, 0),
        (1, "net", "async", 9000, 12000, 0),
        (1, "net", "other", 9000, 11000, 0),
        (0, None, "text ids", 20000, 21000, 0),
        (0, None, "esc\"aped \\ é 😀", 30000, 34000, 1),
        (0, None, "exponent", 1_500_000, 1_520_000, 1),
    ]  # fmt: skip
    assert [(m["name"], m["time"]) for m in recording.marks.rows()] == [
        ("instant", 5000), ("point", 10000),
    ]  # fmt: skip
    assert [(c["name"], c["time"], c["value"]) for c in recording.counters.rows()] == [
        ("memory.used", 7000, 5.0), ("memory.free", 7000, 2.5), ("n", 8000, 1.0),
    ]  # fmt: skip
    assert recording.orphan_ends == 1
    assert {row["name"] for row in recording.threads.rows()} == {None, "loop"}


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_pieces_of_any_size(tmp_path, size):
    events = [event("X", f"n{i} é \"q\" ]}}", i * 10, dur=5.5, args={"a": [{}, "}"]})
              for i in range(50)]  # fmt: skip
    data = json.dumps({"traceEvents": events, "x": {"y": [1, "]"]}}, indent=1).encode()
    trace = TraceImport(os.fsencode(tmp_path / "x.nvspan"))
    for begin in range(0, len(data), size):
        trace.feed(data[begin : begin + size])
    assert trace.finish(False)["ranges"] == 50
    recording = nvspan.read(tmp_path / "x.nvspan")
    assert rows(recording, "name", "start", "end") == [
        (f'n{i} é "q" ]}}', i * 10_000, i * 10_000 + 5500) for i in range(50)
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "byte 0: the file is empty"),
        ("hello", "byte 0: expected a JSON array or object of trace events"),
        ('[{"ph":"X","ts":1,"dur":2}, 5]', "byte 28: expected an event"),
        ('[{"ph":"X","dur":2}]', "byte 2: an event without ts"),
        ('[{"ts":1}]', "byte 2: an event without ph"),
        ('[{"ph":"X","ts":"soon"}]', "byte 16: ts is no time in microseconds"),
        ('[{"ph":"X","ts":1,"dur":"x"}]', "byte 24: dur is no duration in microseconds"),
        ('[{"ph":"X","ts":4611686018427388,"dur":1}]',
         "byte 16: ts is no time in microseconds"),
        ('[{"ph":"X","ts":4611686018427387,"dur":4.7e15}]',
         "byte 39: dur is no duration in microseconds"),
        ('{"traceEvents":[{"ph":"X","ts":1},',
         "byte 34: the file ends within an event or an object"),
        ('{"traceEvents":[{"ph":"X","ts":1}]} more',
         "byte 36: something follows the end of the trace"),
        ('[{"ph":"X","ts":1}, {"ph":"X', "byte 28: the file ends within an event or an object"),
    ],
)  # fmt: skip
def test_damage_names_the_byte_and_leaves_nothing(tmp_path, text, problem):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_file(tmp_path / "x.json", tmp_path / "x.nvspan")
    assert str(raised.value) == f"{tmp_path / 'x.json'}: {problem}"
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_an_array_without_its_end_is_whole_and_a_partial_file_says_so(tmp_path):
    text = '[{"ph":"X","ts":1,"dur":2,"name":"a"},\n{"ph":"X","ts":5,"dur":1,"name":"b"}'
    assert len(imported(tmp_path, text + ",\n").ranges) == 2
    (tmp_path / "x.json").write_text(text + ',{"ph":')
    done = import_file(tmp_path / "x.json", tmp_path / "x.nvspan", partial=True)
    assert done.ranges == 2
    assert done.damage is None or "byte" in done.damage
    packed = gzip.compress((text + "]").encode())
    (tmp_path / "y.json.gz").write_bytes(packed)
    assert import_file(tmp_path / "y.json.gz", tmp_path / "y.nvspan").ranges == 2
    (tmp_path / "y.json.gz").write_bytes(packed[:-12])
    with pytest.raises(ValueError, match="the gzip file is damaged"):
        import_file(tmp_path / "y.json.gz", tmp_path / "y.nvspan")


TORCH = """
import sys, torch
from torch.profiler import profile, ProfilerActivity, record_function
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    for step in range(3):
        with record_function(f"step {step}"):
            model(torch.ones(4, 8)).sum().backward()
prof.export_chrome_trace(sys.argv[1])
"""


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_trace_that_torch_wrote(tmp_path, suffix):
    pytest.importorskip("torch")
    path = tmp_path / f"trace{suffix}"
    subprocess.run([sys.executable, "-c", TORCH, str(path)], check=True, capture_output=True)
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if suffix.endswith("gz") else data)
    done = import_file(path, tmp_path / "x.nvspan")
    recording = nvspan.read(tmp_path / "x.nvspan")
    wanted = sorted(
        (round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["name"], e["cat"])
        for e in trace["traceEvents"] if e["ph"] == "X"
    )  # fmt: skip
    kept = sorted(rows(recording, "start", "end", "name", "domain"))
    assert done.ranges == len(kept) == len(wanted)
    assert [row[2:] for row in kept] == [row[2:] for row in wanted]
    assert all(abs(a[0] - b[0]) <= 1000 for a, b in zip(kept, wanted, strict=True))
    names = {row[2] for row in kept}
    assert {"step 0", "step 1", "step 2", "aten::linear"} <= names
    assert recording.problems == []


def test_a_trace_that_jax_wrote(tmp_path):
    path = Path(__file__).parents[1] / "data" / "imports" / "jax.trace.json.gz"
    trace = json.loads(gzip.decompress(path.read_bytes()))
    assert trace["traceEvents"][-1] == {}
    done = import_file(path, tmp_path / "x.nvspan")
    recording = nvspan.read(tmp_path / "x.nvspan")
    whole = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    assert done.ranges == len(whole) == 737
    assert (done.left_out, recording.problems) == ({}, [])
    found = sorted(
        (row["start"], row["end"], row["name"],
         recording.payload_fields(at) if row["payload_bytes"] else {})
        for at, row in enumerate(recording.ranges.rows())
    )  # fmt: skip
    wanted = sorted(
        (round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000), e["name"],
         e.get("args", {}))
        for e in whole
    )  # fmt: skip
    assert [row[2:] for row in found] == [row[2:] for row in wanted]
    assert all(abs(a[i] - b[i]) <= 1 for a, b in zip(found, wanted, strict=True) for i in (0, 1))
    (process,) = recording.processes
    assert process.command == ["/host:CPU"]
    assert "python" in recording.threads.text("name")
    modules = recording.stats(by="payload.hlo_module").rows
    assert "jit_loss" in {row.field for row in modules}


@needs("viztracer")
def test_a_trace_that_viztracer_wrote(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("def f(n):\n    return n and f(n - 1)\nfor _ in range(3): f(4)\n")
    command = [sys.executable, "-m", "viztracer", "-o", str(tmp_path / "v.json"), str(program)]
    subprocess.run(command, check=True, capture_output=True)
    trace = json.loads((tmp_path / "v.json").read_text())
    whole = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    import_file(tmp_path / "v.json", tmp_path / "v.nvspan")
    recording = nvspan.read(tmp_path / "v.nvspan")
    assert sorted(row[0] for row in rows(recording, "name")) == sorted(e["name"] for e in whole)
    assert sum(" f (" in f" {row[0]}" for row in rows(recording, "name")) >= 15 or len(whole) >= 15


NOTES = [
    "1 range started within another of the thread and ended after it: read as start/end ranges",
    "left out, as a recording has no place for it: 1 flow",
]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_a_trace_is_read_as_a_recording(tmp_path, name):
    source = tmp_path / name
    text = json.dumps([event("X", "a", 1, dur=5), event("X", "b", 3, dur=9),
                       event("s", "flow", 1, id=1)]).encode()  # fmt: skip
    source.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    done = import_file(source, tmp_path / "t.nvspan")
    assert (done.ranges, done.overlapping, done.left_out) == (2, 1, {"flow": 1})
    assert done.notes() == NOTES
    wanted = list(nvspan.read(tmp_path / "t.nvspan").ranges.rows())
    found = nvspan.read(source)
    assert list(found.ranges.rows()) == wanted
    assert list(nvspan.read(str(source)).ranges.rows()) == wanted
    (process,) = found.processes
    assert (process.path, process.tool) == (str(source), "Chrome trace")
    for command in ("explain", "steps", "modules", "stats", "report", "export"):
        done = nvspan_done(command, name, cwd=tmp_path)
        assert [line for line in done.stderr.splitlines() if name in line] == [
            f"nvspan: {name}: {sentence}" for sentence in NOTES
        ], command
    assert (tmp_path / "t.html").exists()
    assert (tmp_path / "t.pftrace").exists()
    assert nvspan_done("diff", name, name, cwd=tmp_path).returncode == 0
    found = json.loads(run_nvspan("stats", "--format", "json", source).stdout)
    assert sorted(row["name"] for row in found["rows"]) == ["a", "b"]


def test_what_is_no_trace_is_refused(tmp_path):
    (tmp_path / "t.json").write_text("[5]")
    done = nvspan_done("stats", "t.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "nvspan stats: t.json: byte 1: expected an event\n",
    )  # fmt: skip
    done = nvspan_done("stats", "no.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "nvspan stats: cannot read 'no.json': No such file or directory\n",
    )  # fmt: skip
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.pftrace"):
        with pytest.raises(ValueError, match=f"{name}: only Chrome's JSON can be imported"):
            import_file(tmp_path / name, tmp_path / "t.nvspan")


def test_the_recording_made_of_a_trace_goes_with_its_process(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps([event("X", "a", 1, dur=5)]))
    code = (
        "import nvspan, os\n"
        "first, second = nvspan.read('t.json'), nvspan.read('t.json')\n"
        "child = os.fork()\n"
        "if not child: raise SystemExit\n"
        "os.waitpid(child, 0)\n"
        "print(len(nvspan.read('t.json').ranges), os.listdir(os.environ['TMPDIR']))\n"
    )
    (tmp_path / "temporary").mkdir()
    temporary = {"TMPDIR": str(tmp_path / "temporary")}
    done = python("-c", code, cwd=tmp_path, check=True, env=temporary)
    assert done.stdout.startswith("1 ['nvspan-")
    assert list((tmp_path / "temporary").iterdir()) == []
