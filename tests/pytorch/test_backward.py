# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of the backward pass: the whole list of each case of programs/backward.py, which compares
the gradients with those of a bare model to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.device import device_ranges, only_fake, run_device
from helpers.events import plain
from helpers.length import length
from helpers.loops import by_case, signs
from helpers.traced import needs_library, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = Path(__file__).with_name("programs") / "backward.py"
FORWARD, BACKWARD = 1_000_000_001, 1_000_000_002  # the categories' numbers

# "+" and "-": a forward range opens and closes; "<" and ">": one of the backward pass; ".": a mark.
EXPECTED = {
    "transformer": (
        "<Transformer  <h.1  <h.1.mlp  <h.1.mlp.2  >h.1.mlp.2  <h.1.mlp.1  >h.1.mlp.1  "
        ">h.1.mlp  <h.1.attn  <h.1.attn.out  >h.1.attn.out  <h.1.attn.v  >h.1.attn.v  "
        "<h.1.attn.k  >h.1.attn.k  <h.1.attn.q  >h.1.attn.q  >h.1.attn  <h.1.ln  >h.1.ln  "
        ">h.1  <h.0  <h.0.mlp  <h.0.mlp.2  >h.0.mlp.2  <h.0.mlp.1  >h.0.mlp.1  >h.0.mlp  "
        "<h.0.attn  <h.0.attn.out  >h.0.attn.out  <h.0.attn.v  >h.0.attn.v  <h.0.attn.k  "
        ">h.0.attn.k  <h.0.attn.q  >h.0.attn.q  >h.0.attn  <h.0.ln  >h.0.ln  >h.0  <embed  "
        ">embed  >Transformer"
    ),
    "transformer_checkpointed": (
        "+Transformer  +embed  -embed  +h.0  +h.0.mlp  -h.0.mlp  -h.0  +h.1  +h.1.mlp  "
        "-h.1.mlp  -h.1  -Transformer  <Transformer  <h.1  <h.1.mlp  +h.1 (recompute)  "
        "+h.1.mlp (recompute)  -h.1.mlp (recompute)  -h.1 (recompute)  >h.1.mlp  >h.1  <h.0  "
        "<h.0.mlp  +h.0 (recompute)  +h.0.mlp (recompute)  -h.0.mlp (recompute)  "
        "-h.0 (recompute)  >h.0.mlp  >h.0  <embed  >embed  >Transformer"
    ),
    "transformer_checkpointed_reentrant": (
        "+Transformer  +embed  -embed  +h.0  +h.0.mlp  -h.0.mlp  -h.0  +h.1  +h.1.mlp  "
        "-h.1.mlp  -h.1  -Transformer  <Transformer  +h.1 (recompute)  +h.1.mlp (recompute)  "
        "-h.1.mlp (recompute)  -h.1 (recompute)  <h.1 (recompute)  <h.1.mlp (recompute)  "
        ">h.1.mlp (recompute)  >h.1 (recompute)  +h.0 (recompute)  +h.0.mlp (recompute)  "
        "-h.0.mlp (recompute)  -h.0 (recompute)  <h.0 (recompute)  <h.0.mlp (recompute)  "
        ">h.0.mlp (recompute)  >h.0 (recompute)  <embed  >embed  >Transformer"
    ),
    "shared": "<Run  <p.1  >p.1  <p.1  >p.1  <p.0  >p.0  >Run",
    "recurrent": "<Sequential  <1  <1.p.0  >1.p.0  >1  <0  >0  >Sequential",
    "input_is_detached_within": "<Run  <p.2  >p.2  <p.1  >p.1  <p.0  >p.0  >Run",
    "view_of_the_input_changes_within": "<Run  <p.1  <p.1.l  >p.1.l  >p.1  >Run",
    "functions_between": "<Run  <p.2  >p.2  <p.1  >p.1  <p.0  >p.0  >Run",
    "chain": "<p.2  >p.2  <p.1  >p.1  <p.0  >p.0",
    "chain_and_forward": "+p.0  -p.0  +p.1  -p.1  <p.1  >p.1  <p.0  >p.0",
    "residual": "<p.2  >p.2  <p.1  >p.1  <p.0  >p.0",
    "branches": "<p.2  >p.2  <p.1  >p.1  <p.0  >p.0",
    "in_place": "<p.1  >p.1  <p.0  >p.0",
    "in_place_activation": "<Sequential  <2  >2  <1  >1  <0  >0  >Sequential",
    "in_place_on_a_view": "<p.1  >p.1  <p.0  >p.0",
    "checkpoint": "<p.2  >p.2  <p.1  >p.1  <p.0  >p.0",
    "checkpoint_reentrant": "<p.2  >p.2  <p.1 (recompute)  >p.1 (recompute)  <p.0  >p.0",
    "checkpoint_reentrant_forward": "+p.0  -p.0  +p.0 (recompute)  -p.0 (recompute)",
    "checkpoint_with_early_stop_forward": (
        "+p.0  -p.0  +p.1  -p.1  "
        "+p.0 (recompute)  -p.0 (recompute)  +p.1 (recompute)  -p.1 (recompute)"
    ),
    "identity": "<Sequential  <0  >0  >Sequential",
    "shared_module": "<0  >0  <0  >0",
    "recurrent_with_states": "+LSTM  -LSTM  <LSTM  >LSTM",
    "nested_outputs": "<Run  >Run",
    "without_gradients": "",
    "gradient_of_the_input": "<p.2  >p.2  <p.1  >p.1  <p.0  >p.0",
    "gradient_of_the_last_weight": "<p.2  >p.2",
    "double_of_the_input": "<p.1  >p.1  <p.0  >p.0  .|  <p.0  >p.0",
    "raises_and_another_pass": "<p.1  >p.1  .raised  <p.0  >p.0",
    "dataclass_output": "<Run  <p.2  >p.2  <p.1  >p.1  <p.0  >p.0  >Run",
    "gradient_of_what_is_between": "<2  >2  <1  >1",
    "inputs_of_backward": "<Sequential  <1  >1  >Sequential",
    "output_among_inputs_of_backward": "<1  >1  <0  >0  .grad  <1  >1  .all  <1  >1  <0  >0",
    "gradient_of_what_is_between_and_then_all": "<1  >1  .|  <1  >1  .|  <1  >1  <0  >0",
    "gradient_of_an_edge": "<1  >1  .backward  <1  >1  <0  >0",
    "gradients_of_parameters": "<1  >1  <0  >0",
    "gradient_of_one_of_two_outputs": ".and input  <1  >1  .all  <1  >1  <0  >0",
    "first_output_unused": "<Sequential  <1  >1  <0  >0  >Sequential",
    "function_in_python": ("<1  >1  .inputs  <1  >1  <0  >0  .all  <1  >1  <0  <0.p.0  >0.p.0  >0"),
    "anomalies_detected": "<Sequential  <1  >1  <0  >0  >Sequential",
    "retained": (
        "<Sequential  <1  >1  <0  >0  >Sequential  .|  <Sequential  <1  >1  <0  >0  >Sequential"
    ),
    "double": (
        "<Sequential  <1  >1  <0  >0  >Sequential  .|  <Sequential  <1  >1  <0  >0  >Sequential"
    ),
    "raises": (
        "<Sequential  <1  <1.2  >1.2  <1.1  >1.1  >1  >Sequential  .raised  <Sequential  <1  "
        "<1.2  >1.2  <1.1  >1.1  <1.0  >1.0  >1  <0  >0  >Sequential"
    ),
    "in_another_thread": "<Sequential  <1  >1  <0  >0  >Sequential",
    "never_run": "",
}


