# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.step: ranges with numbers, which need no torch."""

from __future__ import annotations

import pytest

import nvspan
from helpers.events import plain
from helpers.traced import run_plain, run_traced

PROGRAM = """
import sys
import nvspan
for n in range(2):
    with nvspan.step(n) as step:
        print(step.number)
kept = nvspan.step()
for _ in range(2):
    with kept as step:
        assert step is kept
        print(kept.number)
with nvspan.step(7, message="iteration", domain="mine", color="red", category="train"):
    with nvspan.step():
        pass
try:
    with nvspan.step():
        raise KeyError("in a step")
except KeyError as error:
    print(error)
with nvspan.step(10, level=99):
    pass
with nvspan.step(True.__index__(), device=True):
    pass
print("torch" in sys.modules)
"""


def test_ranges():
    traced = run_traced(PROGRAM)
    assert plain(traced.events) == [
        "push [torch] 'step' payload=i64:0 depth=0",
        "pop [torch] 'step' depth=0",
        "push [torch] 'step' payload=i64:1 depth=0",
        "pop [torch] 'step' depth=0",
        "push [torch] 'step' payload=i64:2 depth=0",
        "pop [torch] 'step' depth=0",
        "push [torch] 'step' payload=i64:3 depth=0",
        "pop [torch] 'step' depth=0",
        "push [mine] 'iteration' category=#1:train payload=i64:7 depth=0",
        "push [torch] 'step' payload=i64:8 depth=0",
        "pop [torch] 'step' depth=0",
        "pop [mine] 'iteration' depth=0",
        "push [torch] 'step' payload=i64:9 depth=0",
        "pop [torch] 'step' depth=0",
        "push [torch] 'step' payload=i64:1 depth=0",
        "pop [torch] 'step' depth=0",
    ]
    plain_run = run_plain(PROGRAM)
    assert plain_run.stdout == traced.stdout == "0\n1\n2\n3\n'in a step'\nFalse\n"
    assert plain_run.stderr == traced.stderr == ""


@pytest.mark.parametrize("number", ["1", 1.0, True, [1]])
def test_a_number_is_an_int(number):
    with pytest.raises(TypeError, match="a step's number must be an int or None, not"):
        nvspan.step(number)
    assert nvspan.step().number is None
