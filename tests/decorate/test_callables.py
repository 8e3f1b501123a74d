# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated descriptors, partials, builtins and callable objects keep their type and behaviour."""

from __future__ import annotations

import asyncio
import builtins
import copy
import functools
import gc
import inspect
import math
import operator
import pickle
import types
import weakref

import pytest

import nvspan
from helpers.listening import STATES, listening

pytestmark = pytest.mark.parametrize("state", STATES)


def check(trace, state, names):
    assert trace.balanced()
    assert trace.opened() == (names if state == "active" else [])


class Call:
    """A callable with a bit of everything."""

    kept = "class attribute"

    def __init__(self, factor=2):
        self.factor = factor

    def __call__(self, x, *, y=0):
        return x * self.factor + y

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return ("item", index)

    def __iter__(self):
        return iter("abc")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def __add__(self, other):
        return ("added", other)

    def __eq__(self, other):
        return isinstance(other, Call) and other.factor == self.factor

    def __hash__(self):
        return hash(self.factor)

    def method(self):
        return self


SHARED = nvspan.annotate("shared")(Call(7))
decorated_builtin = nvspan.annotate(math.sqrt)


def test_static_and_class_methods(state):
    class Holder:
        @nvspan.annotate
        @staticmethod
        def outer_static(x):
            """Doc."""
            return x

        @staticmethod
        @nvspan.annotate
        def inner_static(x):
            return x

        @nvspan.annotate
        @classmethod
        def outer_class(cls, x):
            return cls, x

        @classmethod
        @nvspan.annotate
        def inner_class(cls, x):
            return cls, x

    with listening(state) as trace:
        for owner in (Holder, Holder()):
            assert owner.outer_static(1) == owner.inner_static(1) == 1
            assert owner.outer_class(1) == owner.inner_class(1) == (Holder, 1)
    assert type(vars(Holder)["outer_static"]) is staticmethod
    assert type(vars(Holder)["outer_class"]) is classmethod
    assert Holder.outer_static.__doc__ == "Doc."
    check(trace, state, ["outer_static", "inner_static", "outer_class", "inner_class"] * 2)


def test_properties(state):
    class Special(property):
        extra = 1

    def getter(self):
        """The getter's doc."""
        return self.__dict__.get("x", 0)

    def setter(self, value):
        self.__dict__["x"] = value

    def deleter(self):
        del self.__dict__["x"]

    class Holder:
        plain = nvspan.annotate(property(getter, setter, deleter))
        special = nvspan.annotate(Special(getter, setter))
        documented = nvspan.annotate(property(getter, doc="given"))

    with listening(state) as trace:
        holder = Holder()
        holder.plain = 5
        assert holder.plain == holder.special == 5
        del holder.plain
        with pytest.raises(AttributeError):
            del holder.special
    assert type(Holder.special) is Special
    assert Holder.plain.__doc__ == "The getter's doc."
    assert Holder.documented.__doc__ == "given"
    check(trace, state, ["setter", "getter", "getter", "deleter"])


def test_cached_property_partialmethod_and_dispatch(state):
    class Holder:
        @nvspan.annotate
        @functools.cached_property
        def computed(self):
            return object()

        def base(self, a, b):
            return a, b

        bound = nvspan.annotate(functools.partialmethod(base, 1))

        @nvspan.annotate
        @functools.singledispatchmethod
        def kind(self, value):
            return "default"

        @kind.register
        def _(self, value: int):
            return "int"

    @nvspan.annotate
    @functools.singledispatch
    def generic(value):
        return "default"

    @generic.register
    def _(value: int):
        return "int"

    with listening(state) as trace:
        holder = Holder()
        assert holder.computed is holder.computed
        assert holder.bound(2) == (1, 2)
        assert (holder.kind("x"), holder.kind(1)) == ("default", "int")
        assert (generic("x"), generic(1)) == ("default", "int")
    assert isinstance(vars(Holder)["computed"], functools.cached_property)
    assert isinstance(vars(Holder)["bound"], functools.partialmethod)
    assert isinstance(vars(Holder)["kind"], functools.singledispatchmethod)
    assert set(generic.registry) == {object, int}
    check(trace, state, ["computed", "base", "kind", "kind", "generic", "generic"])


