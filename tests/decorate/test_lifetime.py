# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What users assign to decorated functions, what keeps them alive, switching while they run."""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import pickle
import threading
import weakref

import pytest

import nvspan
from helpers.listening import STATES, listening
from helpers.packages import needs
from nvspan import _core

pytestmark = pytest.mark.parametrize("state", STATES)


def other():
    return "other"


def test_changed_defaults_take_effect(state):
    @nvspan.annotate
    def function(a=1, *, b=2):
        return a, b

    with listening(state):
        function.__defaults__ = (10,)
        function.__kwdefaults__ = {"b": 20}
        assert function() == (10, 20)
    assert function() == (10, 20)
    with listening(state):
        assert function() == (10, 20)


def test_assigned_code_wins(state):
    x = 1

    def first():
        return "first", x

    def second():
        return "second", x

    decorated = nvspan.annotate("name")(first)
    with listening(state) as trace:
        decorated.__code__ = second.__code__
        assert decorated() == ("second", 1)
    assert trace.calls("kind") == []
    assert decorated.__code__ is second.__code__
    with listening(state) as trace:
        assert decorated() == ("second", 1)
    assert decorated.__code__ is second.__code__
    assert len(trace.calls("kind")) == (2 if state == "active" else 0)


def test_code_derived_from_the_generated_one(state):
    decorated = nvspan.annotate(lambda: "result")
    with listening(state) as trace:
        decorated.__code__ = decorated.__code__.replace(co_name="renamed", co_firstlineno=7)
        assert decorated() == "result"
    assert (decorated.__code__.co_name, decorated.__code__.co_firstlineno) == ("renamed", 7)
    assert trace.balanced()
    with listening(state) as trace:
        assert decorated() == "result"
    assert len(trace.calls("kind")) == (2 if state == "active" else 0)


def test_overwritten_wrapped(state):
    y = 1

    def make():
        def function(x, *, k=2):
            nonlocal y
            y += 1
            return function, x, k

        return nvspan.annotate("name")(function)

    decorated = make()
    functools.wraps(other)(decorated)
    gc.collect()
    assert decorated.__wrapped__ is other
    with listening(state) as trace:
        _, x, k = decorated(5)
    assert (x, k, y) == (5, 2, 2)
    assert len(trace.calls("kind")) == (2 if state == "active" else 0)


@pytest.mark.parametrize("kind", [None, "span"])
def test_nothing_is_left_of_a_local_function(state, kind):
    def make():
        big = type("Big", (), {})()

        @nvspan.annotate(kind=kind)
        def recursive(n):
            return recursive(n - 1) if n else big

        recursive(1)
        return weakref.ref(recursive), weakref.ref(recursive.__wrapped__), weakref.ref(big)

    with listening(state):
        before = make()
    with listening(state):
        inside = make()
        gc.collect()
        assert [reference() for reference in (*before, *inside)] == [None] * 6


def test_callables_of_the_annotation_do_not_leak(state):
    class Server:
        def __init__(self):
            self.step = 0
            self.run = nvspan.annotate(payload=lambda: self.step)(self.serve)

        def serve(self):
            return self.step

    with listening(state) as trace:
        server = Server()
        assert server.run() == 0
        reference = weakref.ref(server)
        del server
        gc.collect()
        assert reference() is None
    assert trace.calls("payload")[:1] == ([(0,)] if state == "active" else [])


def test_many_short_lived_functions(state):
    with listening(state):
        for _ in range(3):
            count = _core._decorated.count()
            for i in range(500):
                nvspan.annotate("x")(lambda i=i: i)()
            gc.collect()
            assert _core._decorated.count() <= count


def test_suspended_call_of_a_function_that_is_gone(state):
    def make():
        cell = "cell"

        @nvspan.annotate
        def generator(x):
            yield x, cell

        @nvspan.annotate
        async def coroutine(x):
            return x, cell

        return generator(1), coroutine(2)

    with listening(state):
        generator, coroutine = make()
        gc.collect()
        assert list(generator) == [(1, "cell")]
        assert asyncio.run(coroutine) == (2, "cell")


@needs("cloudpickle")
def test_serialised_by_value(state):
    import cloudpickle

    factor = 3

    def function(x, *, k=1):
        return x * factor + k

    function.__module__ = "__main__"
    decorated = nvspan.annotate("by value")(function)
    with listening(state):
        again = pickle.loads(cloudpickle.dumps(decorated))
        assert again(2) == 7
        assert again(2, k=0) == 6
    assert again(2) == 7


def test_switch_under_calls_in_other_threads(state):
    @nvspan.annotate
    def function(x):
        return x

    @nvspan.annotate
    def generator(x):
        for i in range(3):
            yield x + i

    stop = threading.Event()
    wrong = []

    def work():
        for i in itertools.count():
            if function(i) != i or list(generator(i)) != [i, i + 1, i + 2]:
                wrong.append(i)
            if i % 50 == 0:
                nvspan.annotate(lambda: 1)()
            if stop.is_set():
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with listening(state):
                gc.collect(0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong == []
