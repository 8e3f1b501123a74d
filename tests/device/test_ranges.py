# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges on streams: what the tool is told, in both backends."""

from __future__ import annotations

import itertools

import pytest

from helpers.device import REAL, device_ranges, run_device, with_origins
from helpers.events import plain
from helpers.traced import needs_library

pytestmark = needs_library

BACKENDS = ("callback", "exact")


def names(done, backend):
    """The messages of the device ranges, in the order of their beginnings."""
    if backend == "callback":
        assert device_ranges(done.events) == []
        return [event["message"] for event in done.of_kind("start")]
    # What was lost is told at exit.
    assert all(domain == "nvspan" for (domain,) in done.calls("domain"))
    found = device_ranges(done.events)
    return [r["message"] for r in sorted(found, key=lambda r: r["begin"])]


def test_callback_ranges_of_a_stream_keep_their_order_and_pairs():
    done = run_device("""
s = cuda.stream()
for i in range(3):
    with nvspan.device_range(f"step {i}", stream=s, backend="callback", payload=i, category="c"):
        cuda.launch(s)
        with nvspan.device_range("inner", stream=s, backend="callback", domain="lib", color="red"):
            cuda.launch(s)
assert nvspan.device_flush(30)
stats = nvspan.device_stats()
assert {k: v for k, v in stats.items() if v} == {"begun": 6, "sent_callback": 6}, stats
""")
    expected = []
    for i in range(3):
        expected += [
            f"start #{2 * i + 1} [] 'step {i}' category=#1:c payload=i64:{i}",
            f"start #{2 * i + 2} [lib] 'inner'",
            f"end #{2 * i + 2} [lib] 'inner'",
            f"end #{2 * i + 1} [] 'step {i}'",
        ]
    events = with_origins(done.events)
    assert plain(events) == expected
    origins = [event["origin"] for event in events if event["kind"] == "start"]
    assert [origin["launch"] for origin in origins] == [1, 2, 3, 4, 5, 6]
    assert [origin["device"] for origin in origins] == [0] * 6
    assert len({(o["stream"], o["stream_handle"], o["thread"]) for o in origins}) == 1
    assert all(a["launched"] < b["launched"] for a, b in itertools.pairwise(origins))


def test_exact_ranges_lie_where_the_work_was():
    done = run_device("""
s = cuda.stream()
for i in range(3):
    with nvspan.device_range(f"step {i}", stream=s, backend="exact", payload=i, color=0x112233,
                             category="c"):
        cuda.launch(s, 2_000_000)
assert nvspan.device_flush(30)
stats = nvspan.device_stats()
assert {k: v for k, v in stats.items() if v} == {"begun": 3, "sent_exact": 3}, stats
""")
    assert names(done, "exact") == ["step 0", "step 1", "step 2"]
    found = device_ranges(done.events)
    assert [(r["payload"], r["color"], r["category"], r["device"]) for r in found] == [
        (i, 0xFF112233, 1_000_000_001, 0) for i in range(3)
    ]
    assert len({r["stream"] for r in found}) == 1
    assert [r["launch"] for r in found] == [1, 2, 3]
    for before, after in itertools.pairwise(found):
        assert before["begin"] < before["end"] <= after["end"]


def test_auto_is_exact_with_our_tool():
    done = run_device("""
s = cuda.stream()
with nvspan.device_range("work", stream=s) as handle:
    cuda.launch(s)
assert handle.backend == "exact"
assert nvspan.device_flush(30)
""")
    assert names(done, "exact") == ["work"]