def test_partials(state):
    def function(a, b, *, c):
        return a, b, c

    async def work(x):
        return x

    with_attribute = functools.partial(function, 1, c=3)
    with_attribute.attribute = "kept"
    decorated = nvspan.annotate(with_attribute)
    of_builtin = nvspan.annotate(functools.partial(int, base=2))
    of_coroutine = nvspan.annotate(functools.partial(work, 5))
    with listening(state) as trace:
        assert decorated(2) == (1, 2, 3)
        assert of_builtin("101") == 5
        assert inspect.iscoroutinefunction(of_coroutine)
        assert asyncio.run(of_coroutine()) == 5
    assert type(decorated) is functools.partial
    assert (decorated.args, decorated.keywords, decorated.attribute) == ((1,), {"c": 3}, "kept")
    check(trace, state, ["function", "int", "work"])


def test_bound_methods(state):
    class Holder:
        def method(self, x):
            return self, x

    holder = Holder()
    decorated = nvspan.annotate(holder.method)
    of_builtin = nvspan.annotate([3, 1].count)
    with listening(state) as trace:
        assert decorated(1) == (holder, 1)
        assert of_builtin(3) == 1
    assert inspect.ismethod(decorated)
    assert decorated.__self__ is holder
    check(trace, state, ["method", "count"])


def test_builtins(state):
    decorated = nvspan.annotate(math.sqrt)
    keyword = nvspan.annotate(sorted)
    with listening(state) as trace:
        assert decorated(4) == 2
        assert keyword([1, 3, 2], reverse=True) == [3, 2, 1]
        with pytest.raises(ValueError, match=r"domain|nonnegative"):
            decorated(-1)
        with pytest.raises(TypeError):
            decorated()
    assert isinstance(decorated, types.BuiltinFunctionType)
    assert inspect.isbuiltin(decorated)
    assert inspect.signature(decorated) == inspect.signature(math.sqrt)
    for name in (
        "__name__",
        "__qualname__",
        "__doc__",
        "__module__",
        "__self__",
        "__text_signature__",
    ):
        assert getattr(decorated, name) == getattr(math.sqrt, name)
    assert decorated == math.sqrt
    assert math.sqrt == decorated
    assert decorated != math.sin
    assert hash(decorated) == hash(math.sqrt)
    assert repr(decorated) == repr(math.sqrt)
    assert decorated.__wrapped__ is math.sqrt
    assert not hasattr(decorated, "no_such_name")
    check(trace, state, ["sqrt", "sorted", "sqrt", "sqrt"])


def test_builtins_do_not_bind_and_method_descriptors_do(state):
    class Holder(str):
        size = nvspan.annotate(builtins.len)
        shout = nvspan.annotate(str.upper)

    with listening(state) as trace:
        assert Holder("abc").size([1]) == 1
        assert Holder("abc").shout() == "ABC"
        assert Holder.shout("abc") == "ABC"
    check(trace, state, ["len", "upper", "upper"])


def test_lru_cache(state):
    @nvspan.annotate
    @functools.lru_cache
    def cached(x):
        return object()

    class Holder:
        @nvspan.annotate
        @functools.lru_cache  # noqa: B019
        def method(self, x):
            return self, x

    with listening(state) as trace:
        assert cached(1) is cached(1)
        assert cached.cache_info().hits == 1
        cached.cache_clear()
        holder = Holder()
        assert holder.method(2) == (holder, 2)
    check(trace, state, ["cached", "cached", "method"])


