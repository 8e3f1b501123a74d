# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Spans and histograms that a collector of OpenTelemetry gets, decoded as OTLP has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import nvspan
from helpers.device_recorded import PROGRAM, recording_of
from helpers.live import running, wait_until
from helpers.otlp import attributes, collector
from helpers.packages import needs
from helpers.traced import needs_library
from helpers.written import written
from nvspan import _reader, watch

pytestmark = needs("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

START = 1_700_000_000_000_000_000  # of the wall clock


def a_job(path):
    """Two steps of a rank with ranges in them and on the GPU, and one that was never closed."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(
            77, host="node1", command=["python", "jobs/train.py", "--password=x"], rank=3,
            unix_offset=START,
        )  # fmt: skip
        thread = writer.thread(process, 70, "main")
        domain = writer.domain(process, "train")
        writer.category(domain, 5, "math")

        def ranges(calls, **fields):
            names = writer.strings([name for _, _, name in calls])
            for (start, end, _), name in zip(calls, names, strict=True):
                writer.ranges(thread, domain, start, end, name=name, **fields)

        ranges([(1000, 5000, "step"), (6000, 9000, "step")], payload=7.5)
        ranges([(1500, 4000, "forward"), (1600, 1700, "layer")], category=5)
        (name,) = writer.strings(["forward"])
        writer.device_ranges(process, domain, 4500, 7500, device=0, stream=7, name=name,
                             correlation=1, launched=1650, tid=70)  # fmt: skip
        (name,) = writer.strings(["epoch"])
        writer.marks(thread, domain, 1800, name=name, payload=0.25)
    return path


def sent(path, url, **options):
    sender = watch.OpenTelemetry(path, endpoint=url, **options)
    sender.send()
    return sender


def shown(spans):
    """What a span is, ids as names: of its parent, of what it is linked to."""
    names = {span.span_id: f"{span.name} {span.start_time_unix_nano - START}" for _, span in spans}
    return {
        names[span.span_id]: {
            "end": span.end_time_unix_nano - START,
            "parent": names.get(span.parent_span_id),
            "attributes": attributes(span),
            "links": [(names[link.span_id], attributes(link)["nvspan.link"])
                      for link in span.links],
            "events": [(event.name, event.time_unix_nano - START, attributes(event))
                       for event in span.events],
        }
        for _, span in spans
    }  # fmt: skip


def test_every_span_of_steps_and_their_device_ranges(tmp_path):
    with collector() as received:
        sender = sent(a_job(tmp_path / "a.nvspan"), received.url, match=[])
    assert (sender.problems, sender.sent, sender.dropped) == ([], 5, 0)
    assert received.metrics == []
    cpu = {"nvspan.domain": "train", "thread.id": 70, "thread.name": "main"}
    math = {**cpu, "nvspan.category": "math"}
    assert shown(received.spans) == {
        "step 1000": {
            "end": 5000, "parent": None, "attributes": {**cpu, "nvspan.payload": 7.5},
            "links": [], "events": [],
        },
        "forward 1500": {
            "end": 4000, "parent": "step 1000", "attributes": math, "links": [],
            "events": [("epoch", 1800, {**cpu, "nvspan.payload": 0.25})],
        },
        "layer 1600": {
            "end": 1700, "parent": "forward 1500", "attributes": math,
            "links": [("forward 4500", "on the device")], "events": [],
        },
        "forward 4500": {
            "end": 7500, "parent": "step 1000",
            "attributes": {"nvspan.domain": "train", "nvspan.device": 0, "nvspan.stream": 7},
            "links": [("layer 1600", "launched by")], "events": [],
        },
        "step 6000": {
            "end": 9000, "parent": None, "attributes": {**cpu, "nvspan.payload": 7.5},
            "links": [], "events": [],
        },
    }  # fmt: skip
    traces = {}
    for resource, span in received.spans:
        traces.setdefault(span.trace_id, []).append(span.name)
        library = {name for name in resource if name.startswith("telemetry.sdk.")}
        assert {name: resource[name] for name in resource.keys() - library} == {
            "host.name": "node1", "process.pid": 77, "nvspan.rank": 3, "service.name": "train.py",
            "service.instance.id": "node1:77",
        }  # fmt: skip
    assert sorted(map(sorted, traces.values())) == [["forward", "forward", "layer", "step"],
                                                    ["step"]]  # fmt: skip


def test_every_histogram(tmp_path):
    written(tmp_path / "a.nvspan", [(0, 1_000_000, "r"), (2_000_000, 5_000_000, "r")])
    with collector() as received:
        sender = sent(tmp_path / "a.nvspan", received.url, roots=[])
    assert sender.problems == []
    found = {metric.name: metric for _, metric in received.metrics}
    assert set(found) == {"nvspan.range.duration", "nvspan.lost_events"}
    durations = found["nvspan.range.duration"]
    assert durations.unit == "s"
    assert durations.exponential_histogram.aggregation_temporality == 2  # cumulative
    (point,) = durations.exponential_histogram.data_points
    assert attributes(point) == {
        "nvspan.domain": "torch", "nvspan.range": "r", "nvspan.kind": "push_pop"
    }  # fmt: skip
    assert (point.count, point.sum, point.min, point.max) == (2, 0.004, 0.001, 0.003)
    base = 2 ** (2**-point.scale)
    held = [base ** (point.positive.offset + at) for at, count in
            enumerate(point.positive.bucket_counts) if count]  # fmt: skip
    assert len(held) == 2
    for low, seconds in zip(held, (0.001, 0.003), strict=True):
        assert low * 0.996 < seconds <= low * base * 1.004
    assert sum(point.positive.bucket_counts) == 2
    (lost,) = found["nvspan.lost_events"].sum.data_points
    assert lost.as_int == 0


def test_which_ranges_histograms_are_made_of(tmp_path):
    with collector() as received:
        sent(a_job(tmp_path / "a.nvspan"), received.url, roots=(), match=["train:l*"])
    points = [point for _, metric in received.metrics
              for point in metric.exponential_histogram.data_points]  # fmt: skip
    assert [attributes(point)["nvspan.range"] for point in points] == ["layer"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"roots": ["train:f*"]}, ["forward", "forward", "layer"]),
        ({"slower_than": 3.5e-6}, ["forward", "forward", "layer", "step"]),
        ({"most": 2}, ["forward", "step", "step"]),
        ({"roots": ["none"]}, []),
    ],
    ids=["roots", "slower", "most", "none"],
)
def test_which_spans_are_sent(tmp_path, options, names):
    with collector() as received:
        sent(a_job(tmp_path / "a.nvspan"), received.url, match=[], **options)
    assert sorted(span.name for _, span in received.spans) == names
    dropped = [attributes(span).get("nvspan.dropped_ranges") for _, span in received.spans]
    assert [count for count in dropped if count] == ([2] if "most" in options else [])


def test_the_sampler_decides_about_whole_steps(tmp_path):
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    path = written(tmp_path / "a.nvspan", [(i * 100, i * 100 + 50, name) for i in range(400)
                   for name in ("step",)]).processes[0]["path"]  # fmt: skip
    with collector() as received:
        sender = sent(path, received.url, match=[], sampler=TraceIdRatioBased(0.25))
        assert 50 < sender.sent < 150
        assert len(received.spans) == sender.sent
        assert sent(path, received.url, match=[], sampler=TraceIdRatioBased(0.0)).sent == 0


def test_what_a_collector_does_not_take_is_sent_later(tmp_path):
    path = a_job(tmp_path / "a.nvspan")
    with collector() as received:
        received.refuse = True
        sender = sent(path, received.url)
        assert sender.problems == ["5 spans could not be sent", "the metrics could not be sent"]
        received.refuse = False
        sender.send()
        assert (sender.problems, sender.sent) == ([], 5)
        sender.send()
    assert len(received.spans) == 5


def test_a_recording_of_statistics_has_no_spans(tmp_path):
    if not nvspan._core.have_nvtx:
        pytest.skip("nvspan was built without NVTX")
    with running(tmp_path, 'import nvspan; nvspan.mark("m"); print("ready")', "stats") as run:
        run.process.wait()
        with collector() as received:
            sender = sent(run.file, received.url)
        assert sender.problems == [f"{run.file}: mode stats keeps no single ranges, so no spans"]
        names = {metric.name for _, metric in received.metrics}
        assert names == {"nvspan.marks", "nvspan.lost_events"}


SERVER = """
import nvspan, nvspan.watch, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
tracer = TracerProvider().get_tracer("app")
with nvspan.record("serve.nvspan", mode=sys.argv[1]):
    with nvspan.watch.OpenTelemetry(roots=["request"], match=[], endpoint=sys.argv[2]) as sender:
        with tracer.start_as_current_span("GET /"):
            with nvspan.annotate("request", payload=nvspan.watch.trace_context):
                with nvspan.annotate("model", payload={"tokens": 9, "shape": [2, 3], "of": "x"},
                                     category="math"):
                    nvspan.mark("cached", payload=-4)
            found = trace.get_current_span().get_span_context()
        with nvspan.annotate("request", payload=nvspan.watch.trace_context):
            pass
print(f"{found.trace_id:032x} {found.span_id:016x} {sender.sent} {sender.problems}")
"""


@needs_library
@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_trace_that_the_program_has_is_joined(tmp_path, mode):
    with collector() as received:
        done = subprocess.run(
            [sys.executable, "-c", SERVER, mode, received.url], cwd=tmp_path, text=True,
            capture_output=True, check=True, timeout=120,
        )  # fmt: skip
    trace_id, span_id, *rest = done.stdout.split(maxsplit=2)
    assert (rest, done.stderr) == (["3 []\n"], "")
    first, alone = (span for _, span in received.spans if span.name == "request")
    model = next(span for _, span in received.spans if span.name == "model")
    assert (first.trace_id.hex(), first.parent_span_id.hex()) == (trace_id, span_id)
    assert (model.trace_id, model.parent_span_id) == (first.trace_id, first.span_id)
    assert (alone.trace_id.hex() != trace_id, alone.parent_span_id) == (True, b"")
    for of in (first, alone):
        assert attributes(of).keys() == {"nvspan.domain", "thread.id", "thread.name"}
    found = attributes(model)
    found.pop("thread.id")
    found.pop("thread.name")
    assert found == {
        "nvspan.domain": "NVTX", "nvspan.category": "math", "nvspan.payload.tokens": 9,
        "nvspan.payload.shape": [2, 3], "nvspan.payload.of": "x",
    }  # fmt: skip
    (event,) = model.events
    assert (event.name, attributes(event)["nvspan.payload"]) == ("cached", -4)
    assert model.start_time_unix_nano <= event.time_unix_nano <= model.end_time_unix_nano


@needs_library
@pytest.mark.parametrize("mode", ["full", "ring=0.2"])
def test_a_running_process_is_followed(tmp_path, mode):
    program = """
import nvspan
for part in range(2):
    for number in range(50):
        with nvspan.step(part * 50 + number), nvspan.annotate("forward"):
            for _ in range(20):
                with nvspan.annotate("x", domain="small"):
                    pass
    print("ready", flush=True)
    input()
"""
    with running(tmp_path, program, mode, until=False) as run, collector() as received:
        command = [sys.executable, "-m", "nvspan", "otlp", "--endpoint", received.url,
                   "--interval", "0.1", "--no-metrics", str(tmp_path)]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
            try:
                for part in range(2):
                    run.wait_for()
                    wanted = 50 * 22 * (part + 1)
                    wait_until(lambda wanted=wanted: len(received.spans) >= wanted, "spans")
                    run.say()
                run.process.wait()
                follower.send_signal(signal.SIGINT)
                assert follower.communicate(timeout=60)[0] == f"{100 * 22} spans sent\n"
            finally:
                follower.kill()
    steps = [attributes(span)["nvspan.payload"] for _, span in received.spans
             if span.name == "step"]  # fmt: skip
    assert sorted(steps) == list(range(100))
    assert len({span.span_id for _, span in received.spans}) == len(received.spans) == 100 * 22


def test_a_device_range_that_seems_to_begin_before_its_root_is_sent(tmp_path):
    """The clock of a GPU is placed within what a busy machine allows."""
    path = tmp_path / "a.nvspan"
    at = 1_000_000_000
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77, host="node1", unix_offset=START)
        thread = writer.thread(process, 70, "main")
        domain = writer.domain(process, "train")
        (step, work) = writer.strings(["step", "work"])
        writer.ranges(thread, domain, at, at + 5000, name=step)
        writer.device_ranges(process, domain, at - 50_000_000, at - 1000, device=0, stream=7,
                             name=work, correlation=1, launched=at + 10, tid=70)  # fmt: skip
    with collector() as received:
        sender = sent(path, received.url, match=[])
    assert (sender.problems, sender.sent) == ([], 2)
    assert {(span.name, span.start_time_unix_nano - START) for _, span in received.spans} == {
        ("step", at), ("work", at - 50_000_000)
    }  # fmt: skip


@needs_library
@pytest.mark.parametrize("mode", ["full", "ring=1"])
@pytest.mark.parametrize("backend", ["exact", "callback"])
def test_device_ranges_of_a_driver_are_linked_to_the_range_that_launched_them(backend, mode):
    with collector() as received:
        sender = sent(recording_of(PROGRAM, backend, mode=mode), received.url, match=[])
    assert (sender.problems, sender.sent) == ([], 3 * 5)
    spans = {span.span_id: span for _, span in received.spans}
    roots = [span for span in spans.values() if not span.parent_span_id]
    assert [(span.name, attributes(span)["nvspan.payload"]) for span in roots] == [
        ("step", 0), ("step", 1), ("step", 2)
    ]  # fmt: skip
    for number, root in enumerate(roots):
        trace = [span for span in spans.values() if span.trace_id == root.trace_id]
        (forward,) = [span for span in trace if span.name == "forward"
                      and "nvspan.device" not in attributes(span)]  # fmt: skip
        device = [span for span in trace if "nvspan.device" in attributes(span)]
        assert len(trace) == 2 + len(device)
        assert forward.parent_span_id == root.span_id
        found = sorted(
            (span.name, attributes(span).get("nvspan.payload"),
             [spans[link.span_id].name for link in span.links], span.parent_span_id == root.span_id)
            for span in device
        )  # fmt: skip
        assert found == [("copy", 0.5, ["step"], True), ("forward", number, ["forward"], True),
                         ("layer", None, ["forward"], True)]  # fmt: skip
        back = {link.span_id for span in (root, forward) for link in span.links}
        assert back == {span.span_id for span in device}
        for span in device:
            assert 0 < span.end_time_unix_nano - span.start_time_unix_nano < 10**9
            # Two clocks, whose difference a busy machine lets be measured so well.
            assert span.start_time_unix_nano >= root.start_time_unix_nano - 10**8


@needs_library
def test_what_a_ring_overwrote_between_two_readings_is_said(tmp_path):
    program = """
import nvspan
for part in (10, 9000):
    for _ in range(part):
        with nvspan.annotate("step"):
            pass
    print("ready", flush=True)
    input()
"""
    with running(tmp_path, program, "ring=0.1") as run, collector() as received:
        sender = watch.OpenTelemetry(run.file, endpoint=received.url, match=[])
        sender.send(at_once=True)
        assert (sender.problems, sender.sent) == ([], 10)
        run.say()
        run.wait_for()
        sender.send(at_once=True)
        (problem,) = sender.problems
        assert problem.startswith(f"{run.file}: ")
        assert problem.endswith(
            " s of events were overwritten between two readings: read more often, or take a "
            "larger ring"
        )
        assert 10 < sender.sent < 9000


def nvspan_otlp(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "nvspan", "otlp", *arguments], cwd=cwd, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


def test_once(tmp_path):
    a_job(tmp_path / "a.nvspan")
    with collector() as received:
        done = nvspan_otlp("--once", "--endpoint", received.url, "--service", "mine", "a.nvspan",
                           cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "5 spans sent\n", "")
    assert {resource["service.name"] for resource, _ in received.spans} == {"mine"}
    assert {metric.name for _, metric in received.metrics} == {
        "nvspan.range.duration", "nvspan.marks", "nvspan.lost_events"
    }  # fmt: skip


def test_once_with_a_collector_that_takes_nothing(tmp_path):
    a_job(tmp_path / "a.nvspan")
    with collector() as received:
        received.refuse = True
        done = nvspan_otlp("--once", "--endpoint", received.url, "a.nvspan", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "0 spans sent\n")
    assert done.stderr == (
        "nvspan: 5 spans could not be sent\nnvspan: the metrics could not be sent\n"
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--sample", "2"], "--sample must be from 0 to 1, not 2.0"),
        (["--no-spans", "--no-metrics"], "--no-spans and --no-metrics leave nothing to send"),
        (["--interval", "0"], "interval must be seconds above 0, not 0.0"),
    ],
)
def test_options_that_are_refused(tmp_path, arguments, error):
    done = nvspan_otlp(*arguments, "a.nvspan", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(f"nvspan otlp: error: {error}\n")


def test_without_the_package(tmp_path):
    code = ("import sys; sys.modules['opentelemetry'] = None; from nvspan.cli import main; "
            "sys.exit(main(['otlp', 'a.nvspan']))")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("nvspan otlp: it needs opentelemetry")
    assert done.stderr.endswith(": pip install 'nvspan[otel]'\n")


def test_arguments_of_wrong_types():
    with pytest.raises(TypeError, match="roots must be a list of patterns"):
        watch.OpenTelemetry(roots="step")
    with pytest.raises(ValueError, match="most must be 1 or more, not 0"):
        watch.OpenTelemetry(most=0)


def test_no_trace_is_no_payload():
    assert watch.trace_context() == {}
