# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""annotate_module: the whole list of ranges of each case of programs/modules.py."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import pytest

from helpers.events import plain
from helpers.loops import by_case, signs
from helpers.recorded import record_command
from helpers.traced import run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

from nvspan.torch import annotate_module  # noqa: E402

PROGRAM = Path(__file__).with_name("programs") / "modules.py"

# "+" and "-": a forward range opens and closes; "<" and ">": one of the backward pass; ".": a mark.
EXPECTED = {
    "forward_nested": "+Sequential  +0  -0  +1  +1.0  -1.0  +1.1  -1.1  -1  -Sequential",
    "forward_depth": "+Sequential  -Sequential  +Sequential  +0  -0  +1  -1  -Sequential",
    "forward_include_and_exclude": "+1.1  -1.1  +Sequential  +1.1  -1.1  -Sequential",
    "forward_shared_module": "+Sequential  +0  -0  +1  -1  +0  -0  -Sequential",
    "forward_of_two_models_of_a_class": "+Sequential  -Sequential  +Sequential#2  -Sequential#2"
    "  +other  -other  +Sequential  -Sequential",
    "forward_exception": "+0  -0  .after",
    "forward_arguments_and_outputs": "+Odd  -Odd",
    "forward_with_super": "+Derived  -Derived  +Derived  -Derived",
    "forward_of_an_instance": "+Linear  -Linear",
    "forward_that_is_decorated": "+Decorated  +mine  -mine  -Decorated  +Decorated  +mine  -mine"
    "  -Decorated",
    "forward_of_a_compiled_model": "+Sequential  -Sequential  +Sequential  -Sequential",
    "forward_compiled_afterwards": "",
    "copies_have_no_ranges": "+0  -0  +1  -1",
    "annotated_twice": "<Outer  <Sequential  <2  >2  <1  >1  <0  >0  >Sequential  >Outer",
}


@pytest.fixture(scope="module")
def cases():
    return by_case(run_traced(PROGRAM).events, signs)


def test_every_case_is_known(cases):
    assert list(cases) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_events(cases, name):
    assert "  ".join(cases[name]) == EXPECTED[name]


def test_every_attribute_of_an_event():
    done = run_traced("""
import torch
import nvspan.torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4))
nvspan.torch.annotate_module(model, backward=True, level=1, domain="lib", exclude="Sequential")
for _ in range(2):
    model(torch.ones(2, 4)).sum().backward()
""")
    assert plain(done.events) == [
        "push [lib] '0' category=#1:forward Linear payload=i64:0 depth=0",
        "pop [lib] '0' depth=0",
        "start #1 [lib] '0' category=#2:backward payload=i64:0",
        "end #1 [lib] '0'",
        "push [lib] '0' category=#1:forward Linear payload=i64:3 depth=0",
        "pop [lib] '0' depth=0",
        "start #2 [lib] '0' category=#2:backward payload=i64:3",
        "end #2 [lib] '0'",
    ]


ACTOR_AND_CRITIC = """
import torch, nvspan.torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.layer(x)
actor, critic = Net(), Net()
handles = [nvspan.torch.annotate_module(model, backward=True) for model in (actor, critic)]
x = torch.ones(2, 4)
for _ in range(5):
    with nvspan.annotate("step"):
        actor(actor(critic(x))).sum().backward()
"""


def test_modules_of_two_models_of_a_class_are_apart():
    """An actor that is called twice in each step, and a critic that is called once."""
    recording = record_command([sys.executable, "-c", ACTOR_AND_CRITIC]).recording
    modules = recording.modules()
    found = {module.path: module for module in modules.models}
    assert {
        path: (module.calls / modules.steps, [child.path for child in module.children])
        for path, module in found.items()
    } == {"Net": (2, ["layer"]), "Net#2": (1, ["layer"])}
    assert all(module.children[0].backward_cpu for module in found.values())


def test_a_name_that_is_no_text():
    with pytest.raises(TypeError, match="name must be text, not 1"):
        annotate_module(torch.nn.Linear(1, 1), name=1)


def test_shapes_are_a_payload():
    done = run_traced("""
import torch
import nvspan.torch
class Two(torch.nn.Module):
    def forward(self, x, *rest, scale=None, **more):
        return x
model = Two()
nvspan.torch.annotate_module(model, shapes=True)
with torch.no_grad():
    model(torch.ones(2, 3), torch.ones(5), 7, scale=torch.ones(1).half(), mask=torch.ones(2) > 0)
""")
    (push,) = done.of_kind("push")
    assert push["message"] == "Two"
    (schema,) = done.of_kind("schema_register")
    assert [each["name"] for each in schema["entries"] if each["name"]] == [
        "sequence", "grad", "x", "x_dtype", "scale", "scale_dtype", "rest0", "rest0_dtype", "mask",
        "mask_dtype",
    ]  # fmt: skip