@pytest.mark.parametrize("placement", ["side", "stream"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_streams_at_once_lose_nothing(backend, placement):
    done = run_device(f"""
import threading
def work(number):
    cuda.call("cuCtxSetCurrent", cuda.context)
    s = cuda.stream()
    for i in range(50):
        with nvspan.device_range(f"stream {{number}}", stream=s, backend={backend!r},
                                 placement={placement!r}, payload=i):
            cuda.launch(s, 1000)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert nvspan.device_flush(60)
stats = nvspan.device_stats()
assert {{k: v for k, v in stats.items() if v}} == {{"begun": 200, "sent_{backend}": 200}}, stats
""")
    if backend == "callback":
        events = with_origins(done.events)
        starts = [e for e in events if e["kind"] == "start"]
        assert [sum(e["message"] == f"stream {i}" for e in starts) for i in range(4)] == [50] * 4
        for number in range(4):
            own = [
                e for e in events
                if e["kind"] in ("start", "end") and e["message"] == f"stream {number}"
            ]  # fmt: skip
            assert [e["kind"] for e in own] == ["start", "end"] * 50
            assert [e["payload"] for e in own if e["kind"] == "start"] == list(range(50))
    else:
        found = device_ranges(done.events)
        for number in range(4):
            own = [r for r in found if r["message"] == f"stream {number}"]
            own.sort(key=lambda r: r["launch"])
            assert [r["payload"] for r in own] == list(range(50))
            assert all(a["begin"] <= b["begin"] for a, b in itertools.pairwise(own))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_range_may_end_on_another_stream_and_thread(backend):
    done = run_device(f"""
import threading
a, b = cuda.stream(), cuda.stream()
handles = []
for i in range(20):
    handle = nvspan.start_device_range("crossing", stream=a, backend={backend!r})
    cuda.launch(a, 300_000)
    cuda.launch(b, 1000)
    def end():
        cuda.call("cuCtxSetCurrent", cuda.context)
        nvspan.end_device_range(handle, stream=b)
    thread = threading.Thread(target=end); thread.start(); thread.join()
    nvspan.end_device_range(handle)  # again: nothing
    handles.append(handle)
assert nvspan.device_flush(30)
assert all(h.done() and not h.lost for h in handles)
""")
    assert names(done, backend) == ["crossing"] * 20
    if backend == "callback":
        assert [e["kind"] for e in done.of_kind("start", "end")].count("end") == 20
        opened = set()
        for event in done.of_kind("start", "end"):
            if event["kind"] == "start":
                opened.add(event["id"])
            else:
                opened.remove(event["id"])
        assert opened == set()
    else:
        assert all(r["begin"] <= r["end"] for r in device_ranges(done.events))


def test_timing_works_without_a_tool():
    run_device(
        """
s = cuda.stream()
with nvspan.device_range("work", stream=s, timing=True) as handle:
    cuda.launch(s, 3_000_000)
assert handle.timed
assert nvspan.device_flush(30)
assert handle.done() and handle.elapsed() > 0, handle.elapsed()
with nvspan.device_range("work", stream=s) as idle:
    cuda.launch(s)
assert idle.done() and idle.elapsed() is None and idle.backend is None
assert {k: v for k, v in nvspan.device_stats().items() if v} == {"begun": 1, "timed": 1}
import asyncio
async def main():
    with nvspan.device_range("work", stream=s, timing=True) as handle:
        cuda.launch(s, 2_000_000)
    assert await handle > 0
    assert await idle is None
asyncio.run(main())
""",
        traced=False,
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_timing_beside_a_tool(backend):
    done = run_device(f"""
s = cuda.stream()
with nvspan.device_range("work", stream=s, timing=True, backend={backend!r}) as handle:
    cuda.launch(s, 3_000_000)
assert nvspan.device_flush(30)
assert handle.elapsed() > 0, handle.elapsed()
""")
    assert names(done, backend) == ["work"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_decorators(backend):
    done = run_device(f"""
import asyncio
s = cuda.stream()
mark = nvspan.device_range(stream=s, backend={backend!r})
@mark
def plain(x):
    cuda.launch(s)
    return x + 1
@mark
async def coroutine(x):
    cuda.launch(s)
    await asyncio.sleep(0)
    return x + 2
@mark
def generator(n):
    for i in range(n):
        yield i
@mark
async def async_generator(n):
    for i in range(n):
        yield i
@nvspan.Domain("lib").device_range("named", stream=s, backend={backend!r})
def other():
    cuda.launch(s)
assert plain(1) == 2 and plain.__name__ == "plain"
assert asyncio.run(coroutine(1)) == 3
assert list(generator(3)) == [0, 1, 2]
async def collect():
    return [i async for i in async_generator(2)]
assert asyncio.run(collect()) == [0, 1]
other()
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["plain", "coroutine", "generator", "async_generator", "named"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_work_still_pending_at_exit_is_told_or_counted(backend):
    done = run_device(f"""
s = cuda.stream()
for i in range(5):
    with nvspan.device_range("late", stream=s, backend={backend!r}):
        cuda.launch(s, 5_000_000)
""")
    assert names(done, backend) == ["late"] * 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_process_that_ends_at_once_neither_hangs_nor_crashes(backend):
    done = run_device(f"""
import os
s = cuda.stream()
for i in range(5):
    with nvspan.device_range("late", stream=s, backend={backend!r}):
        cuda.launch(s, 50_000_000)
os._exit(0)
""")
    assert done.returncode == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_forked_child_places_nothing(backend):
    done = run_device(f"""
import os
s = cuda.stream()
with nvspan.device_range("parent", stream=s, backend={backend!r}):
    cuda.launch(s)
pid = os.fork()
if pid == 0:
    with nvspan.device_range("child", stream=s, backend={backend!r}, timing=True) as handle:
        pass
    code = 0 if handle.done() and not nvspan.device_available() and nvspan.device_flush() else 1
    os._exit(code)
assert os.waitpid(pid, 0)[1] == 0
with nvspan.device_range("parent again", stream=s, backend={backend!r}):
    cuda.launch(s)
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["parent", "parent again"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_destroyed_context_loses_its_ranges_and_nothing_else(backend):
    done = run_device(f"""
import time
other = cuda.new_context()
s = cuda.stream()
with nvspan.device_range("before", stream=s, backend={backend!r}, timing=True) as first:
    cuda.launch(s)
assert nvspan.device_flush(30) and not first.lost
handle = nvspan.start_device_range("lost", stream=s, backend={backend!r})
import ctypes
cuda.call("cuCtxDestroy_v2", ctypes.c_void_p(other))
nvspan.end_device_range(handle)
cuda.use(0)
assert nvspan.device_flush(30)
s = cuda.stream()
with nvspan.device_range("after", stream=s, backend={backend!r}):
    cuda.launch(s)
assert nvspan.device_flush(30)
""")
    assert [n for n in names(done, backend) if n != "lost"] == ["before", "after"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("flushed_by", ["owner", "another"])
def test_a_context_that_may_be_destroyed_gets_kernels_from_its_own_threads_alone(
    backend, flushed_by
):
    done = run_device(f"""
import ctypes, threading, time
def flush():
    assert nvspan.device_flush(30)
for turn in range(3):
    own = cuda.new_context()
    s = cuda.stream()
    for i in range(8):
        with nvspan.device_range(f"{{turn}}.{{i}}", stream=s, backend={backend!r}):
            cuda.launch(s)
        time.sleep(0.01)
    if {flushed_by!r} == "owner":
        flush()
    else:
        thread = threading.Thread(target=flush); thread.start(); thread.join()
    cuda.call("cuCtxDestroy_v2", ctypes.c_void_p(own))
cuda.use(0)
assert nvspan.device_stats()["context_lost"] == 0
""")
    # Each context has a clock of its own: the ranges of two are as far apart as these clocks say.
    shown = sorted(names(done, backend), key=lambda name: name.split(".")[0])
    assert shown == [f"{turn}.{i}" for turn in range(3) for i in range(8)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reset_device_is_used_again(backend):
    done = run_device(f"""
s = cuda.stream()
with nvspan.device_range("before", stream=s, backend={backend!r}):
    cuda.launch(s)
assert nvspan.device_flush(30)
cuda.call("cuDevicePrimaryCtxReset_v2", 0)
cuda.use(0)
s = cuda.stream()
for i in range(3):
    with nvspan.device_range("after", stream=s, backend={backend!r}):
        cuda.launch(s)
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["before"] + ["after"] * 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_stream_destroyed_with_ranges_pending(backend):
    done = run_device(f"""
import ctypes
for i in range(5):
    s = cuda.stream()
    with nvspan.device_range("work", stream=s, backend={backend!r}):
        cuda.launch(s, 2_000_000)
    cuda.call("cuStreamDestroy_v2", ctypes.c_void_p(s))
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["work"] * 5


@pytest.mark.parametrize("stream", [0, 1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_default_streams(backend, stream):
    done = run_device(f"""
for i in range(3):
    with nvspan.device_range("default", stream={stream}, backend={backend!r}):
        cuda.launch({stream})
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["default"] * 3


def test_without_a_stream_it_is_the_default_stream():
    done = run_device("""
with nvspan.device_range("default"):
    cuda.launch(0)
assert nvspan.device_flush(30)
""")
    assert names(done, "exact") == ["default"]


def test_before_cuda_is_initialised_nothing_happens():
    done = run_device(
        """
with nvspan.device_range("early", timing=True) as handle:
    pass
assert handle.done() and handle.elapsed() is None
assert not nvspan.device_available()
assert nvspan.device_problem() == "CUDA is not initialized in this process"
stats = nvspan.device_stats()
assert stats["no_cuda"] == 1 and stats["begun"] == 0
class cuda:
    misuses = staticmethod(lambda: 0)
""",
        preamble="import nvspan\n",
    )
    assert done.calls() == []
    assert device_ranges(done.events) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_launch_far_ahead_of_the_gpu_does_not_wait_for_it(backend):
    long = 400_000_000 if REAL else 100_000_000_000  # ns; the fake driver's kernel is ended
    done = run_device(f"""
import ctypes, time
s = cuda.stream()
with nvspan.device_range("warm", stream=s, backend={backend!r}):
    cuda.launch(s, 1000)
assert nvspan.device_flush(30)
cuda.launch(s, {long})
began = time.monotonic()
for i in range(150):
    with nvspan.device_range("ahead", stream=s, backend={backend!r}, payload=i):
        cuda.launch(s, 1000)
took = time.monotonic() - began
assert cuda.library.cuStreamQuery(ctypes.c_void_p(s)) != 0, took
cuda.end_kernels()
assert nvspan.device_flush(30)
""")
    assert names(done, backend) == ["warm"] + ["ahead"] * 150
    if backend == "callback":
        own = [
            e for e in with_origins(done.events)
            if e["kind"] in ("start", "end") and e["message"] == "ahead"
        ]  # fmt: skip
        assert [e["kind"] for e in own] == ["start", "end"] * 150
        assert [e["payload"] for e in own if e["kind"] == "start"] == list(range(150))


def test_what_lay_in_the_memory_of_a_range_before_does_not_matter():
    """From CPython 3.12 on a reference count of set bits is that of an immortal object."""
    done = run_device("""
s = cuda.stream()
size = nvspan.device_range.__basicsize__ - bytes().__sizeof__()
for i in range(100):
    set_bits = [b"\\xff" * size for _ in range(100)]
    del set_bits
    with nvspan.device_range(f"range {i}", stream=s, backend="exact", payload=i):
        pass
assert nvspan.device_flush(30)
""")
    found = sorted(device_ranges(done.events), key=lambda r: r["launch"])
    assert [(r["message"], r["payload"]) for r in found] == [(f"range {i}", i) for i in range(100)]
