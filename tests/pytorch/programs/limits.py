# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What breaks a graph or makes Dynamo specialise: the results are right, and nothing raises."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings

import torch
from torch._dynamo.testing import CompileCounter

import nvspan

warnings.simplefilter("ignore")
kept = nvspan.annotate("kept")


@nvspan.annotate("generator")
def generator(x):
    yield x * 2
    yield x + 1


@nvspan.device_range("device")
def on_device(x):
    return x * 2


@nvspan.annotate("both", device=True)
def both(x):
    return x * 2


module = nvspan.annotate("module")(torch.nn.Linear(3, 3))


def uses_generator(x):
    return sum(generator(x)).sin()


def uses_device_decorator(x):
    return both(on_device(x)).sin()


def uses_module(x):
    return module(x).sin()


def uses_attribute(x):
    with kept:
        return x * kept.level


def uses_switch(x):
    with nvspan.paused():
        return x * 2


def uses_exit_stack(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(nvspan.annotate("x"))
        return x * 2


def uses_decorator_made_in_the_frame(x):
    return nvspan.device_range("made")(lambda z: z * 2)(x)


def uses_class_made_in_the_frame(x):
    @nvspan.annotate
    class Made:
        def method(self, z):
            return z * 2

    return Made().method(x)


def uses_bound_callable(x):
    return nvspan.annotate("x")(torch.sin)(x) + kept(torch.cos)(x)


def text_of_a_shape(x):
    with nvspan.annotate(f"rows {x.shape[0]}"):
        return x * 2


def shape_as_payload(x):
    with nvspan.annotate("rows", payload=x.shape[0]):
        return x * 2


def lazy_text_of_a_shape(x):
    with nvspan.annotate(message=lambda: f"rows {x.shape[0]}"):
        return x * 2


report = {}
for function in (
    uses_generator, uses_device_decorator, uses_module, uses_attribute, uses_switch,
    uses_exit_stack, uses_decorator_made_in_the_frame, uses_class_made_in_the_frame,
    uses_bound_callable, text_of_a_shape, shape_as_payload, lazy_text_of_a_shape,
):  # fmt: skip
    if function.__name__ in sys.argv[1:]:
        continue
    torch._dynamo.reset()
    backend = CompileCounter()
    compiled = torch.compile(function, backend=backend)
    inputs = [torch.ones(rows, 3) for rows in (2, 3, 4, 5, 2)]
    equal = all(torch.equal(compiled(x), function(x)) for x in inputs)
    report[function.__name__] = [equal, backend.frame_count]
json.dump(report, sys.stdout)
