# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Statements and calls that are the same as `bare` once they are compiled."""

from __future__ import annotations

import nvspan

kept_device = nvspan.device_range("kept")
kept_both = nvspan.annotate("kept", device=True)
lib = nvspan.get_domain("lib")
lib_device = lib.device_range("kept")
integers = lib.get_counter("integers", int)
reals = lib.get_counter("reals", float)
kept_step = nvspan.step()
kept_attributes = lib.get_event_attributes(message="a")

import torch  # noqa: E402  # after what is kept
from pairs_decorated import DECORATORS, module_with  # noqa: E402

import nvspan.torch  # noqa: E402
from nvspan.torch import nvtx  # noqa: E402


def bare(x):
    return (x * 2).sin()


def with_kept_device(x):
    with kept_device, lib_device as handle:
        y = x * 2
    return y.sin() if not handle.lost else y


def with_device_arguments(x):
    with nvspan.device_range(
        "a", stream=0, color="red", domain="lib", category="c", payload=x.shape[0],
        backend="callback", placement="stream", timing=True, capture="once", level=2,
    ):  # fmt: skip
        y = x * 2
    return y.sin()


def with_both(x):
    with nvspan.annotate("a", device=True), kept_both, lib.annotate("b", device=True, sync=True):
        y = x * 2
    return y.sin()


def with_both_as(x):
    with kept_both as r, nvspan.annotate("a", device=True) as s:
        y = x * 2
    return y.sin() if isinstance(r, nvspan.annotate) and isinstance(s, nvspan.annotate) else y


def with_device_isinstance(x):
    with nvspan.device_range("a") as handle:
        y = x * 2
    is_handle = isinstance(handle, nvspan.DeviceRangeHandle)
    return y.sin() if is_handle and isinstance(kept_device, nvspan.device_range) else y


def device_explicit(x):
    kept_device.__enter__()
    y = x * 2
    kept_device.__exit__(None, None, None)
    return y.sin()


def device_raise(x):
    try:
        with kept_device, kept_both:
            y = x * 2
            raise ValueError
    except ValueError:
        return y.sin()


def device_calls(x):
    handle = nvspan.start_device_range("a", stream=None, payload=1)
    other = lib.start_device_range("b") if hasattr(lib, "start_device_range") else None
    y = x * 2
    nvspan.end_device_range(handle, None)
    nvspan.end_device_range(other)
    return y.sin() if handle.done() and handle.backend is None else y


def decorated_in_the_frame(x):
    @nvspan.device_range("a")
    def one(z):
        return z * 2

    @nvspan.annotate("b", device=True)
    def two(z):
        return z.sin()

    @lib.device_range("b")
    def three(z):
        return z

    @kept_both
    def four(z):
        return z

    @kept_device
    def five(z):
        return z

    @nvspan.device_range
    def six(z):
        return z

    return six(five(four(three(two(one(x))))))


def spans(x):
    with nvspan.span("a", payload=1), lib.span("b"), nvspan.annotate("c", kind="span"):
        y = x * 2
    with lib.span(message="d") as s:
        return y.sin() if isinstance(s, nvspan.span) else y


def steps(x):
    with nvspan.step(3), nvspan.step(), nvspan.step(4, message="b", domain="lib", device=True):
        y = x * 2
    return y.sin()


def steps_as(x):
    with nvspan.step(3) as s:
        y = x * 2
    return y.sin() if s is not None else y


def kept_steps(x):
    with kept_step:
        y = x * 2
    with kept_step:
        return y.sin()


def kept_step_as(x):
    with kept_step as s:
        y = x * 2
    return y.sin() if isinstance(s, nvspan.Step) else y


def step_numbers(x):
    with nvspan.step(3) as s:
        y = x * 2
    return y.sin() if s.number == 3 else y


def step_numbers_of_shapes(x):
    with nvspan.step(x.shape[0]) as s:
        return (x * 2).sin() if s.number == x.shape[0] else x


def many_steps(x):
    for i in range(4):
        with nvspan.step(i):
            pass
    return (x * 2).sin()


def counting(x):
    integers.sample(3)
    reals.sample(x.shape[0] / 2)
    integers.sample_no_value(nvspan.CounterNoValueReason.UNCHANGED)
    lib.get_counter("integers", int).sample(4)
    return (x * 2).sin()


def counting_a_shape(x):
    integers.sample(x.shape[0])
    return (x * 2).sin()


def batches(x):
    integers.batch_submit([1, 2, 3])
    return (x * 2).sin()


