# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Daemon threads that are in nvspan's calls into Python when they end: `exit`, because the
interpreter exits (with 7), or `unwound`, because their own code calls pthread_exit().

    python daemon_threads.py exit|unwound CASE... [-- recording]

Each case makes what it needs and returns what its thread does over and over.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import sys
import threading
import time
import warnings

import nvspan
from nvspan import _core

CASES = {}
here = threading.local()
HOW = sys.argv[1]
RECORDING = sys.argv[-1] if "--" in sys.argv else ""


def case(make):
    CASES[make.__name__] = make
    return make


unwinds = case  # one whose thread comes by nap()


def nap(sleep=time.sleep, here=here, how=HOW, turns=range, end=None):
    """Python code in which the thread ends: it gives the GIL up and wants it back."""
    ended = getattr(here, "ended", None)
    if ended is None:
        return  # the main thread's
    if how == "unwound":
        ended.set()
        end(None)
    for _ in turns(50):
        sleep(0)


if HOW == "unwound":
    libc = ctypes.CDLL(None)
    libc.pthread_exit.argtypes = [ctypes.c_void_p]
    nap.__defaults__ = (*nap.__defaults__[:-1], libc.pthread_exit)


class Late:
    """As a global of the main module, it lengthens the interpreter's end, in which threads end."""

    def __del__(self, sleep=time.sleep, seconds=0.3 if sys.version_info >= (3, 11) else 1.5):
        sleep(seconds)


class Index:
    def __index__(self):
        nap()
        return 3


class Dying:
    def __del__(self, nap=nap):
        nap()


class DyingText(str):
    def __del__(self, nap=nap):
        nap()


class DyingList(list):
    def __del__(self, nap=nap):
        nap()


@case
def plain():
    kept = nvspan.annotate("kept")

    @nvspan.annotate
    def function():
        pass

    def work(n):
        with kept, nvspan.annotate("plain"), nvspan.annotate(f"{n}", domain=f"plain {n % 9}"):
            function()
            nvspan.mark(f"{n}")
            nvspan.push_range("p")
            nvspan.pop_range()

    return work


@unwinds
def message():
    def work(n):
        with nvspan.annotate(message=nap):
            pass

    return work


@unwinds
def message_limit():
    def work(n):
        domain = nvspan.Domain(f"{n}")
        domain.set_message_limit(1)
        for each in "abc":
            domain.mark(message=each)

    return work


@unwinds
def array():
    import numpy

    class Array:
        def __array__(self, *args, **kwargs):
            nap()
            return numpy.zeros(3)

    return lambda n: nvspan.mark("m", payload=[Array()])


@unwinds
def check():
    def work(n):
        # each at a line of its own: a call is warned of once
        exec(compile("\n" * (n % 1000) + "nvspan.pop_range('check')", f"{n}", "exec"))

    return work


@unwinds
def attributes():
    attributes = nvspan.Domain("attributes").get_event_attributes("x")

    def work(n):
        attributes.payload = DyingList([1])
        attributes.message = DyingText("x")

    return work


@unwinds
def annotation():
    def work(n):
        with nvspan.annotate(DyingText("m"), payload=DyingList([1])):
            pass

    return work


@case
def garbage():
    gc.set_threshold(50)

    def work(n):
        dying = Dying()
        dying.itself = dying
        with nvspan.annotate(f"m{n}", payload=[1, 2], domain=f"garbage {n % 7}"):
            nvspan.span("x").start().end()

    return work


@case
def reader():
    def work(n):
        recording = nvspan.read(RECORDING)
        recording.stats()

    return work


@unwinds
def reader_progress():
    def work(n):
        reader = nvspan.read(RECORDING)._reader
        reader.write_csv("ranges", "/dev/null", {}, lambda done: nap(), False)

    return work


@unwinds
def profile():
    profile = nvspan.Profile()

    def work(n):
        if n == 0:
            sys.setprofile(lambda *args: nap())  # goes on being called, before CPython 3.12
            profile.enable()
        nap()

    return work


@unwinds
def torch_emit():
    class Function:
        def __init__(self, name):
            nap()

        def __enter__(self):
            nap()

        def __exit__(self, *exc):
            nap()

    _core.torch_emit_enable(True)
    _core.torch_profiler_started(Function)

    def work(n):
        with nvspan.annotate("x"):
            nvspan.mark("y")

    return work


@unwinds
def backward():
    class Node:
        pass

    def number():
        nap()
        return 1

    _core._set_torch_functions(
        tensor_type=Node,
        accumulate_grad_type=Node,
        graph_task_id=lambda *a: None,
        queue_callback=lambda: -1,
        is_grad_enabled=lambda: True,
        sequence_number=number,
        is_compiling=lambda: False,
        compiler={},
        hooked_tensor=None,
        current_node=None,
        is_node_reached=None,
    )
    one = nvspan.annotate("backward")
    followed = _core._follow_backward(lambda: nap(), one, one, False)
    return lambda n: followed()