# Before torch 2.14 the node of a view that is changed in place afterwards does not run.
if tuple(int(each) for each in torch.__version__.split(".")[:2]) >= (2, 14):
    for block in ("h.0", "h.1"):
        EXPECTED["transformer"] = EXPECTED["transformer"].replace(
            f">{block}.mlp.1  ", f">{block}.mlp.1  <{block}.mlp.0  >{block}.mlp.0  "
        )
    name = "view_of_the_input_changes_within"
    EXPECTED[name] = EXPECTED[name].replace(">p.1  >Run", ">p.1  <p.0  >p.0  >Run")


@pytest.fixture(scope="module", params=["", "prehooks"])
def cases(request):
    """The events of each case, in short; those of its bare model under "bare NAME"."""
    return by_case(run_traced(PROGRAM, *request.param.split()).events, signs)


def test_every_case_is_known(cases):
    assert set(cases) == {*EXPECTED, *(f"bare {name}" for name in EXPECTED)}


def test_bare_models_have_no_ranges(cases):
    bare = [text for name in EXPECTED for text in cases[f"bare {name}"]]
    assert [text for text in bare if not text.startswith(".")] == []


@pytest.mark.parametrize("name", EXPECTED)
def test_events(cases, name):
    assert "  ".join(cases[name]) == EXPECTED[name]


