# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of Prometheus: what a scrape gives, parsed by the package's own parser."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.lines import next_line
from helpers.live import running, wait_until
from helpers.packages import needs
from helpers.traced import needs_library, nvspan_command, python
from helpers.written import written
from nvspan.watch import PrometheusCollector, ring

pytestmark = needs("prometheus_client")

LOOP = """
import nvspan, sys
def work(n):
    for i in range(n):
        with nvspan.annotate("step", domain="train"):
            with nvspan.annotate("forward"):
                pass
    nvspan.mark("epoch")
work(3)
held = nvspan.start_range("request")
print("ready", flush=True)
input()
work(4)
nvspan.end_range(held)
print("ready", flush=True)
input()
"""


def parsed(text):
    """{(sample, its labels but those that differ from run to run): value}."""
    from prometheus_client.parser import text_string_to_metric_families

    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = [item for item in sample.labels.items() if item[0] not in ("host", "file")]
            found[(sample.name, *sorted(labels))] = sample.value
    return found


def exposed(collector):
    import prometheus_client

    registry = prometheus_client.CollectorRegistry()
    registry.register(collector)
    return prometheus_client.generate_latest(registry).decode()


def scraped(collector):
    return parsed(exposed(collector))


def output_of(program, folder):
    """What Python code prints."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def of_process(pid, rank=""):
    def key(name, **labels):
        return (name, *sorted({"pid": str(pid), "rank": rank, **labels}.items()))

    return key


def counts(found, key):
    """The calls of the ranges "step", "forward" and "request" of the program above."""
    sample = "nvspan_range_duration_seconds_count"
    return [
        found.get(key(sample, domain=domain, range=name, kind=kind))
        for domain, name, kind in (
            ("train", "step", "push_pop"),
            ("NVTX", "forward", "push_pop"),
            ("NVTX", "request", "start_end"),
        )
    ]


def test_every_sample_of_a_recording(tmp_path):
    written(
        tmp_path / "a.nvspan",
        [(0, 1_000_000, "step"), (2_000_000, 5_000_000, "step")],
        backward=[(0, 20_000, "layer")],
        device=[(100, 7_000_100, "step")],
        domain_name="train",
    )
    found = scraped(PrometheusCollector(tmp_path / "a.nvspan", buckets=[0.002, 0.004]))
    key = of_process(77)

    def histogram(name, kind, at_most, total, seconds):
        labels = {"domain": "train", "range": name, "kind": kind}
        sample = "nvspan_range_duration_seconds"
        ends = zip(("0.002", "0.004", "+Inf"), (*at_most, total), strict=True)
        return {
            **{key(f"{sample}_bucket", le=end, **labels): count for end, count in ends},
            key(f"{sample}_count", **labels): total,
            key(f"{sample}_sum", **labels): seconds,
        }

    assert found == {
        **histogram("step", "push_pop", (1, 2), 2, 0.004),
        **histogram("layer (backward)", "start_end", (1, 1), 1, 2e-5),
        **histogram("step", "device", (0, 0), 1, 0.007),
        key("nvspan_lost_events_total"): 0,
        key("nvspan_missed_ranges_total"): 0,
        key("nvspan_unseen_seconds_total"): 0,
        key("nvspan_recording_info", mode="full"): 1,
        ("nvspan_unreadable_recordings",): 0,
    }


@needs_library
@pytest.mark.parametrize("mode", ["stats", "full"])
def test_a_scrape_over_http_follows_a_running_process(tmp_path, mode):
    with running(tmp_path, LOOP, mode, rank=3) as run:
        command = [sys.executable, "-m", "nvspan", "metrics", "--port", "0", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                url = next_line(server).strip()

                def scrape():
                    with urllib.request.urlopen(url, timeout=30) as answer:
                        kind = answer.headers["Content-Type"]
                        assert kind.startswith("text/plain; version=")
                        return parsed(answer.read().decode())

                key = of_process(run.pid, "3")
                opened = key("nvspan_ranges_open", domain="NVTX", range="request")
                marks = key("nvspan_marks_total", domain="NVTX", mark="epoch")
                first = scrape()
                assert counts(first, key) == [3, 3, None]
                assert (first[opened], first[marks]) == (1, 1)
                assert first[key("nvspan_events_total")] >= 14
                assert first[key("nvspan_recording_info", mode=mode)] == 1
                run.say()
                run.wait_for()
                second = scrape()
                assert counts(second, key) == [7, 7, 1]
                assert (second.get(opened), second[marks]) == (None, 2)
            finally:
                server.terminate()


def test_scrapes_leave_no_memory_behind(tmp_path):
    """Each reads all of a recording of 20,000 ranges, which would be 2 MB more."""
    calls = [(at, at + 500, f"range {at // 1000 % 50}") for at in range(0, 20_000_000, 1000)]
    written(tmp_path / "a.nvspan", calls)
    command = [sys.executable, "-m", "nvspan", "metrics", "--port", "0", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = next_line(server).strip()

            def resident_after(scrapes):
                for _ in range(scrapes):
                    with urllib.request.urlopen(url, timeout=30) as answer:
                        assert b"range 49" in answer.read()
                with open(f"/proc/{server.pid}/statm") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

            after_five = resident_after(5)
            assert resident_after(35) < after_five + 5_000_000
        finally:
            server.terminate()


@needs_library
def test_the_own_process_by_its_recorder(tmp_path):
    program = """
