# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every construct of nvspan's: each is the same as `bare` once it is compiled."""

from __future__ import annotations

import nvspan

kept = nvspan.annotate("kept")
lib = nvspan.get_domain("lib")
counter = lib.get_counter("items", int)
span = lib.span("span")


class holder:
    kept = kept


class Sub(nvspan.annotate):
    pass


@nvspan.annotate("decorated", payload=1)
def decorated(x):
    return (x * 2).sin()


@nvspan.annotate
def decorated_bare(x, *args, factor=2, **kwargs):
    return (x * factor).sin()


@nvspan.annotate(kind="span")
def decorated_span(x):
    return (x * 2).sin()


@lib.annotate("outer")
@nvspan.annotate("inner")
def decorated_twice(x):
    return (x * 2).sin()


def make_closure(factor):
    @nvspan.annotate("closure")
    def closure(x):
        return (x * factor).sin()

    return closure


closure = make_closure(2)


class Base:
    @nvspan.annotate("Base.method")
    def method(self, x):
        return x * 2


class Methods(Base):
    @nvspan.annotate("Methods.method")
    def method(self, x):
        return super().method(x).sin()

    @staticmethod
    @nvspan.annotate("static")
    def static(x):
        return (x * 2).sin()

    @nvspan.annotate("class")
    @classmethod
    def of_class(cls, x):
        return (x * 2).sin()

    @property
    @nvspan.annotate("two")
    def two(self):
        return 2


methods = Methods()

import torch  # noqa: E402  # after what is decorated
from torch.utils.checkpoint import checkpoint  # noqa: E402


def with_class(x):
    with nvspan.annotate("x", color="red", domain="lib", category="c", payload=3):
        y = x * 2
    return y.sin()


def with_text_of_a_constant(x, i=3):
    with nvspan.annotate(f"layer{i}", payload=i):
        y = x * 2
    return y.sin()


def with_shape_as_payload(x):
    with nvspan.annotate("x", payload=x.shape):
        y = x * 2
    return y.sin()


def with_as(x):
    with nvspan.annotate("x") as r:
        y = x * 2
    return y.sin() if isinstance(r, nvspan.annotate) else y


def with_kept(x):
    with kept:
        y = x * 2
    return y.sin()


def with_kept_as(x):
    with kept as r:
        y = x * 2
    return y.sin() if r is not None and isinstance(kept, nvspan.annotate) else y


def with_attribute(x):
    with holder.kept:
        y = x * 2
    return y.sin()


def with_nested(x):
    with nvspan.annotate("a"), kept, lib.annotate("b"), lib.range("c"), lib.span("d"):
        y = x * 2
    return y.sin()


def with_span(x):
    with nvspan.span("s"), span:
        y = x * 2
    return y.sin()


def with_local_twice(x):
    r = nvspan.annotate("x")
    with r:
        y = x * 2
    with r:
        return y.sin()


def with_raise(x):
    try:
        with nvspan.annotate("x"):
            y = x * 2
            raise ValueError
    except ValueError:
        return y.sin()


def with_subclass_check(x):
    return (x * 2).sin() if issubclass(Sub, nvspan.annotate) else x


def with_explicit_enter(x):
    r = nvspan.annotate("x")
    r.__enter__()
    y = x * 2
    r.__exit__(None, None, None)
    return y.sin()


def with_device_range(x):
    with nvspan.device_range("x", timing=True), lib.device_range("y"):
        y = x * 2
    return y.sin()


def with_device_range_as(x):
    with nvspan.device_range("x", timing=True) as handle:
        y = x * 2
    return y.sin() if handle.done() and handle.elapsed() is None and not handle.lost else y


def device_start_end(x):
    handle = nvspan.start_device_range("x")
    y = x * 2
    nvspan.end_device_range(handle)
    return y.sin()


def push_pop(x):
    nvspan.push_range("a", domain="lib")
    y = x * 2
    nvspan.pop_range(domain="lib")
    return y.sin()


def marks(x):
    nvspan.mark("m", payload=1)
    return (x * 2).sin()


def start_end(x):
    handle = nvspan.start_range("s")
    y = x * 2
    nvspan.end_range(handle)
    return y.sin()


def of_domain(x):
    lib.push_range(message="a")
    lib.mark(message="m")
    range_id = lib.start_range(message="s")
    y = x * 2
    lib.end_range(range_id)
    lib.pop_range()
    return y.sin()


def domain_in_frame(x):
    with nvspan.get_domain("lib").annotate("d"):
        return (x * 2).sin()


def counting(x):
    counter.sample(3)
    return (x * 2).sin()


def asking(x):
    return (x * 2).sin() if not nvspan.is_active() else x


def call_decorated(x):
    return decorated(x)


def call_decorated_bare(x):
    return decorated_bare(x, 1, factor=2, other=3)


def call_decorated_span(x):
    return decorated_span(x)


def call_decorated_twice(x):
    return decorated_twice(x)


def call_closure(x):
    return closure(x)


def call_method(x):
    return methods.method(x)


def call_static(x):
    return methods.static(x)


def call_class_method(x):
    return Methods.of_class(x)


def call_property(x):
    return (x * methods.two).sin()


def decorate_in_frame(x):
    @nvspan.annotate("x")
    def inner(z):
        return z * 2

    return inner(x).sin()


def decorate_bare_in_frame(x):
    @nvspan.annotate
    def inner(z):
        return z * 2

    return inner(x).sin()


def inside_checkpoint(x):
    def body(z):
        with nvspan.annotate("x"):
            return (z * 2).sin()

    return checkpoint(body, x, use_reentrant=False)


class Annotated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.range = nvspan.annotate("kept of a module")

    @nvspan.annotate("forward")
    def forward(self, x):
        with self.range:
            return self.helper(x * 2)

    @nvspan.annotate("helper")
    def helper(self, x):
        return x.sin()


class Hooked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(lambda module, args: nvspan.push_range("hook"))
        self.register_forward_hook(lambda module, args, out: nvspan.pop_range())

    def forward(self, x):
        return (x * 2).sin()


SAME_AS_BARE = [
    with_class, with_text_of_a_constant, with_shape_as_payload, with_as, with_kept, with_kept_as,
    with_attribute, with_nested, with_span, with_local_twice, with_raise, with_subclass_check,
    with_explicit_enter, with_device_range, with_device_range_as, device_start_end, push_pop,
    marks, start_end, of_domain, domain_in_frame, counting, asking, call_decorated,
    call_decorated_bare, call_decorated_span, call_decorated_twice, call_closure, call_method,
    call_static, call_class_method, call_property, decorate_in_frame, decorate_bare_in_frame,
    inside_checkpoint, decorated, decorated_bare, decorated_span, decorated_twice, closure,
    methods.method, Annotated(), Hooked(),
]  # fmt: skip
