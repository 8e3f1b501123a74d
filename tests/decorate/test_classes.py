# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""annotate_class and annotate on classes."""

from __future__ import annotations

import abc
import asyncio
import dataclasses
import enum
import functools
import typing

import pytest

import nvspan
from helpers.listening import STATES, listening

pytestmark = pytest.mark.parametrize("state", STATES)


def named(cls):
    cls.__qualname__ = cls.__name__
    return cls


def make():
    @named
    class Model:
        constant = 1
        function_type = type(lambda: 0)

        class Nested:
            def method(self):
                return "nested"

        def fit(self):
            return "fit"

        def predict(self):
            return "predict"

        def _private(self):
            return "private"

        def __call__(self):
            return "call"

        @staticmethod
        def static():
            return "static"

        @classmethod
        def of_class(cls):
            return cls.__name__

        @property
        def size(self):
            return 1

        @functools.cached_property
        def cached(self):
            return 2

        async def work(self):
            return "work"

        def numbers(self):
            yield 1

    return Model


def use(model):
    return (
        model.fit(), model.predict(), model._private(), model(), model.static(), model.of_class(),
        model.size, model.cached, asyncio.run(model.work()), list(model.numbers()),
        model.Nested().method(),
    )  # fmt: skip


PUBLIC = [
    "Model.fit", "Model.predict", "Model.static", "Model.of_class", "Model.size", "Model.cached",
    "Model.work", "Model.numbers", "Model.numbers",
]  # fmt: skip


@pytest.mark.parametrize("decorator", ["bare", "called", "annotate", "annotate()", "domain"])
def test_public_methods(state, decorator):
    decorators = {
        "bare": nvspan.annotate_class,
        "called": nvspan.annotate_class(),
        "annotate": nvspan.annotate,
        "annotate()": nvspan.annotate(),
        "domain": nvspan.get_domain("classes").annotate_class(),
    }
    bare = make()
    cls = make()
    assert decorators[decorator](cls) is cls
    with listening(state) as trace:
        assert use(cls()) == use(bare())
    assert trace.balanced()
    assert trace.opened() == (PUBLIC if state == "active" else [])
    if decorator == "domain" and state == "active":
        assert {domain for (domain,) in trace.calls("domain")} == {"classes"}


def test_it_is_idempotent(state):
    cls = nvspan.annotate_class(make())
    before = dict(vars(cls))
    assert nvspan.annotate_class(cls) is cls
    assert nvspan.annotate(cls) is cls
    assert dict(vars(cls)) == before
    with listening(state) as trace:
        cls().fit()
    assert trace.opened() == (["Model.fit"] if state == "active" else [])


def test_decorated_methods_keep_their_own(state):
    @nvspan.annotate_class
    @named
    class Model:
        @nvspan.annotate("mine", color="red")
        def fit(self):
            pass

        @staticmethod
        @nvspan.annotate("static too")
        def static():
            pass

    with listening(state) as trace:
        Model().fit()
        Model.static()
    assert trace.opened() == (["mine", "static too"] if state == "active" else [])


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"include": "fit|pred*"}, ["fit", "predict"]),
        ({"include": ["fit", "static | size"]}, ["fit", "static", "size"]),
        ({"exclude": "_*|fit|*c*"}, ["size", "work", "numbers", "numbers"]),
        ({"exclude": ["_*", "[!f]*"]}, ["fit"]),
        ({"include": "__call__|fit"}, ["fit", "__call__"]),
        ({"include": "_*"}, ["_private", "__call__"]),
        ({"include": "*_private"}, []),
        ({"exclude": None, "include": "*_private"}, ["_private"]),
    ],
    ids=repr,
)
def test_patterns(state, options, names):
    cls = nvspan.annotate_class(**options)(make())
    with listening(state) as trace:
        use(cls())
    if state == "active":
        assert trace.opened() == [f"Model.{name}" for name in names]


@pytest.mark.parametrize(
    ("decorate", "name"),
    [
        (nvspan.annotate_class(name_from="name"), "fit"),
        (nvspan.annotate_class(name_from=lambda function: function.__name__.upper()), "FIT"),
        (nvspan.annotate("Given"), "Given.fit"),
    ],
)
def test_names(state, decorate, name):
    cls = decorate(make())
    with listening(state) as trace:
        cls().fit()
    assert trace.opened() == ([name] if state == "active" else [])


def test_fields_are_passed_on(state):
    cls = nvspan.annotate_class(
        include="fit", color="#102030", domain="d", category="c", payload=5, kind="span"
    )(make())
    with listening(state) as trace:
        cls().fit()
    if state == "active":
        assert trace.calls("kind", "domain", "color", "category_name", "payload")[0] == (
            "start", "d", 0xFF102030, "c", 5,
        )  # fmt: skip


def test_inherited_methods_stay(state):
    class Base:
        def base(self):
            return "base"

    @nvspan.annotate_class
    @named
    class Derived(Base):
        def own(self):
            return super().base()

    with listening(state) as trace:
        assert Derived().own() == Derived().base() == "base"
    assert trace.opened() == (["Derived.own"] if state == "active" else [])


def test_odd_classes(state):
    @nvspan.annotate_class
    @named
    class Slotted:
        __slots__ = ("x",)

        def method(self):
            self.x = 1
            return self.x

    @nvspan.annotate_class
    @named
    @dataclasses.dataclass(frozen=True)
    class Data:
        a: int = 1

        def method(self):
            return self.a

    @nvspan.annotate_class
    @named
    class Color(enum.Enum):
        RED = 1

        def method(self):
            return self.value

    @nvspan.annotate_class
    @named
    class Abstract(abc.ABC):
        @abc.abstractmethod
        def method(self): ...

        @property
        @abc.abstractmethod
        def prop(self): ...

    @nvspan.annotate_class
    @named
    class Named(typing.NamedTuple):
        a: int = 1

        def method(self):
            return self.a

    with listening(state) as trace:
        assert [each.method() for each in (Slotted(), Data(), Color.RED, Named())] == [1] * 4
        assert Data() == Data(1)
        assert repr(Data()) == "Data(a=1)"
        with pytest.raises(TypeError):
            Abstract()
        assert Abstract.method.__isabstractmethod__
        assert Abstract.prop.__isabstractmethod__
    names = ["Slotted.method", "Data.method", "Color.method", "Named.method"]
    assert trace.opened() == (names if state == "active" else [])


def test_refusals(state):
    with listening(state):
        with pytest.raises(TypeError, match="decorates a class, not 5"):
            nvspan.annotate_class(5)
        with pytest.raises(TypeError, match="immutable class 'int'"):
            nvspan.annotate_class(int)
        with pytest.raises(ValueError, match="odd"):
            nvspan.annotate_class(kind="odd")
