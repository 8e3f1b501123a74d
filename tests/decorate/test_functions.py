# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated Python functions: what they look like, what they do, what keeps them alive."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import pickle
import sys
import traceback
import types
import typing
import warnings
import weakref

import pytest

import nvspan
from helpers.listening import STATES, listening

pytestmark = pytest.mark.parametrize("state", STATES)


@nvspan.annotate
def at_module_level(a: int, b: int = 2, /, *args: str, c: float = 3.0, **kw: object) -> tuple:
    """Gives everything back."""
    return a, b, args, c, kw


def bare(a: int, b: int = 2, /, *args: str, c: float = 3.0, **kw: object) -> tuple:
    """Gives everything back."""
    return a, b, args, c, kw


def test_it_looks_like_the_original(state):
    def original(a: int, b=2, *, c: str = "c") -> float:
        """The doc."""

    original.attribute = ["x"]
    decorated = nvspan.annotate("m")(original)
    with listening(state):
        assert type(decorated) is types.FunctionType
        assert decorated is not original
        assert decorated.__wrapped__ is original
        assert decorated.__globals__ is original.__globals__
        for name in (
            "__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__",
            "__closure__", "__annotations__", "attribute",
        ):  # fmt: skip
            assert getattr(decorated, name) == getattr(original, name), name
        assert inspect.signature(decorated) == inspect.signature(original)
        assert typing.get_type_hints(decorated) == {"a": int, "c": str, "return": float}
        assert inspect.getsource(decorated) == inspect.getsource(original)
        assert vars(decorated) == {"attribute": ["x"], "__wrapped__": original}
        for name in (
            "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_name",
            "co_filename", "co_firstlineno", "co_freevars",
        ):  # fmt: skip
            assert getattr(decorated.__code__, name) == getattr(original.__code__, name), name
        count = original.__code__.co_argcount + original.__code__.co_kwonlyargcount
        assert decorated.__code__.co_varnames[:count] == original.__code__.co_varnames[:count]


def test_idle_it_runs_the_code_of_the_original(state):
    def original():
        pass

    decorated = nvspan.annotate(original)
    with listening(state):
        assert (decorated.__code__ is original.__code__) == (state == "idle")
    assert decorated.__code__ is original.__code__


def test_the_original_stays_untouched(state):
    def original():
        return original.__code__

    code, attributes = original.__code__, dict(vars(original))
    decorated = nvspan.annotate(original)
    with listening(state) as trace:
        assert original() is code
        assert vars(original) == attributes
    assert trace.calls("kind") == []
    assert decorated.__wrapped__ is original


SIGNATURES = [
    "", "a", "a, b=2", "a, /", "a=1, /, b=2", "*, k", "a, *, k=3", "*args", "a, *args", "**kw",
    "a, **kw", "a, /, **kw", "*args, k=1", "a, *args, k, **kw", "a, b=2, *args, k=3, l, **kw",
]  # fmt: skip

CALLS = [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((), {"a": 1}), ((1,), {"k": 5}),
    ((1,), {"k": 5, "l": 6}), ((), {"k": 1}), ((1,), {"a": 2}), ((1,), {"z": 9}),
    ((1, 2, 3), {"k": 1, "l": 2, "z": 3}), ((), {"self": 1}), ((), {"args": 1, "kw": 2}),
]  # fmt: skip


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("kind", [None, "span"])
@pytest.mark.parametrize("free", [False, True])
def test_every_signature_takes_what_the_bare_one_takes(state, signature, kind, free):
    body = f"return {'x, ' if free else ''}locals()"
    source = f"def make():\n x = 'free'\n def f({signature}): {body}\n return f"
    namespace: dict = {}
    exec(source, namespace)
    original = namespace["make"]()
    decorated = nvspan.annotate(kind=kind)(original)

    def result(function, args, kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            return str(error)

    with listening(state) as trace:
        for args, kwargs in CALLS:
            expected = result(original, args, kwargs)
            assert result(decorated, args, kwargs) == expected
    assert trace.balanced()


def test_the_name_of_the_range(state):
    annotation = nvspan.annotate(domain="names")

    @annotate_twice(annotation)
    def one():
        pass

    class Outer:
        @nvspan.annotate(name_from="qualname")
        def method(self):
            pass

    @nvspan.annotate(name_from=lambda function: function.__name__.upper())
    def loud():
        pass

    @nvspan.annotate("given", name_from="qualname")
    def named():
        pass

    with listening(state) as trace:
        one[0]()
        one[1]()
        Outer().method()
        loud()
        named()
    if state == "active":
        assert [m for k, m in trace.calls("kind", "message") if k == "push"] == [
            "one", "again", f"{Outer.__qualname__}.method", "LOUD", "given",
        ]  # fmt: skip


def annotate_twice(annotation):
    def again():
        pass

    return lambda function: (annotation(function), annotation(again))


def test_exceptions_pass_and_close_the_range(state):
    @nvspan.annotate
    def fails():
        raise KeyError("inside")

    with listening(state) as trace:
        for error in (KeyboardInterrupt, SystemExit, MemoryError):

            @nvspan.annotate("other")
            def other(error=error):
                raise error

            with pytest.raises(error):
                other()
        with pytest.raises(KeyError) as caught:
            fails()
    assert caught.value.__context__ is None
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]
    assert names == (["fails", "fails"] if state == "active" else ["fails"])
    assert trace.balanced()
    assert len(trace.calls("kind")) == (8 if state == "active" else 0)


