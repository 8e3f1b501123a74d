# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges around what is compiled, and what the program is told of those that are within it."""

from __future__ import annotations

import pytest

from helpers.traced import run_plain, run_traced

pytest.importorskip("torch", reason="torch is not installed")

START = """
import io, sys, warnings
import torch, nvspan, nvspan.torch
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters
warnings.simplefilter("always", nvspan.NvspanWarning)
sys.stderr = io.StringIO()
x = torch.ones(3, 4)
made = CompileCounter()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(x).sin()

def told():
    lines = sys.stderr.getvalue().splitlines()
    parts = [each.partition("NvspanWarning: ")[2] for each in lines]
    return [each.partition(":")[0] for each in parts if each]

def counted():
    return [made.frame_count, made.op_count, sum(counters["graph_break"].values()),
            sum(counters["recompiles"].values())]
"""


def shown(done):
    return [event["message"] for event in done.of_kind("push", "start")]


@pytest.mark.parametrize("device", [False, True])
def test_a_decorated_function_that_is_compiled_itself(device):
    program = f"""
@torch.compile(backend=made)
@nvspan.annotate("f", device={device})
def function(x, *args, factor=2):
    with nvspan.annotate("dropped"):
        return x * factor
assert torch.equal(function(x), x * 2)
assert torch.equal(function(x, 1, factor=3), x * 3)
assert torch.equal(function(x), x * 2)
print(counted())
"""
    done = run_traced(START + program)
    assert done.stdout == "[2, 2, 0, 0]\n"
    assert shown(done) == ["f", "f", "f"]


def test_one_graph_for_a_tool_that_comes_and_goes():
    program = """
@torch.compile(backend=made)
@nvspan.annotate("f")
def function(x):
    return x * 2
for _ in range(3):
    function(x)
    with nvspan.trace("/dev/null"):
        function(x)
print(counted())
"""
    assert run_plain(START + program).stdout == "[1, 1, 0, 0]\n"


@pytest.mark.parametrize("device", [False, True])
def test_auto_before_compilation(device):
    program = f"""
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
nvspan.torch.auto(model, optimizer, device={device})
compiled = torch.compile(model, backend=made)
for _ in range(3):
    compiled(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(counted(), told())
"""
    done = run_traced(START + program)
    assert done.stdout == "[1, 2, 0, 0] []\n"
    assert shown(done) == ["step", "forward", "backward", "optimizer.step", "zero_grad"] * 3


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize(
    ("model", "options"),
    [("Model()", "fullgraph=True"), ("torch.nn.Sequential(Model())", "")],
    ids=["fullgraph", "a class of torch"],
)
def test_auto_within_compiled_code_says_so_once(model, options, device):
    program = f"""
model = {model}
nvspan.torch.auto(model, device={device})
compiled = torch.compile(model, backend=made, {options})
for rows in (3, 3, 2):
    compiled(x[:rows]).sum().backward()
print(counted()[2], told())
"""
    done = run_traced(START + program)
    assert done.stdout == "0 ['auto']\n"
    assert shown(done) == ["backward"] * 3


@pytest.mark.parametrize("options", ["", "backward=True", "device=True"])
def test_annotate_module_before_compilation_shows_the_outermost_and_says_so(options):
    program = f"""
model = Model()
nvspan.torch.annotate_module(model, {options})
compiled = torch.compile(model, backend=made)
for _ in range(2):
    compiled(x).sum().backward()
print(counted(), told())
"""
    done = run_traced(START + program)
    assert done.stdout == "[1, 2, 0, 0] ['annotate_module']\n"
    assert shown(done) == ["Model"] * (4 if "backward" in options else 2)


@pytest.mark.parametrize("options", ["", "fullgraph=True"])
def test_annotate_module_of_what_is_within_compiled_code_already(options):
    program = f"""
model = Model()
compiled = torch.compile(model, backend=made, {options})
compiled(x)
nvspan.torch.annotate_module(model)
assert torch.equal(compiled(x), model(x))
print(counted()[2], told())
"""
    done = run_traced(START + program)
    assert done.stdout == "0 ['annotate_module']\n"


def test_without_a_tool_nothing_is_said():
    program = """
model = torch.nn.Sequential(Model())
nvspan.torch.auto(model)
nvspan.torch.annotate_module(model)
torch.compile(model, backend=made)(x)
print(counted(), told())
"""
    assert run_plain(START + program).stdout == "[1, 2, 0, 0] []\n"


def test_where_warnings_are_errors_the_code_is_compiled():
    program = """
warnings.simplefilter("error", nvspan.NvspanWarning)
model = torch.nn.Sequential(Model())
nvspan.torch.auto(model)
torch.compile(model, backend=made)(x)
print(counted(), sys.stderr.getvalue().startswith("nvspan: auto: "))
"""
    assert run_traced(START + program).stdout == "[1, 2, 0, 0] True\n"


def test_what_as_names_is_there_after_a_break_in_the_body():
    program = """
kept = nvspan.annotate("kept")
def function(x):
    with nvspan.step(x.shape[0]) as step, nvspan.annotate("a") as r, kept as k:
        torch._dynamo.graph_break()
        seen.append((type(step), step.number, type(r), k is kept))
        return x * 2
seen = []
torch.compile(function, backend=made)(x)
assert seen == [(nvspan.Step, 3, nvspan.annotate, True)], seen
print("right")
"""
    assert run_plain(START + program).stdout == "right\n"