def small():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(inplace=True), torch.nn.Linear(8, 4), torch.nn.Tanh()
    )


GRADIENTS = """
import torch, gc, weakref
import nvspan.torch

def train(annotated, steps):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(inplace=True), torch.nn.LayerNorm(8),
        torch.nn.Linear(8, 4), torch.nn.Tanh(),
    )
    if annotated:
        nvspan.torch.annotate_module(model, backward=True, shapes=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        out = model(torch.randn(3, 4))
        loss = out.square().mean()
        loss.backward()
        if step == steps - 1:
            refs = [weakref.ref(out), weakref.ref(loss)]
        losses.append(loss.item())
        optimizer.step()
        if step == 20:
            gc.collect()
            count = len(gc.get_objects())
    del out, loss
    assert [each() for each in refs] == [None] * 2
    gc.collect()
    grown = len(gc.get_objects()) - count
    return losses, [each.detach().clone() for each in model.parameters()], grown

bare = train(False, 30)
got = train(True, 30)
assert bare[0] == got[0]
assert all(torch.equal(a, b) for a, b in zip(bare[1], got[1]))
_, _, grown = train(True, 1000)
print(grown < 2000)
"""


def test_training_is_the_same_to_the_bit_and_leaves_nothing_behind():
    assert run_traced(GRADIENTS).stdout == "True\n"


def test_while_nothing_listens_forward_has_the_code_of_the_class():
    import nvspan

    assert not nvspan.is_active()
    model = small()
    handle = annotate_module(model, backward=True)
    for module in model:
        assert module.forward.__func__.__code__ is type(module).forward.__code__
        assert module.forward.__wrapped__ is type(module).forward
    handle.remove()


def test_a_model_that_is_dropped_is_freed():
    model = small()
    gone = weakref.ref(model)
    annotate_module(model, backward=True)
    del model
    gc.collect()
    assert gone() is None


def test_wrong_arguments():
    with pytest.raises(TypeError, match=r"takes a torch\.nn\.Module"):
        annotate_module(lambda x: x)
    model = small()
    handle = annotate_module(model, include="0")
    with pytest.raises(ValueError, match="module '0' is already annotated"):
        annotate_module(model)
    assert "forward" not in vars(model)
    handle.remove()
    with pytest.raises(ValueError, match="level"):
        annotate_module(model, level=-1)
    assert "forward" not in vars(model[0])


def test_somebody_elses_forward_stays():
    model = small()
    handle = annotate_module(model)
    mine = model[0].forward = lambda x: x
    handle.remove()
    assert model[0].forward is mine


REUSED = """
import torch
from torch import nn
import nvspan.torch
with nvspan.annotate("startup", domain="torch"):
    shared = nn.Linear(4, 4)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(shared, nn.ReLU())
            self.blocks = nn.ModuleList(nn.Tanh() for _ in range(2))
            self.decoder = nn.Sequential(shared)
        def forward(self, x):
            x = self.encoder(x)
            for block in self.blocks:
                x = block(block(x))
            return self.decoder(x)
    net, other = Net(), nn.Sequential(nn.Linear(4, 1))
    third, part = nn.Sequential(nn.Tanh()), nn.Sequential(nn.Linear(1, 1), nn.ReLU())
for model in (net, other, third):
    nvspan.torch.annotate_module(model)
nvspan.torch.annotate_module(part, include="1")
for number in range(6):
    with nvspan.annotate("step", payload=number):
        part(third(other(net(torch.ones(2, 4)))))
net(torch.ones(2, 4))
"""


def test_the_tree_goes_by_calls_and_numbers_carry_their_class():
    found = record_command([sys.executable, "-c", REUSED]).recording.modules(step="step")
    steps = found.steps
    assert [
        (row["level"], row["path"], row["class"], row["calls"] / steps)
        for row in found.rows(fold=False)
    ] == [
        (0, "Net", None, 1), (1, "encoder", None, 1), (2, "encoder.0", "Linear", 1),
        (2, "encoder.1", "ReLU", 1), (1, "blocks", None, 0), (2, "blocks.0", "Tanh", 2),
        (2, "blocks.1", "Tanh", 2), (1, "decoder", None, 1), (2, "encoder.0", "Linear", 1),
        (0, "Sequential", None, 1), (1, "0", "Linear", 1), (0, "Sequential#2", None, 1),
        (1, "0", "Tanh", 1), (0, "1", "ReLU", 1),
    ]  # fmt: skip
