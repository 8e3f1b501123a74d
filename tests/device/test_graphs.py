# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges in CUDA graphs: every replay shows a range of its own."""

from __future__ import annotations

import pytest

from helpers.device import device_ranges, run_device
from helpers.length import length
from helpers.traced import needs_library

pytestmark = needs_library

BACKENDS = ("callback", "exact")
PLACEMENTS = ("side", "stream")


def names(done, backend):
    if backend == "callback":
        starts, ends = done.of_kind("start"), done.of_kind("end")
        assert sorted(e["id"] for e in starts) == sorted(e["id"] for e in ends)
        return [event["message"] for event in starts]
    found = device_ranges(done.events)
    assert all(r["begin"] <= r["end"] for r in found)
    return [r["message"] for r in sorted(found, key=lambda r: r["begin"])]


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_replay_shows_a_range_of_its_own(backend, placement):
    done = run_device(f"""
s = cuda.stream()
with cuda.capture(s) as graph:
    for i in range(3):
        with nvspan.device_range(f"part {{i}}", stream=s, backend={backend!r},
                                 placement={placement!r}) as handle:
            cuda.launch(s, 200_000)
        assert not handle.done()
assert graph.result == 0, graph.result
executable = graph.instantiate()
executable.launch(s, 5)
cuda.synchronize(s)
assert nvspan.device_flush(30)
assert handle.done()
stats = nvspan.device_stats()
assert {{k: v for k, v in stats.items() if v}} == {{"begun": 3, "sent_{backend}": 15}}, stats
""")
    found = names(done, backend)
    assert sorted(found) == ["part 0"] * 5 + ["part 1"] * 5 + ["part 2"] * 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_lets_its_ranges_go(backend):
    done = run_device(f"""
import time
s = cuda.stream()
for i in range(20):
    with cuda.capture(s) as graph:
        with nvspan.device_range("work", stream=s, backend={backend!r}):
            cuda.launch(s, 1000)
    first, second = graph.instantiate(), graph.instantiate()
    graph.destroy()
    first.launch(s)
    cuda.synchronize(s)
    second.launch(s)
    second.destroy()  # while it runs
    first.destroy()
    if i % 3 == 0:  # never replayed
        with cuda.capture(s) as graph:
            with nvspan.device_range("never", stream=s, backend={backend!r}):
                cuda.launch(s, 1000)
        graph.destroy()
cuda.synchronize(s)
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["work"] * 40


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_range_across_the_border_of_a_capture_is_counted(backend):
    done = run_device(f"""
s = cuda.stream()
across = nvspan.start_device_range("into", stream=s, backend={backend!r})
with cuda.capture(s) as graph:
    nvspan.end_device_range(across)
    out = nvspan.start_device_range("out of", stream=s, backend={backend!r})
    cuda.launch(s, 1000)
    with nvspan.device_range("inside", stream=s, backend={backend!r}):
        cuda.launch(s, 1000)
nvspan.end_device_range(out)
assert graph.result == 0
assert across.lost and out.lost
executable = graph.instantiate()
executable.launch(s, 2)
cuda.synchronize(s)
assert nvspan.device_flush(30)
assert nvspan.device_stats()["capture_boundary"] == 2
""")
    assert [name for name in names(done, backend) if name != "into"] == ["inside"] * 2


def test_capture_skip_leaves_the_graph_alone():
    done = run_device("""
s = cuda.stream()
with cuda.capture(s) as graph:
    with nvspan.device_range("work", stream=s, capture="skip"):
        cuda.launch(s, 1000)
executable = graph.instantiate()
executable.launch(s, 2)
with nvspan.device_range("eager", stream=s, capture="skip"):
    cuda.launch(s, 1000)
assert nvspan.device_flush(30)
assert nvspan.device_stats()["capture_skipped"] == 1
""")
    assert names(done, "exact") == ["eager"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_capture_on_another_thread_is_not_disturbed(backend):
    done = run_device(
        f"""
import threading
captured, ready, go = cuda.stream(), threading.Event(), threading.Event()
def capture():
    cuda.call("cuCtxSetCurrent", cuda.context)
    with cuda.capture(captured, GLOBAL) as graph:
        cuda.launch(captured, 1000)
        ready.set()
        go.wait()
    results.append(graph.result)
results = []
thread = threading.Thread(target=capture); thread.start()
ready.wait()
import ctypes
s = streams[0]
for i in range(30):
    with nvspan.device_range("beside", stream=s, backend={backend!r}):
        cuda.launch(s, 1000)
flushed = nvspan.device_flush(30)
go.set(); thread.join()
assert flushed and results == [0], results
""".replace("captured, ready", "streams = [cuda.stream()]\ncaptured, ready", 1)
    )
    assert names(done, backend) == ["beside"] * 30


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_legacy_stream_during_a_capture_is_refused_not_spoiled(backend):
    done = run_device(f"""
blocking = cuda.stream(0)
with cuda.capture(blocking, THREAD_LOCAL) as graph:
    cuda.launch(blocking, 1000)
    with nvspan.device_range("refused", stream=0, backend={backend!r}):
        pass
assert graph.result == 0
assert nvspan.device_stats()["capture_refused"] == 1
""")
    assert names(done, backend) == []


def test_two_executables_at_once_are_told_apart_or_counted():
    done = run_device("""
a, b = cuda.stream(), cuda.stream()
with cuda.capture(a) as graph:
    with nvspan.device_range("work", stream=a, backend="exact"):
        cuda.launch(a, 300_000)
first, second = graph.instantiate(), graph.instantiate()
for i in range(30):
    first.launch(a)
    second.launch(b)
cuda.synchronize(a); cuda.synchronize(b)
assert nvspan.device_flush(30)
stats = nvspan.device_stats()
assert stats["sent_exact"] + stats["ambiguous"] == 60, stats
assert stats["unpaired"] == 0
cuda.synchronize()
first.launch(a)
cuda.synchronize(a)
assert nvspan.device_flush(30)
assert nvspan.device_stats()["sent_exact"] == stats["sent_exact"] + 1
""")
    assert set(names(done, "exact")) == {"work"}


def test_many_replays_lose_nothing_or_count_it():
    times = length(20, 3)
    done = run_device(
        f"""
s = cuda.stream()
with cuda.capture(s) as graph:
    for i in range(20):
        with nvspan.device_range("part", stream=s, backend="exact"):
            cuda.launch(s, 1000)
executable = graph.instantiate()
for i in range({times}):
    executable.launch(s, 50)
    cuda.synchronize(s)
assert nvspan.device_flush(300)
stats = nvspan.device_stats()
assert stats["sent_exact"] == {1000 * times} or stats["overrun"] > 0, stats
print(stats["sent_exact"])
""",
        timeout=600,  # the fake driver's threads take turns 3,000 times a round
    )
    assert len(names(done, "exact")) == int(done.stdout)


def test_a_captured_range_tells_its_latest_time():
    run_device(
        """
s = cuda.stream()
with cuda.capture(s) as graph:
    with nvspan.device_range("work", stream=s, timing=True) as handle:
        cuda.launch(s, 1_000_000)
executable = graph.instantiate()
assert handle.elapsed() is None
executable.launch(s)
cuda.synchronize(s)
assert nvspan.device_flush(30)
assert handle.done() and handle.elapsed() > 0, handle.elapsed()
""",
        traced=False,
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_clones_show_ranges_and_outlive_the_original(backend):
    done = run_device(f"""
s = cuda.stream()
with cuda.capture(s) as graph:
    with nvspan.device_range("work", stream=s, backend={backend!r}, payload=7):
        cuda.launch(s, 1000)
clone = graph.clone()
graph.destroy()
of_clone = clone.clone()
clone.destroy()
executable = of_clone.instantiate()
of_clone.destroy()
executable.launch(s, 3)
cuda.synchronize(s)
executable.destroy()
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
assert stats == {{"begun": 1, "sent_{backend}": 3}}, stats
""")
    assert names(done, backend) == ["work"] * 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_updated_executable_shows_the_ranges_of_its_new_graph(backend):
    done = run_device(f"""
s = cuda.stream()
def captured(name):
    with cuda.capture(s) as graph:
        with nvspan.device_range(name, stream=s, backend={backend!r}):
            cuda.launch(s, 1000)
    return graph
first = captured("first")
executable = first.instantiate()
first.destroy()
executable.launch(s, 2)
second = captured("second")
executable.update(second)
second.destroy()
executable.launch(s, 3)
cuda.synchronize(s)
executable.destroy()
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
assert stats == {{"begun": 2, "sent_{backend}": 5}}, stats
""")
    assert names(done, backend) == ["first"] * 2 + ["second"] * 3


def test_a_graph_for_launches_from_the_device_takes_kernel_stamps_only():
    """Such graphs, and the bodies of conditional nodes, refuse host nodes when they are made."""
    done = run_device("""
DEVICE_LAUNCH = 4
s = cuda.stream()
def captured(**options):
    with cuda.capture(s) as graph:
        with nvspan.device_range("work", stream=s, **options):
            cuda.launch(s, 1000)
    assert graph.result == 0
    return graph
try:
    captured(backend="callback").instantiate(DEVICE_LAUNCH)
    raise AssertionError("host nodes were taken")
except RuntimeError as error:
    print(error)
captured(backend="callback", capture="skip").instantiate(DEVICE_LAUNCH).launch(s)
executable = captured(backend="exact").instantiate(DEVICE_LAUNCH)
executable.launch(s, 2)
cuda.synchronize(s)
assert nvspan.device_flush(30)
stats = nvspan.device_stats()
assert (stats["capture_skipped"], stats["sent_exact"], stats["sent_callback"]) == (1, 2, 0), stats
""")
    assert "cuGraphInstantiateWithFlags failed with" in done.stdout
    assert names(done, "exact") == ["work"] * 2
