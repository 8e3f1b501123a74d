# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated functions of every sort, and functions that use them."""

from __future__ import annotations

import nvspan

lib = nvspan.get_domain("lib")
DECORATORS = {
    "annotate": nvspan.annotate("a"),
    "span": nvspan.annotate("a", kind="span"),
    "device": lib.device_range("a"),
    "both": nvspan.annotate("a", device=True),
    "both, a span, sync": lib.annotate("a", device=True, sync=True, kind="span"),
    "twice": lambda f: nvspan.device_range("a")(nvspan.annotate("b", device=True)(f)),
    "none": lambda f: f,
}


def make(decorate):
    """The same definitions for each decorator."""

    @decorate
    def function(x, *args, factor=2, **kwargs):
        return x * factor

    @decorate
    def generator(x, n=3):
        for i in range(n):
            yield x * i
        return n

    @decorate
    def receiver(x):
        got = yield x
        try:
            got = yield x * got
            yield x * got
        except ValueError:
            yield x + 1
        finally:
            x = x * 3

    class Methods:
        factor = 2

        @decorate
        def method(self, x):
            return x * self.factor

        @staticmethod
        @decorate
        def static(x):
            return x * 2

        @classmethod
        @decorate
        def of_class(cls, x):
            return x * cls.factor

        @property
        @decorate
        def two(self):
            return self.factor

        @decorate
        def pairs(self, x):
            yield self.factor, x
            yield self.factor + 1, x * 2

    class Derived(Methods):
        @decorate
        def method(self, x):
            return super().method(x) + __class__.factor

    return type(
        "Made", (), {
            "function": staticmethod(function), "generator": staticmethod(generator),
            "receiver": staticmethod(receiver), "object": Methods(), "derived": Derived(),
        },
    )  # fmt: skip


MADE = {name: make(decorate) for name, decorate in DECORATORS.items()}

import torch  # noqa: E402  # after what is decorated

# ---- what uses the definitions ------------------------------------------------------------------


def use_function(made, x):
    return made.function(x, 1, factor=3, other=2).sin() + made.function(x)


def use_methods(made, x):
    y = made.object.method(x) + made.object.static(x) + made.object.of_class(x)
    return (y + made.derived.method(x)) * made.object.two


def use_for(made, x):
    total = x
    for each in made.generator(x):
        total = total + each
    return total


def use_list(made, x):
    return torch.stack(list(made.generator(x, 4))).sum(0)


def use_sum(made, x):
    return sum(made.generator(x))


def use_tuple_of_method(made, x):
    (a, y), (b, z) = made.object.pairs(x)
    return y * a + z * b


def use_yield_from(made, x):
    def outer():
        yield from made.generator(x)
        yield x

    return sum(outer())


def use_zip(made, x):
    total = x
    for i, (a, b) in enumerate(zip(made.generator(x, 2), made.generator(x.sin(), 2), strict=True)):
        total = total + a * b * i
    return total


def use_early_exit(made, x):
    for i, each in enumerate(made.generator(x, 100)):
        if i == 2:
            return each.sin()
    return x


def use_next(made, x):
    made_generator = made.generator(x, 1)
    first = next(made_generator)
    return first + x if next(made_generator, None) is None else x


def use_send(made, x):
    receiver = made.receiver(x)
    y = next(receiver)
    y = y + receiver.send(3)
    return y + receiver.send(2)


def use_throw(made, x):
    receiver = made.receiver(x)
    return next(receiver) + receiver.send(3) + receiver.throw(ValueError)


def use_close(made, x):
    receiver = made.receiver(x)
    y = next(receiver) + receiver.send(3)
    receiver.close()
    return y


USES = [
    use_function, use_methods, use_for, use_list, use_sum, use_tuple_of_method, use_yield_from,
    use_zip, use_early_exit, use_next, use_send, use_throw, use_close,
]  # fmt: skip
SENDING = [
    use_send,
    use_throw,
    use_close,
]  # Dynamo sends into no `yield from`, as device ranges have


def using(use, made):
    return lambda x: use(made, x)


plain = {use: using(use, MADE["none"]) for use in USES}


def with_decorators():
    """(name, annotated, bare) for every decorator and use, called and compiled directly."""
    bare = MADE["none"]
    for name, made in MADE.items():
        for use in USES:
            if use not in SENDING or name in ("annotate", "span"):
                yield f"{name}: {use.__name__}", using(use, made), plain[use]
        yield f"{name}: function itself", made.function, bare.function
        yield f"{name}: method itself", made.object.method, bare.object.method
        yield f"{name}: derived method itself", made.derived.method, bare.derived.method
        yield f"{name}: forward", module_with(DECORATORS[name]), bare_module


def module_with(decorate):
    class Own(torch.nn.Module):
        @decorate
        def forward(self, x):
            return self.helper(x * 2)

        @decorate
        def helper(self, x):
            return x.sin()

    return Own()


bare_module = module_with(DECORATORS["none"])