def of_domain(x):
    own = nvspan.get_domain("lib")
    with own.range("a"), own.annotate("b", payload=x.shape), nvspan.get_domain().annotate("c"):
        own.mark("m")
        nvspan.get_domain(name="other").push_range("p")
        y = x * 2
        nvspan.get_domain(name="other").pop_range()
    own.end_range(own.start_range("s"))
    return y.sin() if isinstance(own, nvspan.Domain) else y


def enabled(x):
    return (x * 2).sin() if nvspan.enabled() else x


def domain_of_a_domain(x):
    with nvspan.get_domain(lib).annotate("a"), nvspan.get_domain("e", env="E").annotate("b"):
        return (x * 2).sin()


def as_decorator(x):
    with kept_both as r:
        return r(lambda z: z * 2)(x).sin()


def registered(x):
    attributes = lib.get_event_attributes(message="a", color="red")
    lib.push_range(attributes)
    lib.mark(kept_attributes)
    lib.pop_range()
    if lib.get_registered_string("a") is None or not lib.get_category_id("c"):
        return x
    return (x * 2).sin()


def nvtx_ranges(x):
    with nvtx.range("a"), nvtx.range("b {}", 3), nvtx.range("c {x}", x=4, domain="lib"):
        y = x * 2
    return y.sin()


def nvtx_range_as(x):
    with nvtx.range("a") as r:
        y = x * 2
    return y.sin() if r is not None else y


def nvtx_calls(x):
    depth = nvtx.range_push("a", domain="lib", payload=1)
    y = x * (2 + depth)
    depth = nvtx.range_pop()
    number = nvtx.range_start("b")
    nvtx.range_end(number)
    nvtx.mark("m", color="red")
    return y.sin()


def nvtx_device(x):
    handle = nvtx.device_range_start("a", payload=1)
    other = nvtx._device_range_start("b", 0)
    y = x * 2
    nvtx.device_range_end(handle)
    nvtx._device_range_end(other, 0)
    return y.sin()


def nvtx_decorated(x):
    @nvtx.range("a")
    def inner(z):
        return z * 2

    return inner(x).sin()


def losses(x):
    with nvspan.torch.loss(), nvspan.torch.loss(device=True, domain="lib"):
        y = x * 2
    return y.sin()


def losses_in_the_frame(x):
    return nvspan.torch.loss(lambda z: z * 2)(x).sin()


loss_function = nvspan.torch.loss(bare)
loss_device_function = nvspan.torch.loss(bare, device=True)
loss_module = nvspan.torch.loss(module_with(DECORATORS["none"]))
loss_device_module = nvspan.torch.loss(module_with(DECORATORS["none"]), device=True)
loss_builtin = nvspan.torch.loss(torch.nn.MSELoss())


def loss_of_function(x):
    return loss_function(x)


def loss_of_device_function(x):
    return loss_device_function(x)


def loss_of_module(x):
    return loss_module(x)


def loss_of_device_module(x):
    return loss_device_module(x)


def loss_of_builtin(x):
    return loss_builtin(x, x * 2)


def bare_mse(x):
    return torch.nn.functional.mse_loss(x, x * 2)


def to_device(x):
    return (nvspan.torch.to_device(x, "cpu") * 2).sin()


def to_device_nested(x):
    batch = nvspan.torch.to_device({"x": x, "y": [x, (x, 3)]}, torch.device("cpu"))
    return (batch["x"] + batch["y"][1][0]).sin()


def bare_to(x):
    return (x.to("cpu", non_blocking=True) * 2).sin()


def bare_nested(x):
    a = x.to("cpu", non_blocking=True)
    b = x.to("cpu", non_blocking=True)
    b = x.to("cpu", non_blocking=True)
    return (a + b).sin()


SAME_AS_BARE = [
    with_kept_device, with_device_arguments, with_both, with_both_as, with_device_isinstance,
    device_explicit, device_raise, device_calls, decorated_in_the_frame, spans, steps, steps_as,
    kept_steps, kept_step_as, step_numbers, step_numbers_of_shapes, many_steps, counting,
    counting_a_shape, batches, of_domain, registered, enabled, domain_of_a_domain, as_decorator,
    nvtx_ranges, nvtx_range_as, nvtx_calls, nvtx_device, nvtx_decorated, losses,
    losses_in_the_frame, loss_function, loss_device_function, loss_module, loss_device_module,
    loss_of_function, loss_of_device_function, loss_of_module, loss_of_device_module,
]  # fmt: skip
OTHERS = [
    ("loss of a module of torch", loss_of_builtin, bare_mse), ("to_device", to_device, bare_to),
    ("to_device, nested", to_device_nested, bare_nested),
]  # fmt: skip
