# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""annotate_ops: the whole list of operators of each case of programs/ops.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.device import only_real
from helpers.loops import by_case
from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

import nvspan.torch  # noqa: E402

PROGRAM = Path(__file__).with_name("programs") / "ops.py"

# name, f or b for the category, number of the operator within the case, counted from 0
EXPECTED = {
    "forward_and_backward": (
        "t:f0 addmm:f1 tanh:f2 sum:f3 ones_like:f3 "
        "expand:b3 tanh_backward:b2 t:b1 mm:b1 t:b1 sum:b1 view:b1 t:b0"
    ),
    "without_gradients": "t addmm add",
    "chosen": "add",
    "within_one_another": "add mul sub add",
    "shapes": (
        "new_ones{'self': [2, 4]} addmm{'self': [2, 4], 'mat1': [2, 2], 'mat2': [2, 4]} "
        "cat{'tensors': '[(2, 4), (2, 4)]'}"
    ),
    "raising": "mm",
    "another_thread": "",
    "level": "",
    "compiled": "add sin",
}


def in_short(event, first):
    text = event["message"].removeprefix("aten::")
    if event["payload_type"] == "i64":
        text += f":{event['category_name'][0]}{event['payload'] - first}"
    elif event["payload_type"] == "ext":
        text += str(event["payload_fields"])
    return text


def test_every_case():
    traced, plain = run_traced(PROGRAM), run_plain(PROGRAM)
    cases = by_case(traced.events, list)
    assert list(cases) == list(EXPECTED)
    for name, events in cases.items():
        pushes = events[::2]
        assert [each["kind"] for each in events] == ["push", "pop"] * len(pushes)
        words = [in_short(each, pushes[0]["payload"]) for each in pushes]
        assert (name, " ".join(words)) == (name, EXPECTED[name])
    assert plain.stdout == traced.stdout
    assert plain.stderr == traced.stderr == ""


def test_a_pattern_is_a_str():
    for given in [{"include": [1]}, {"exclude": [torch.add]}]:
        with pytest.raises(TypeError, match="operators are chosen by shell patterns, not"):
            nvspan.torch.annotate_ops(**given)


THREADS = """
import sys, torch, nvspan.torch
where = sys.argv[1]
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).to(where)
x = torch.ones(3, 4, device=where)
model(x).sum().backward()
with nvspan.torch.annotate_ops():
    model(x).sum().backward()
"""


@only_real
def test_the_backward_pass_of_a_gpu_runs_in_a_thread_of_its_own():
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA, or finds no GPU")
    shown = {}
    for where in ("cpu", "cuda"):
        pushed = [e for e in run_traced(THREADS, where).events if e["kind"] == "push"]
        first = pushed[0]["payload"]
        threads = {}
        for event in pushed:
            threads.setdefault(event["tid"], []).append(in_short(event, first))
        shown[where] = list(threads.values())
    (together,) = shown["cpu"]
    forward, backward = shown["cuda"]
    assert forward + backward == together