def stream_of(cuda):
    made = cuda.stream()

    class Stream:
        def __cuda_stream__(self):
            nap()
            return (0, made)

    return Stream()


@unwinds
def device():
    from helpers.gpu import Cuda

    stream = stream_of(Cuda())

    def work(n):
        with nvspan.device_range("a", stream=stream):
            pass

    return work


@case
def device_annotation():
    from helpers.gpu import Cuda

    cuda = Cuda()
    both = nvspan.annotate("d", device=True, sync=True)

    def work(n):
        if n == 0:
            cuda.call("cuCtxSetCurrent", cuda.context)
        with both:
            pass

    return work


@case
def device_flush():
    from helpers.gpu import Cuda

    nvspan.start_device_range("a", stream=Cuda().stream())
    return lambda n: nvspan.device_flush(0.01)


@unwinds
def decorated_function():
    function = nvspan.annotate("f")(lambda: nap())
    return lambda n: function()


@unwinds
def decorated_callable():
    function = nvspan.annotate("f")(functools.partial(nap))
    return lambda n: function()


@unwinds
def decorated_builtin():
    decorated = nvspan.annotate("f")(sorted)
    return lambda n: decorated([1, 2], key=lambda x: nap() or x)


@unwinds
def decorated_generator():
    @nvspan.annotate
    def generator():
        for i in range(3):
            nap()
            yield i

    return lambda n: list(generator())


@unwinds
def decorated_coroutine():
    import asyncio

    @nvspan.annotate
    async def coroutine():
        await asyncio.sleep(0)
        async with nvspan.annotate(message=nap):
            pass

    return lambda n: asyncio.run(coroutine())


@unwinds
def switching():
    @nvspan.annotate
    def function():
        pass

    function()
    sys.addaudithook(lambda name, args: nap() if name == "object.__setattr__" else None)

    def work(n):
        nvspan.disable()
        function()
        nvspan.enable()

    return work


@unwinds
def counter():
    import numpy

    class Number:
        def __float__(self):
            nap()
            return 3.0

    counter = nvspan.Domain("counters").get_counter("c", numpy.float64)
    return lambda n: counter.sample(Number())


# Threads that come by nap(), where nothing has to be made for them.
UNWINDING = {
    "payload": lambda n: nvspan.mark("m", payload=nap),
    "start_range": lambda n: nvspan.end_range(nvspan.start_range("m", payload=nap)),
    "span": lambda n: nvspan.span(message=nap).start().end(),
    "index_color": lambda n: nvspan.mark("m", color=Index()),
    "index_category": lambda n: nvspan.mark("m", category=Index()),
    "check_annotation": lambda n: nvspan.mark("m", payload=nap),
    "domain": lambda n: nvspan.Domain(DyingText(f"domain {n}")).get_category_id(f"{n}"),
    "pybind11_function": lambda n: _core.color_to_argb(Index()),
}
CASES.update((name, lambda work=work: work) for name, work in UNWINDING.items())


def forever(work, ended, running, gate):
    here.ended = ended
    for n in range(2):
        work(n)
    running.release()
    # Threads that went on would keep the GIL from those that are still to begin.
    gate.wait()
    while True:
        n += 1
        work(n)


def main(names):
    global late
    late = Late()
    # Threads that never wait would keep each that does from the GIL for 5 ms a thread.
    sys.setswitchinterval(0.0005)
    warnings.simplefilter("always")
    warnings.showwarning = lambda *args, nap=nap: nap()
    if any(name.startswith("check") for name in names):
        check_mode = nvspan.check()  # noqa: F841
    running = threading.Semaphore(0)
    gate = threading.Event()
    threads = max(1, 4 // len(names)) if HOW == "exit" else 1
    events = {}
    for name in names:
        work = CASES[name]()
        for _ in range(threads):
            ended = events[name] = threading.Event()
            arguments = (work, ended, running, gate)
            threading.Thread(target=forever, args=arguments, daemon=True).start()
        if HOW == "unwound":
            assert ended.wait(20), name
    if HOW == "exit":
        for _ in range(threads * len(names)):
            assert running.acquire(timeout=60)
        gate.set()
    time.sleep(0.05)
    with nvspan.annotate("the main thread goes on"):
        nvspan.mark("and on")
    if library := os.environ.get("INTERPRETER_END"):
        # Says so at the end of Py_FinalizeEx().
        ctypes.pythonapi.Py_AtExit(ctypes.CDLL(library).interpreter_ended)
    print("goes on", flush=True)
    sys.exit(7)


if __name__ == "__main__":
    main([each for each in sys.argv[2:] if each in CASES])
