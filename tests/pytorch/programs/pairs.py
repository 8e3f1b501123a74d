# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Annotated functions beside the same functions without annotations: prints, as JSON, how many
there are and what Dynamo made of those that differ.

With "constructs", these are all that is looked at. With "switch", a tool comes and goes between the
calls of some of the others. With "cuda", there is a driver, and nothing but device ranges is looked
at. With "short", one in seven is looked at. nvspan and what it decorates come first, torch after
them.
"""

from __future__ import annotations

import contextlib
import json
import sys

import nvspan

if "cuda" in sys.argv:
    from helpers.gpu import Cuda

    cuda = Cuda()
if "constructs" in sys.argv:
    import pairs_constructs

import pairs_decorated
import pairs_statements
import torch
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters

import nvspan.torch

MODULES = {
    "annotate_module": {}, "device=True": {"device": True}, "backward=True": {"backward": True},
    "shapes=True": {"shapes": True}, "all": {"backward": True, "device": True, "shapes": True},
}  # fmt: skip


def cases():
    bare, bare_module = pairs_statements.bare, pairs_decorated.bare_module
    if "constructs" in sys.argv:
        for each in pairs_constructs.SAME_AS_BARE:
            yield getattr(each, "__qualname__", type(each).__name__), each, bare
        return
    yield from pairs_decorated.with_decorators()
    for each in pairs_statements.SAME_AS_BARE:
        name = getattr(each, "__name__", type(each).__name__)
        yield name, each, bare_module if isinstance(each, torch.nn.Module) else bare
    for name, annotated, unannotated in pairs_statements.OTHERS:
        yield name, annotated, unannotated
    for name, options in MODULES.items():
        module = pairs_decorated.module_with(lambda f: f)
        nvspan.torch.annotate_module(module, **options)
        yield name, module, bare_module
        yield f"{name}, called", calling(module), bare
    for device in (False, True):
        module = pairs_decorated.module_with(lambda f: f)
        nvspan.torch.auto(module, device=device)
        yield f"auto, {device=}", module, bare_module
        yield f"auto, {device=}, called", calling(module), bare


def calling(module):
    return lambda x: module(x)


def listening():
    return nvspan.trace("/dev/null")


ROWS = (3, 3, 3) if "constructs" in sys.argv else (3, 3, 5)
STATES = [contextlib.nullcontext, listening] if "switch" in sys.argv else [contextlib.nullcontext]


def outcome(function, fullgraph):
    """[graphs, ops, breaks, recompiles, outputs and gradients], or the error."""
    torch._dynamo.reset()
    counters.clear()
    backend = CompileCounter()
    compiled = torch.compile(function, backend=backend, fullgraph=fullgraph)
    generator = torch.Generator().manual_seed(0)
    values = []
    try:
        for rows in ROWS:
            for state in STATES:
                x = torch.randn(rows, 4, generator=generator, requires_grad=True)
                with state():
                    result = compiled(x)
                (gradient,) = torch.autograd.grad(result.sum(), x)
                values += [result.tolist(), gradient.tolist()]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    graphs, recompiles = backend.frame_count, sum(counters["recompiles"].values())
    breaks = sum(counters["graph_break"].values())
    if "switch" in sys.argv:  # decorated functions are traced once for each of their two codes
        return [breaks, values]
    return [graphs, backend.op_count, breaks, recompiles, values]


# torch before 2.13 cannot trace what hands over to a generator, which those with device ranges do.
BEFORE_213 = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13)


def is_same(name, fullgraph, got, wanted):
    if BEFORE_213 and len(wanted) == 1:
        return True  # the bare one fails
    if BEFORE_213 and ": use_" in name and name.startswith(("device", "both", "twice")):
        return fullgraph or got[-1] == wanted[-1]
    return got == wanted and len(wanted) > 1


WANTED = [""]
if "cuda" in sys.argv:
    WANTED = ["device", "both: ", "twice: "]
if "switch" in sys.argv:
    WANTED = ["annotate: ", "both: ", "annotate_module", "auto, "]


def main():
    known, differing, count = {}, {}, 0
    wanted_cases = [case for case in cases() if any(word in case[0] for word in WANTED)]
    for name, annotated, unannotated in wanted_cases[:: 7 if "short" in sys.argv else 1]:
        count += 1
        for fullgraph in (True, False):
            key = (unannotated, fullgraph)
            if key not in known:
                known[key] = outcome(*key)
            got, wanted = outcome(annotated, fullgraph), known[key]
            if not is_same(name, fullgraph, got, wanted):
                equal = got[-1] == wanted[-1]
                differing[f"{name}, {fullgraph=}"] = [got[:4], wanted[:4], equal]
    bare = known.get((pairs_statements.bare, True), [])[:4]
    json.dump({"count": count, "bare": bare, "differing": differing}, sys.stdout)


if __name__ == "__main__":
    main()
