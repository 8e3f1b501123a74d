# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""annotate(device=True): one name for the launches and for the work; sync=True: the CPU range
closes when the work is done."""

from __future__ import annotations

import itertools
import pickle

import pytest

import nvspan
from helpers.device import SYNC_IN_CAPTURE, device_ranges, only_fake, run_device
from helpers.events import plain
from helpers.traced import needs_library, run_plain, run_traced

pytestmark = needs_library


def on_gpu(done):
    found = sorted(device_ranges(done.events), key=lambda r: r["launch"])
    return [(r["domain"], r["message"], r.get("payload")) for r in found]


def test_both_ranges_have_one_name_and_the_same_attributes():
    done = run_device("""
lib = nvspan.Domain("lib")
kept = lib.annotate("kept", color=0x112233, category="c", payload=3, device=True)
for i in range(2):
    with kept as entered:
        assert entered is kept
        cuda.launch(0)
with nvspan.annotate("outer", device=True), nvspan.annotate("inner", payload=1.5, device=True):
    cuda.launch(0)
with nvspan.annotate("span", kind="span", device=True):
    cuda.launch(0)
with nvspan.annotate("plain", device=False, sync=False):
    cuda.launch(0)
assert nvspan.device_flush(30)
assert nvspan.device_stats()["begun"] == 5
assert kept.device and not kept.sync
""")
    kept = ["push [lib] 'kept' category=#1:c payload=i64:3 depth=0", "pop [lib] 'kept' depth=0"]
    assert plain(done.events) == [
        *kept,
        *kept,
        "push [] 'outer' depth=0",
        "push [] 'inner' payload=f64:1.5 depth=1",
        "pop [] 'inner' depth=1",
        "pop [] 'outer' depth=0",
        "start #1 [] 'span'",
        "end #1 [] 'span'",
        "push [] 'plain' depth=0",
        "pop [] 'plain' depth=0",
    ]
    assert on_gpu(done) == [
        ("lib", "kept", 3),
        ("lib", "kept", 3),
        (None, "outer", None),
        (None, "inner", 1.5),
        (None, "span", None),
    ]
    found = device_ranges(done.events)
    assert [r["color"] for r in found if r["message"] == "kept"] == [0xFF112233] * 2
    assert [r["category"] for r in found if r["message"] == "kept"] == [1_000_000_001] * 2


def test_decorated_functions_of_every_sort():
    done = run_device("""
import asyncio
both = nvspan.annotate(device=True)
class Holder:
    @both
    def method(self):
        "Says so."
        cuda.launch(0)
    @both
    @staticmethod
    def static(): return 1
    @property
    @both
    def prop(self): return 2
@nvspan.annotate("named", device=True)
def function(x):
    cuda.launch(0)
    return x
@both
def generator(n):
    got = yield 0
    try:
        yield got
    except KeyError:
        yield "thrown"
    return "returned"
@both
async def coroutine():
    await asyncio.sleep(0)
    return 3
@both
async def async_generator():
    try:
        got = yield 0
        yield got
    except KeyError:
        yield "thrown"
Holder().method(); assert Holder.method.__doc__ == "Says so."
assert Holder.static() == 1 and Holder().prop == 2
assert function(5) == 5 and function.__name__ == "function"
g = generator(1)
assert next(g) == 0 and g.send("sent") == "sent" and g.throw(KeyError) == "thrown"
try: next(g)
except StopIteration as stop: assert stop.value == "returned"
assert asyncio.run(coroutine()) == 3
async def drive():
    a = async_generator()
    assert await a.__anext__() == 0
    assert await a.asend("sent") == "sent"
    assert await a.athrow(KeyError) == "thrown"
    assert [x async for x in a] == []
    b = async_generator()
    await b.__anext__()
    await b.aclose()
    await asyncio.gather(coroutine(), coroutine())
asyncio.run(drive())
assert nvspan.device_flush(30)
stats = {k: v for k, v in nvspan.device_stats().items() if v}
assert stats == {"begun": 10, "sent_exact": 10}, stats
""")
    assert plain(done.events) == [
        "push [] 'method' depth=0",
        "pop [] 'method' depth=0",
        "push [] 'static' depth=0",
        "pop [] 'static' depth=0",
        "push [] 'prop' depth=0",
        "pop [] 'prop' depth=0",
        "push [] 'named' depth=0",
        "pop [] 'named' depth=0",
        "start #1 [] 'generator'",
        "end #1 [] 'generator'",
        "start #2 [] 'coroutine'",
        "end #2 [] 'coroutine'",
        "start #3 [] 'async_generator'",
        "end #3 [] 'async_generator'",
        "start #4 [] 'async_generator'",
        "end #4 [] 'async_generator'",
        "start #5 [] 'coroutine'",
        "start #6 [] 'coroutine'",
        "end #5 [] 'coroutine'",
        "end #6 [] 'coroutine'",
    ]
    expected = ["method", "static", "prop", "named", "generator", "coroutine",
                "async_generator", "async_generator", "coroutine", "coroutine"]  # fmt: skip
    assert [name for _, name, _ in on_gpu(done)] == expected


def test_tasks_that_share_an_object_end_their_own_ranges():
    done = run_device("""