def test_callable_objects(state):
    original = Call()
    decorated = nvspan.annotate(original)
    with listening(state) as trace:
        assert decorated(4) == 8
        assert decorated(4, y=1) == 9
        assert decorated.__call__(4) == 8
    assert isinstance(decorated, Call)
    assert decorated.__class__ is Call
    assert callable(decorated)
    assert decorated.kept == "class attribute"
    decorated.factor = 3
    decorated.new = "new"
    assert (original.factor, original.new) == (3, "new")
    del decorated.new
    assert not hasattr(original, "new")
    assert vars(decorated) == vars(original)
    assert decorated.method() is original
    assert (len(decorated), decorated["k"], list(decorated)) == (3, ("item", "k"), ["a", "b", "c"])
    assert decorated + 1 == ("added", 1)
    assert decorated == original == decorated == Call(3)
    assert {original: "found"}[decorated] == "found"
    with decorated as entered:
        assert entered is original
    assert repr(decorated) == repr(original)
    assert bool(decorated)
    with pytest.raises(TypeError):
        -decorated  # noqa: B018
    assert inspect.signature(decorated) == inspect.signature(original)
    check(trace, state, ["Call", "Call", "Call"])


def test_callable_object_without_special_methods(state):
    class Bare:
        def __call__(self):
            return self

    decorated = nvspan.annotate(Bare())
    with listening(state):
        assert decorated() is decorated.__wrapped__
    for operation in (len, iter, operator.neg):
        with pytest.raises(TypeError):
            operation(decorated)


def test_a_callable_object_as_a_class_attribute_does_not_bind(state):
    class Holder:
        attribute = nvspan.annotate(Call())

    with listening(state):
        assert Holder().attribute(5) == Holder.attribute(5) == 10


@pytest.mark.parametrize("kind", [None, "span", "nested"])
def test_callable_object_whose_call_suspends(state, kind):
    class Work:
        async def __call__(self, x):
            await asyncio.sleep(0)
            return self, x

    class Numbers:
        def __call__(self, n):
            yield from range(n)

    work, numbers = Work(), Numbers()
    decorated = nvspan.annotate("work", kind=kind)(work)
    with listening(state) as trace:
        coroutine = decorated(1)
        assert inspect.iscoroutine(coroutine)
        assert asyncio.run(coroutine) == (work, 1)
        generator = nvspan.annotate("numbers", kind=kind)(numbers)(2)
        assert inspect.isgenerator(generator)
        assert list(generator) == [0, 1]
    assert trace.balanced()
    if state == "active" and kind is None:
        assert trace.opened() == ["work", "numbers", "numbers", "numbers"]


def test_span_of_a_builtin(state):
    decorated = nvspan.annotate(kind="span")(len)
    with listening(state) as trace:
        assert decorated("abc") == 3
        with pytest.raises(TypeError):
            decorated(1)
    if state == "active":
        assert trace.calls("kind", "message") == [("start", "len"), ("end", "len")] * 2


def test_pickling_callables(state):
    with listening(state):
        again = pickle.loads(pickle.dumps(SHARED))
        assert again(1) == 7
        assert again is not SHARED
        assert again == SHARED
        assert isinstance(again, Call)
        by_name = pickle.loads(pickle.dumps(decorated_builtin))
        assert by_name(9) == 3


def test_copying_callables(state):
    decorated = nvspan.annotate(Call())
    with listening(state):
        shallow, deep = copy.copy(decorated), copy.deepcopy(decorated)
        for made in (shallow, deep):
            assert made == decorated
            assert made.__wrapped__ is not decorated.__wrapped__
            assert made(1) == 2
        assert copy.copy(decorated_builtin) is decorated_builtin
        assert copy.deepcopy(decorated_builtin) is decorated_builtin


def test_callables_are_collected(state):
    class Owner:
        def __init__(self):
            self.call = nvspan.annotate(Call())
            self.call.owner = self

    with listening(state):
        owner = Owner()
        owner.call(1)
        references = (
            weakref.ref(owner),
            weakref.ref(owner.call),
            weakref.ref(owner.call.__wrapped__),
        )
        del owner
        gc.collect()
        assert [reference() for reference in references] == [None] * 3


@pytest.mark.parametrize("value", [1, None, [], object()], ids=["int", "None", "list", "object"])
def test_what_is_not_callable_is_refused(state, value):
    with listening(state), pytest.raises(TypeError, match=r"annotate\(\).*not"):
        nvspan.annotate("x")(value)


def test_what_a_class_callable_returns_is_not_wrapped(state):
    made = nvspan.annotate(functools.partial(Call, 5))
    with listening(state):
        assert type(made()) is Call
    assert "__wrapped__" not in vars(Call.__call__)
