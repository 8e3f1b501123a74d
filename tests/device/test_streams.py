# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which stream a device range lies on: of every framework, and of a program that has very many."""

from __future__ import annotations

import pytest

from helpers.device import device_ranges, run_device, with_origins
from helpers.events import plain
from helpers.traced import needs_library

pytestmark = needs_library

BACKENDS = ("callback", "exact")


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_streams_than_there_are_partners(backend):
    """Partners of streams that have no range under way serve those that have."""
    done = run_device(f"""
streams = [cuda.stream() for _ in range(300)]
for turn in range(2):
    for i, s in enumerate(streams):
        with nvspan.device_range("work", stream=s, backend={backend!r}, payload=turn * 1000 + i):
            cuda.launch(s, 1000)
        if i % 50 == 49:
            assert nvspan.device_flush(30)
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
assert stats == {{"begun": 600, "sent_{backend}": 600}}, stats
""")
    expected = [turn * 1000 + i for turn in range(2) for i in range(300)]
    if backend == "callback":
        starts = [e for e in with_origins(done.events) if e["kind"] == "start"]
        assert sorted(e["payload"] for e in starts) == expected
        assert len(done.of_kind("end")) == 600
    else:
        found = sorted(device_ranges(done.events), key=lambda r: r["launch"])
        assert [r["payload"] for r in found] == expected
        streams = [r["stream"] for r in found]
        assert len(set(streams)) == 300
        assert streams[:300] == streams[300:]


@pytest.mark.parametrize("backend", BACKENDS)
def test_ranges_on_too_many_streams_at_once_are_counted(backend):
    done = run_device(f"""
streams = [cuda.stream() for _ in range(140)]
handles = [nvspan.start_device_range("open", stream=s, backend={backend!r}) for s in streams]
assert nvspan.device_stats()["full"] == 12
for handle in handles:
    nvspan.end_device_range(handle)
del handle, handles
assert nvspan.device_flush(30)
with nvspan.device_range("after", stream=streams[-1], backend={backend!r}):
    cuda.launch(streams[-1], 1000)
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
assert stats == {{"begun": 129, "sent_{backend}": 129, "full": 12}}, stats
""")
    if backend == "callback":
        assert [e["message"] for e in done.of_kind("start")] == ["open"] * 128 + ["after"]
    else:
        found = sorted(device_ranges(done.events), key=lambda r: r["launch"])
        assert [r["message"] for r in found] == ["open"] * 128 + ["after"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_that_come_and_go_on_many_streams(backend):
    run_device(f"""
import threading
streams = [cuda.stream() for _ in range(400)]
def work(number):
    cuda.call("cuCtxSetCurrent", cuda.context)
    for turn in range(3):
        for s in streams[number::4]:
            with nvspan.device_range("work", stream=s, backend={backend!r}):
                cuda.launch(s, 100)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert nvspan.device_flush(60)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
assert stats.pop("begun") == stats.pop("sent_{backend}"), stats
assert set(stats) <= {{"full"}}, stats
""")


FRAMEWORKS = """
import sys, types
s = cuda.stream()
def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    sys.modules[name] = made
    return made
"""


@pytest.mark.parametrize(
    ("setup", "given"),
    [
        ("class Stream:\n    ptr, device_id, null = s, 0, False\n"
         "cupy = module('cupy')\n"
         "cupy.cuda = types.SimpleNamespace(get_current_stream=Stream, Stream=Stream)", "Stream()"),
        ("import ctypes\n"
         "class Stream:\n    handle = ctypes.c_void_p(s)\n    external = False", "Stream()"),
        ("class Stream:\n    def __cuda_stream__(self): return (0, s)", "Stream()"),
        ("class Stream:\n    cuda_stream, device_index, device_type = s, 0, 1\n"
         "class C:\n"
         "    _cuda_getCurrentRawStream = staticmethod(lambda device: s)\n"
         "    _cuda_getDevice = staticmethod(lambda: 0)\n"
         "cuda_module = module('torch.cuda', is_initialized=lambda: True)\n"
         "module('torch', cuda=cuda_module, _C=C)", "Stream()"),
    ],
    ids=["cupy", "numba", "cuda.core", "torch"],
)  # fmt: skip
def test_streams_of_every_framework(setup, given):
    current = "cupy" in setup or "torch" in setup
    done = run_device(
        FRAMEWORKS
        + setup
        + f"""
kept = nvspan.device_range("kept", stream={given})
for i in range(2):
    with kept:
        cuda.launch(s, 1000)
handle = nvspan.start_device_range("started", stream={given})
nvspan.end_device_range(handle, {given})
nvspan.name_stream({given}, "mine")
if {current}:
    with nvspan.device_range("current"), nvspan.annotate("both", device=True):
        cuda.launch(s, 1000)
    nvspan.name_stream(None, "the current one")
with nvspan.device_range("raw", stream=s):
    cuda.launch(s, 1000)
assert nvspan.device_flush(30)
print(s)
"""
    )
    found = sorted(device_ranges(done.events), key=lambda r: r["launch"])
    expected = ["kept", "kept", "started", *(["current", "both"] if current else []), "raw"]
    assert [r["message"] for r in found] == expected
    assert len({r["stream"] for r in found}) == 1
    assert {r["device"] for r in found} == {0}
    handle = int(done.stdout)
    named = [(e["what"], e["handle"], e["name"]) for e in done.of_kind("name_cuda")]
    mine = [("cu_stream", handle, "mine")]
    assert named == ([*mine, ("cu_stream", handle, "the current one")] if current else mine)
    both = ["push [] 'both' depth=0", "pop [] 'both' depth=0"]
    assert plain(done.events) == (both if current else [])


def test_numbas_default_stream():
    for per_thread, expected in ((1, 2), (0, 0)):
        run_device(f"""
import sys, types
numba = sys.modules["numba"] = types.ModuleType("numba")
numba.config = types.SimpleNamespace(CUDA_PER_THREAD_DEFAULT_STREAM={per_thread})
sys.modules["numba.cuda"] = types.ModuleType("numba.cuda")
assert nvspan._core._stream_target(None) == ({expected}, -1)
""")


def test_an_end_that_alone_is_looked_for_is_found():
    """A stream that waits takes 40 host functions; then the poller looks at events instead."""
    done = run_device("""
s = cuda.stream()
cuda.launch(s, 300_000_000)
held = nvspan.start_device_range("held", stream=s, backend="callback")
for _ in range(20):  # the 40th function is the last beginning
    with nvspan.device_range("one", stream=s, backend="callback"): pass
assert nvspan.device_flush(20)
nvspan.end_device_range(held)
assert nvspan.device_flush(20)
""")
    starts, ends = done.of_kind("start"), done.of_kind("end")
    assert sorted(event["message"] for event in starts) == ["held"] + ["one"] * 20
    assert sorted(event["id"] for event in starts) == sorted(event["id"] for event in ends)