import asyncio
shared = nvspan.annotate("shared", device=True, sync=True)
async def task(first, second):
    with shared:
        cuda.launch(0)
        first.set()
        await second.wait()
async def main():
    a, b = asyncio.Event(), asyncio.Event()
    await asyncio.gather(task(a, b), task(b, a))
asyncio.run(main())
assert nvspan.device_flush(30)
assert nvspan.device_stats()["sent_exact"] == 2
""")
    assert plain(done.events) == [
        "start #1 [] 'shared'", "start #2 [] 'shared'", "end #2 [] 'shared'", "end #1 [] 'shared'",
    ] or plain(done.events) == [
        "start #1 [] 'shared'", "start #2 [] 'shared'", "end #1 [] 'shared'", "end #2 [] 'shared'",
    ]  # fmt: skip


def test_callables_are_asked_once_for_both():
    done = run_device("""
asked = []
def message():
    asked.append(1)
    return f"number {len(asked)}"
with nvspan.annotate(message=message, payload=lambda: len(asked), device=True):
    cuda.launch(0)
assert nvspan.device_flush(30)
assert asked == [1]
""")
    assert plain(done.events) == [
        "push [] 'number 1' payload=i64:1 depth=0", "pop [] 'number 1' depth=0",
    ]  # fmt: skip
    assert on_gpu(done) == [(None, "number 1", 1)]


@pytest.mark.parametrize("device", [True, False])
def test_sync_waits_before_the_cpu_range_closes(device):
    done = run_device(f"""
import ctypes
def idle(stream):
    return cuda.library.cuStreamQuery(ctypes.c_void_p(stream)) == 0
with nvspan.annotate("waits", device={device}, sync=True):
    cuda.launch(0, 50_000_000)
    assert not idle(0)
assert idle(0)
nvspan.mark("after")
with nvspan.annotate("does not", device={device}):
    cuda.launch(0, 50_000_000)
assert not idle(0)
nvspan.disable()
cuda.synchronize()
with nvspan.annotate("nobody listens", device={device}, sync=True):
    cuda.launch(0, 50_000_000)
assert not idle(0)
""")
    assert plain(done.events) == [
        "push [] 'waits' depth=0",
        "pop [] 'waits' depth=0",
        "mark [] 'after'",
        "push [] 'does not' depth=0",
        "pop [] 'does not' depth=0",
    ]


def test_sync_leaves_a_capture_alone():
    done = run_device(SYNC_IN_CAPTURE)
    assert plain(done.events) == ["push [] 'captured' depth=0", "pop [] 'captured' depth=0"]
    assert on_gpu(done) == [(None, "captured", None)] * 2


@only_fake
def test_an_error_of_the_driver_is_the_programs_to_meet():
    done = run_device("""
cuda.fail("cuStreamSynchronize", 700)
with nvspan.annotate("fails", device=True, sync=True):
    cuda.launch(0)
try:
    with nvspan.annotate("raises", device=True, sync=True):
        raise KeyError("the program's")
except KeyError as error:
    assert error.args == ("the program's",) and error.__context__ is None
assert nvspan.device_flush(30)
""")
    assert plain(done.events) == [
        "push [] 'fails' depth=0", "pop [] 'fails' depth=0",
        "push [] 'raises' depth=0", "pop [] 'raises' depth=0",
    ]  # fmt: skip
    assert [name for _, name, _ in on_gpu(done)] == ["fails", "raises"]


def test_without_cuda_there_is_the_cpu_range():
    code = """
import nvspan
for i in range(2):
    with nvspan.annotate("alone", device=True, sync=True, payload=i):
        pass
@nvspan.annotate(device=True)
def function(): return 1
assert function() == 1
"""
    done = run_traced(code, env={"NVSPAN_LIBCUDA": "/nonexistent"})
    assert plain(done.events) == [
        "push [] 'alone' payload=i64:0 depth=0",
        "pop [] 'alone' depth=0",
        "push [] 'alone' payload=i64:1 depth=0",
        "pop [] 'alone' depth=0",
        "push [] 'function' depth=0",
        "pop [] 'function' depth=0",
    ]
    assert done.stderr == ""
    assert run_plain(code).stderr == ""


@pytest.mark.parametrize("name", ["device", "sync"])
def test_arguments(name):
    for make in (nvspan.annotate, nvspan.Domain("lib").annotate):
        with pytest.raises(TypeError, match=f"{name} must be a bool, not 1"):
            make("x", **{name: 1})
        made = make("x", **{name: True})
        assert getattr(made, name)
        assert not getattr(make("x"), name)
    kept = nvspan.annotate("x", kind="span", **{name: True})
    copied = pickle.loads(pickle.dumps(kept))
    assert (copied.kind, copied.device, copied.sync) == (kept.kind, kept.device, kept.sync)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        nvspan.mark("x", **{name: True})


def test_reused_objects_forget_what_they_were():
    for _ in range(3):
        for device, sync in itertools.product((False, True), repeat=2):
            made = [nvspan.annotate("reused", device=device, sync=sync) for _ in range(20)]
            assert {(m.device, m.sync) for m in made} == {(device, sync)}
            del made
            assert not nvspan.annotate("other").device
