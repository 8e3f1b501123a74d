# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A call does the same to the program whether a tool listens or not.

Each call of helpers/bad_calls.py is made in five states: no tool, a tool from the start, a tool
attached and detached, a tool that refuses every domain, and NVTX_DISABLE=1.
"""

from __future__ import annotations

import json

import pytest

from helpers import shared
from helpers.bad_calls import SETUP, calls
from helpers.traced import LIBRARY, run_plain, run_traced

CALLS = calls()
PROGRAM = f"""
import json, os, re, sys
import nvspan as nv
from nvspan import _core
if {{attach!r}}:
    _core.attach({LIBRARY!r}, "format=jsonl;file=" + os.devnull)
    nv.mark("listening")
    if {{attach!r}} == "gone":
        _core.detach()
{{setup}}
outcomes = []
for call in json.load(sys.stdin):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(call)
            said = [type(result).__name__]
            if isinstance(result, (bool, str, type(None))):
                said.append(repr(result))
        except Exception as error:
            said = ["raised", type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))]
    said.append(sorted({{{{(w.category.__name__, str(w.message)) for w in caught}}}}))
    outcomes.append(said)
print(json.dumps(outcomes))
"""
STATES = ("no tool", "a tool", "attached", "gone", "disabled")


@pytest.fixture(scope="module")
def outcomes():
    """{state: {call: what it did}}"""
    return shared.result("same_in_both_states", outcomes_of_all)


def outcomes_of_all():
    seen = {}
    for state in STATES:
        attach = state if state in ("attached", "gone") else ""
        code = PROGRAM.format(attach=attach, setup=SETUP)
        run = run_traced if state == "a tool" else run_plain
        env = {"NVTX_DISABLE": "1"} if state == "disabled" else None
        done = run(code, env=env, stdin=json.dumps([call for call, _ in CALLS]))
        said = json.loads(done.stdout.splitlines()[-1])
        seen[state] = dict(zip((call for call, _ in CALLS), said, strict=True))
    return seen


def test_the_table_is_long_enough():
    assert len(CALLS) == len({call for call, _ in CALLS}) >= 94


@pytest.mark.parametrize("call", [call for call, _ in CALLS])
def test_a_call_does_the_same_in_every_state(call, outcomes):
    reference = outcomes["no tool"][call]
    assert {state: outcomes[state][call] for state in STATES} == dict.fromkeys(STATES, reference)


@pytest.mark.parametrize(("call", "expected"), [pair for pair in CALLS if pair[1] is not None])
def test_a_call_raises_what_it_should(call, expected, outcomes):
    said = outcomes["no tool"][call]
    assert (said[1] if said[0] == "raised" else "") == expected, said