def test_a_thousand_steps_leave_nothing_behind():
    done = run_traced(PROGRAM, "leak", length(1000, 500))
    started = [each["id"] for each in done.of_kind("start")]
    assert sorted(started) == sorted(each["id"] for each in done.of_kind("end"))


# torch without CUDA tells no stream: the test does, as the engine makes a node's stream current.
ON_DEVICE = """
import sys
import torch
import nvspan.torch
from torch import nn

one, other = cuda.stream(), cuda.stream()
stream = [one]
torch._C._cuda_getCurrentRawStream = lambda device: stream[0]
torch._C._cuda_getDevice = lambda: 0
torch.cuda.is_initialized = lambda: True


class Elsewhere(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        cuda.launch(stream[0])
        stream[0] = other
        return gradient


class Moves(nn.Module):
    def forward(self, x):
        return Elsewhere.apply(x)


model = nn.Sequential(nn.Linear(4, 4), Moves(), nn.Linear(4, 4))
nvspan.torch.annotate_module(model, device=True, backward=True, exclude="2")
model(torch.ones(2, 4)).sum().backward()
assert nvspan.device_flush(30)
assert nvspan.device_stats()["begun"] == 6, nvspan.device_stats()
"""


@only_fake
@needs_library
def test_backward_ranges_have_device_ranges_beside_them():
    done = run_device(ON_DEVICE)
    assert plain(done.events) == [
        "push [torch] 'Sequential' category=#1:forward payload=i64:0 depth=0",
        "push [torch] '0' category=#3:forward Linear payload=i64:0 depth=1",
        "pop [torch] '0' depth=1",
        "push [torch] '1' category=#4:forward Moves payload=i64:2 depth=1",
        "pop [torch] '1' depth=1",
        "pop [torch] 'Sequential' depth=0",
        "start #1 [torch] 'Sequential' category=#2:backward payload=i64:0",
        "start #2 [torch] '1' category=#2:backward payload=i64:2",
        "end #2 [torch] '1'",
        "start #3 [torch] '0' category=#2:backward payload=i64:0",
        "end #3 [torch] '0'",
        "end #1 [torch] 'Sequential'",
    ]
    found = sorted(device_ranges(done.events), key=lambda each: each["launch"])
    assert [(each["message"], each["category"], each["payload"]) for each in found] == [
        ("Sequential", FORWARD, 0),
        ("0", FORWARD + 2, 0),
        ("1", FORWARD + 3, 2),
        ("Sequential", BACKWARD, 0),
        ("1", BACKWARD, 2),
        ("0", BACKWARD, 0),
    ]
    streams = [each["stream_handle"] for each in found]
    assert len(set(streams[:5])) == 1
    assert streams[5] != streams[0]
    assert all(each["begin"] <= each["end"] for each in found)
    model, _, linear = found[3:]
    assert model["end"] >= linear["end"]  # on the stream on which the last node ran


@needs_library
def test_without_cuda_device_ranges_of_the_backward_pass_are_nothing():
    done = run_traced("""
import torch
import nvspan.torch
model = torch.nn.Sequential(torch.nn.Linear(4, 4))
nvspan.torch.annotate_module(model, forward=False, device=True, backward=True)
model(torch.ones(2, 4)).sum().backward()
assert nvspan.device_stats()["begun"] == 0
""")
    assert plain(done.events) == [
        "start #1 [torch] 'Sequential' category=#2:backward payload=i64:0",
        "start #2 [torch] '0' category=#2:backward payload=i64:0",
        "end #2 [torch] '0'",
        "end #1 [torch] 'Sequential'",
    ]