import nvspan, nvspan.watch, prometheus_client
recorder = nvspan.record("own.nvspan", mode="stats")
prometheus_client.REGISTRY.register(nvspan.watch.PrometheusCollector(match=["train:*"]))
with recorder:
    for _ in range(5):
        with nvspan.annotate("step", domain="train"), nvspan.annotate("other"):
            pass
    print(prometheus_client.generate_latest().decode())
"""
    lines = output_of(program, tmp_path).splitlines()
    (line,) = [line for line in lines if "range=" in line and "_count" in line]
    assert 'domain="train"' in line
    assert line.endswith(" 5.0")


@needs_library
def test_an_armed_process_has_its_events_and_open_ranges(tmp_path):
    with running(tmp_path, LOOP) as run:
        collector = PrometheusCollector(run.pid)
        key = of_process(run.pid)
        first = scraped(collector)
        assert first[key("nvspan_ranges_open", domain="NVTX", range="request")] == 1
        run.say()
        run.wait_for()
        grown = key("nvspan_events_total")
        assert scraped(collector)[grown] - first[grown] == 18


@needs_library
def test_a_ring_counts_each_range_once_whatever_it_overwrites(tmp_path, monkeypatch):
    monkeypatch.setattr(ring, "SETTLED", 0)
    program = """
import nvspan
held = nvspan.start_range("held")
nvspan.push_range("outer")
for part in range(12):
    for _ in range(1500):
        with nvspan.annotate("step"):
            pass
    print("ready", flush=True)
    input()
nvspan.pop_range()
nvspan.end_range(held)
print("ready", flush=True)
input()
"""
    with running(tmp_path, program, "ring=0.1", until=False) as run:
        collector = PrometheusCollector(run.file)
        key = of_process(run.pid)

        def calls(name, kind="push_pop"):
            sample = "nvspan_range_duration_seconds_count"
            return scraped(collector).get(key(sample, domain="NVTX", range=name, kind=kind))

        for part in range(12):
            run.wait_for()
            wait_until(lambda wanted=1500 * (part + 1): calls("step") == wanted, "all that ended")
            assert calls("outer") is None
            run.say()
        run.wait_for()
        wait_until(lambda: calls("outer") == 1, "the end of what was open")
        assert calls("step") == 18000
        # The begin of a start/end range is gone when the ring has come round.
        assert calls("held", "start_end") is None
        found = scraped(collector)
        assert found[key("nvspan_missed_ranges_total")] == 1
        assert found[key("nvspan_unseen_seconds_total")] == 0


@needs_library
def test_what_a_ring_overwrote_between_two_scrapes_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(ring, "SETTLED", 0)
    program = """
import nvspan
for part in (10, 9000):
    for _ in range(part):
        with nvspan.annotate("step"):
            pass
    print("ready", flush=True)
    input()