def test_the_extra_frame_points_at_the_definition(state):
    @nvspan.annotate
    def fails():
        raise KeyError

    with listening(state), pytest.raises(KeyError) as caught:
        fails()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}
    if state == "active":
        assert frames[-2].lineno == fails.__wrapped__.__code__.co_firstlineno
    "".join(traceback.format_exception(caught.value))


def test_stacked_decorators(state):
    @nvspan.annotate("outer")
    @nvspan.annotate("inner")
    def function(x):
        return x

    with listening(state) as trace:
        assert function(1) == 1
    assert function.__code__ is function.__wrapped__.__wrapped__.__code__
    if state == "active":
        assert trace.calls("kind", "message", "depth") == [
            ("push", "outer", 0), ("push", "inner", 1), ("pop", "inner", 1), ("pop", "outer", 0),
        ]  # fmt: skip


def test_stacked_while_listening(state):
    def function():
        pass

    inner = nvspan.annotate("inner")(function)
    with listening(state) as trace:
        outer = nvspan.annotate("outer")(inner)
        outer()
    assert outer.__code__ is function.__code__
    if state == "active":
        assert [m for k, m in trace.calls("kind", "message") if k == "push"] == ["outer", "inner"]


def test_recursion_and_local_recursion(state):
    @nvspan.annotate
    def factorial(n):
        return n * factorial(n - 1) if n else 1

    with listening(state) as trace:
        assert factorial(20) == 2432902008176640000
    assert trace.balanced()
    assert len(trace.calls("kind")) == (42 if state == "active" else 0)


def test_pickle_copy_and_weak_references(state):
    with listening(state):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(at_module_level, protocol)) is at_module_level
        assert copy.copy(at_module_level) is at_module_level
        assert copy.deepcopy([at_module_level])[0] is at_module_level
        assert weakref.ref(at_module_level)() is at_module_level
        assert at_module_level(1, 3, "x", c=0.0, d=4) == bare(1, 3, "x", c=0.0, d=4)


def test_types_of_what_is_called(state):
    @nvspan.annotate
    async def coroutine():
        pass

    @nvspan.annotate
    def generator():
        yield

    @nvspan.annotate
    async def async_generator():
        yield

    with listening(state):
        assert inspect.iscoroutinefunction(coroutine)
        if sys.version_info < (3, 14):  # deprecated there
            assert asyncio.iscoroutinefunction(coroutine)
        assert inspect.isgeneratorfunction(generator)
        assert inspect.isasyncgenfunction(async_generator)
        assert inspect.iscoroutinefunction(functools.partial(coroutine))
        made = coroutine()
        assert inspect.iscoroutine(made)
        made.close()


def test_never_awaited_coroutine_warns_the_same(state):
    async def work():
        pass

    def message(function):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            function()
            gc.collect()
        return [str(warning.message) for warning in seen]

    with listening(state):
        assert message(nvspan.annotate(work)) == message(work)


@pytest.mark.parametrize("steps", [3, 4])
def test_asyncio_tasks_cancellation_and_shutdown(state, steps):
    def observe(decorate):
        @decorate
        async def numbers():
            try:
                while True:
                    yield 1
                    await asyncio.sleep(0)
            finally:
                await asyncio.sleep(0)
                log.append("closed")

        @decorate
        async def worker():
            try:
                async for _ in numbers():
                    await asyncio.sleep(0)
            except asyncio.CancelledError:
                log.append("cancelled")
                raise

        @decorate
        async def abandoning():
            async for _ in numbers():
                return

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: log.append(context))
            task = asyncio.ensure_future(worker())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await abandoning()
            left_open.append(numbers())
            await left_open[0].__anext__()

        log: list[object] = []
        left_open: list[typing.Any] = []
        asyncio.run(main())
        return log

    with listening(state) as trace:
        assert observe(nvspan.annotate) == observe(lambda function: function)
    assert trace.balanced()


def test_methods_super_and_class_cell(state):
    class Base:
        @nvspan.annotate
        def __init__(self, value):
            self.value = value

        @nvspan.annotate
        def __getitem__(self, index):
            return index

        @nvspan.annotate
        def __call__(self):
            return self.value

        @property
        @nvspan.annotate
        def prop(self):
            return "prop"

    class Derived(Base):
        @nvspan.annotate("derived")
        def __init__(self, value):
            super().__init__(value)
            assert __class__ is Derived

    with listening(state) as trace:
        for _ in range(40):
            thing = Derived(5)
            assert (thing[3], thing(), thing.prop) == (3, 5, "prop")
    if state == "active":
        assert [m for k, m in trace.calls("kind", "message") if k == "push"] == [
            "derived", "__init__", "__getitem__", "__call__", "prop",
        ] * 40  # fmt: skip


def test_private_names(state):
    class Holder:
        @nvspan.annotate
        def method(self, __x, *, __y=2):
            return __x, __y

    with listening(state):
        assert Holder().method(1) == (1, 2)
        assert Holder().method(1, _Holder__y=3) == (1, 3)


def test_tracers_see_the_call_once_more_at_most(state):
    @nvspan.annotate
    def function():
        return 1

    seen = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "function":
            seen.append((event, frame.f_lineno - function.__wrapped__.__code__.co_firstlineno))
        return tracer

    with listening(state):
        old = sys.gettrace()
        sys.settrace(tracer)
        try:
            function()
        finally:
            sys.settrace(old)
    calls = [event for event, _ in seen if event == "call"]
    assert len(calls) == (2 if state == "active" else 1)
    assert {line for _, line in seen} <= {0, 1, 2}