"""
    with running(tmp_path, program, "ring=0.1") as run:
        collector = PrometheusCollector(run.file)
        unseen = of_process(run.pid)("nvspan_unseen_seconds_total")
        assert scraped(collector)[unseen] == 0
        run.say()
        run.wait_for()
        assert 0 < scraped(collector)[unseen] < 30


@needs_library
def test_a_process_that_comes_later_is_found(tmp_path):
    collector = PrometheusCollector(str(tmp_path / "run-*.nvspan"))
    assert scraped(collector) == {("nvspan_unreadable_recordings",): 1}
    with running(tmp_path, LOOP, "stats") as run:
        found = scraped(collector)
        assert counts(found, of_process(run.pid))[0] == 3
        assert found["nvspan_unreadable_recordings",] == 0
        run.end()
        assert counts(scraped(collector), of_process(run.pid))[0] == 3


def test_a_name_that_is_not_utf_8(tmp_path):
    written(tmp_path / "a.nvspan", [(0, 1000, 'a\nb"c')], domain_name="d\\e")
    labels = {"domain": "d\\e", "range": 'a\nb"c', "kind": "push_pop"}
    key = of_process(77)("nvspan_range_duration_seconds_count", **labels)
    assert scraped(PrometheusCollector(tmp_path / "a.nvspan"))[key] == 1


def nvspan_metrics(*arguments, cwd):
    return nvspan_command("metrics", *arguments, cwd=cwd)


def test_once_prints_the_metrics(tmp_path):
    written(tmp_path / "a.nvspan", [(0, 1000, "step")])
    done = nvspan_metrics("--once", "--match", "st*", "--buckets", "1,2", "a.nvspan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    buckets = [value for (name, *_), value in parsed(done.stdout).items() if "bucket" in name]
    assert buckets == [1, 1, 1]


def test_once_shows_no_escapes_of_a_name(tmp_path):
    written(tmp_path / "a\x1b[2J.nvspan", [(0, 1000, "evil\x1b[31m")])
    done = nvspan_metrics("--once", "a\x1b[2J.nvspan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert 'range="evil\\x1b[31m"' in done.stdout
    assert 'file="a\\x1b[2J.nvspan"' in done.stdout


def test_once_without_a_file(tmp_path):
    done = nvspan_metrics("--once", "b.nvspan", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "nvspan: b.nvspan: there is no such file\n"


@pytest.mark.parametrize("buckets", ["1,x", "2,1", "0"])
def test_buckets_that_are_refused(tmp_path, buckets):
    done = nvspan_metrics("--once", "--buckets", buckets, "b.nvspan", cwd=tmp_path)
    assert done.returncode == 2
    assert "nvspan metrics: error: --buckets: " in done.stderr


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = nvspan_metrics("--port", str(port), "b.nvspan", cwd=tmp_path)
    assert done.returncode == 1
    assert f"nvspan metrics: cannot listen on 127.0.0.1 port {port}: " in done.stderr


def test_without_the_package(tmp_path):
    code = "import sys; sys.modules['prometheus_client'] = None; from nvspan.cli import main; "
    code += "sys.exit(main(['metrics', 'a.nvspan']))"
    done = python("-c", code)
    said = "nvspan metrics: it needs prometheus_client: pip install 'nvspan[prometheus]'\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_arguments_of_wrong_types():
    with pytest.raises(TypeError, match=r"a target must be a process id or a path, not 1\.5"):
        PrometheusCollector(1.5)
    with pytest.raises(TypeError, match="match must be a list of patterns"):
        PrometheusCollector(match="step")


def test_nothing_waits_for_the_collector_to_be_described():
    assert PrometheusCollector().describe() == []


@needs_library
def test_two_threads_may_scrape(tmp_path):
    with running(tmp_path, LOOP, "stats") as run, ThreadPoolExecutor(4) as pool:
        collector, start = PrometheusCollector(run.pid), threading.Barrier(4)

        def scrape(_):
            start.wait()
            return len(scraped(collector))

        assert len(set(pool.map(scrape, range(4)))) == 1


@needs_library
def test_a_forked_child_reads_its_own_recording(tmp_path):
    program = """
import nvspan, nvspan.watch, os, prometheus_client
registry = prometheus_client.CollectorRegistry()
registry.register(nvspan.watch.PrometheusCollector())
def calls():
    text = prometheus_client.generate_latest(registry).decode()
    lines = [line for line in text.splitlines() if "seconds_count" in line]
    return [(f'pid="{os.getpid()}"' in line, line.rpartition(" ")[2]) for line in lines]
with nvspan.record("run-{pid}.nvspan", mode="stats"):
    with nvspan.annotate("before"):
        pass
    print(calls(), flush=True)
    child = os.fork()
    for _ in range(2 if child else 3):
        with nvspan.annotate("before"):
            pass
    if child:
        assert os.waitpid(child, 0)[1] == 0
    print(calls(), flush=True)
    if not child:
        os._exit(0)
"""
    assert output_of(program, tmp_path) == "[(True, '1.0')]\n[(True, '3.0')]\n[(True, '3.0')]\n"


@needs_library
def test_recordings_that_a_process_made_one_after_the_other_are_together(tmp_path):
    program = """
import nvspan
for part in range(3):
    with nvspan.record(f"run-{part}.nvspan", mode="stats"):
        for _ in range(part + 1):
            with nvspan.annotate("step"):
                pass
"""
    output_of(program, tmp_path)
    text = exposed(PrometheusCollector(tmp_path))
    calls = [value for (name, *_), value in parsed(text).items() if name.endswith("seconds_count")]
    assert calls == [6]
    lines = text.splitlines()
    assert sum(line.startswith("nvspan_recording_info{") for line in lines) == 3
    series = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(series) == len(set(series))


@needs_library
def test_copies_in_a_bundle_are_not_counted_again(tmp_path):
    with running(tmp_path, LOOP, "ring=1") as run:
        command = [sys.executable, "-m", "nvspan", "trigger", str(tmp_path)]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        (copy,) = (path for path in tmp_path.rglob("*.nvspan") if path != run.file)
        run.say()
        run.wait_for()

        def files(*targets):
            text = exposed(PrometheusCollector(*targets))
            return re.findall(r'^nvspan_recording_info\{.*file="([^"]*)"', text, re.MULTILINE)

        assert files(copy, run.file) == [str(run.file)]
        assert files(copy) == [str(copy)]
