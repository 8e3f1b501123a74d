# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A call does the same to the program whether a tool listens or not.

Each call is made in five states: no tool, a tool from the start, a tool attached, one attached and
detached, and NVTX_DISABLE=1. A call is an expression over `nv` (the package), `d` (a domain), `a`
(attributes of `d`), `r` (an annotate object), `numpy` and the names of SETUP; it stands with the
name of the exception that it must raise, "" for one that succeeds.
"""

from __future__ import annotations

import json

import pytest

from helpers import shared
from helpers.traced import LIBRARY, run_plain, run_traced

SETUP = """
import enum, fractions, decimal, numpy, pathlib, warnings
class Text(str): pass
class Color(enum.Enum): RED = "red"
class Name(str, enum.Enum): LIB = "lib"
class Bad:
    def __str__(self): raise RuntimeError("str")
    def __repr__(self): raise RuntimeError("repr")
    def __index__(self): raise RuntimeError("index")
    def __float__(self): raise RuntimeError("float")
    def __hash__(self): raise RuntimeError("hash")
def function(): pass
d = nv.get_domain("bad_calls")
a = d.get_event_attributes(message="kept")
r = nv.annotate("kept")
"""

# What every function that takes the five fields must do with them.
FIELDS = [
    ("message=5", "TypeError"),
    ("message=2.5", "TypeError"),
    ("message=['x']", "TypeError"),
    ("message=object()", "TypeError"),
    ("message=pathlib.Path('a/b')", ""),
    ("message=Text('sub')", ""),
    ("message=b'bytes'", ""),
    ("message=b'\\xff\\xfe'", ""),
    ("message='nul\\0inside'", ""),
    ("message='lone \\ud800 surrogate'", ""),
    ("message=''", ""),
    ("message='x' * 1_000_000", ""),
    ("'m', color=(1, 2)", "ValueError"),
    ("'m', color=object()", "TypeError"),
    ("'m', color=[]", "ValueError"),
    ("'m', color={}", "TypeError"),
    ("'m', color=1.5", "TypeError"),
    ("'m', color=-1", "NumberRangeError"),
    ("'m', color=2**32", "NumberRangeError"),
    ("'m', color='#fff'", ""),
    ("'m', color='#80ffffff'", ""),
    ("'m', color='rebeccapurple'", ""),
    ("'m', color=(0.1, 0.2, 0.3)", ""),
    ("'m', color=numpy.uint32(5)", ""),
    ("'m', color=True", ""),
    ("'m', domain=5", "TypeError"),
    ("'m', domain=2.5", "TypeError"),
    ("'m', domain=object()", "TypeError"),
    ("'m', domain=['d']", "TypeError"),
    ("'m', domain=Text('sub')", ""),
    ("'m', domain=Name.LIB", ""),
    ("'m', domain='nul\\0inside'", ""),
    ("'m', domain='lone \\ud800 surrogate'", ""),
    ("'m', category=2.5", ""),
    ("'m', category=float('nan')", "ValueError"),
    ("'m', category=object()", "TypeError"),
    ("'m', category=[1]", "TypeError"),
    ("'m', category=-1", "NumberRangeError"),
    ("'m', category=2**32", "NumberRangeError"),
    ("'m', category='nul\\0inside'", ""),
    ("'m', category='lone \\ud800 surrogate'", ""),
    ("'m', category=''", ""),
    ("'m', payload=2**63", ""),
    ("'m', payload=2**64 - 1", ""),
    ("'m', payload=2**64", "OverflowError"),
    ("'m', payload=-2**63 - 1", "OverflowError"),
    ("'m', payload='text'", ""),
    ("'m', payload=b'bytes'", ""),
    ("'m', payload=[1, 2]", ""),
    ("'m', payload=[1, 'mixed', 2.5]", ""),
    ("'m', payload={'k': 1}", ""),
    ("'m', payload=object()", ""),
    ("'m', payload=Bad()", ""),
    ("'m', payload=1j", ""),
    ("'m', payload=fractions.Fraction(1, 3)", ""),
    ("'m', payload=decimal.Decimal('1.5')", ""),
    ("'m', payload=numpy.zeros((2, 2))", ""),
    ("'m', payload=numpy.float16(1)", ""),
    ("'m', payload=numpy.array(7)", ""),
    ("'m', payload=True", ""),
    ("'m', payload=float('nan')", ""),
    ("nonsense=1", "TypeError"),
    ("'m', 'red', None, None, None, 'sixth'", "TypeError"),
    ("'m', message='twice'", "TypeError"),
]

FUNCTIONS = ("nv.annotate", "nv.mark", "nv.push_range", "nv.start_range")

OTHERS = [
    ("nv.annotate('m', kind='neither')", "ValueError"),
    ("nv.annotate('m', kind=5)", None),
    ("nv.annotate('m', level='high')", "TypeError"),
    ("nv.annotate('m')(5)", "TypeError"),
    ("nv.annotate('m')(None)", "TypeError"),
    ("nv.annotate('m')('text')", "TypeError"),
    ("nv.annotate('m')()", "TypeError"),
    ("nv.annotate('m')(function, 1)", "TypeError"),
    ("nv.annotate('m').__exit__()", "TypeError"),
    ("nv.annotate('m').__enter__(1)", "TypeError"),
    ("nv.pop_range(5)", "TypeError"),
    ("nv.pop_range(object())", "TypeError"),
    ("nv.pop_range('a', 'b')", "TypeError"),
    ("nv.pop_range(domian='typo')", "TypeError"),
    ("nv.pop_range()", ""),
    ("nv.end_range()", "TypeError"),
    ("nv.end_range(None)", ""),
    ("nv.end_range((1, None))", ""),
    ("nv.end_range((0, None))", ""),
    ("nv.end_range(nv.start_range('x'))", ""),
    ("nv.end_range(5)", "TypeError"),
    ("nv.end_range('text')", "TypeError"),
    ("nv.end_range((1,))", "TypeError"),
    ("nv.end_range((1, 2, 3))", "TypeError"),
    ("nv.end_range(('a', None))", "TypeError"),
    ("nv.end_range((1.5, None))", "TypeError"),
    ("nv.end_range((1, 'd'))", "TypeError"),
    ("nv.end_range((2**64, None))", "OverflowError"),
    ("nv.end_range((-1, None))", "OverflowError"),
    ("nv.end_range(object())", "TypeError"),
    ("nv.get_domain(5)", "TypeError"),
    ("nv.get_domain(object())", "TypeError"),
    ("nv.get_domain(['a'])", "TypeError"),
    ("nv.get_domain('a', 'b')", "TypeError"),
    ("nv.get_domain(Text('sub'))", ""),
    ("nv.get_domain(Name.LIB)", ""),
    ("nv.Domain(5)", "TypeError"),
    ("nv.Domain('a', 'b')", "TypeError"),
    ("nv.Domain()", ""),
    ("nv.enabled(1)", "TypeError"),
    ("d.get_registered_string()", "TypeError"),
    ("d.get_registered_string(5)", "TypeError"),
    ("d.get_registered_string('nul\\0inside').string", ""),
    ("d.get_category_id()", "TypeError"),
    ("d.get_category_id(5)", "TypeError"),
    ("d.get_category_id('c')", ""),
    ("d.get_event_attributes(message=5)", "TypeError"),
    ("d.get_event_attributes(color=(1, 2))", "ValueError"),
    ("d.get_event_attributes(category='c', color=2.5)", "TypeError"),
    ("d.get_event_attributes(payload=2**64)", "OverflowError"),
    ("d.get_event_attributes(nonsense=1)", "TypeError"),
    ("d.set_event_attributes()", "TypeError"),
    ("d.set_event_attributes(5)", "TypeError"),
    ("d.set_event_attributes(None, message='x')", "TypeError"),
    ("d.set_event_attributes(a, color=(1, 2))", "ValueError"),
    ("d.set_event_attributes(a, payload=2**64)", "OverflowError"),
    ("d.set_event_attributes(a, nonsense=1)", "TypeError"),
    ("setattr(a, 'message', 5)", "TypeError"),
    ("setattr(a, 'color', (1, 2))", "ValueError"),
    ("setattr(a, 'category', 'text is no id')", None),
    ("setattr(a, 'payload', 2**64)", "OverflowError"),
    ("d.mark(5)", "TypeError"),
    ("d.mark('text')", None),
    ("d.mark(a, a)", "TypeError"),
    ("d.mark(message=5)", "TypeError"),
    ("d.mark(nonsense=1)", "TypeError"),
    ("d.mark(a, color=(1, 2))", "ValueError"),
    ("d.push_range(5)", "TypeError"),
    ("d.push_range(nonsense=1)", "TypeError"),
    ("d.pop_range(1)", "TypeError"),
    ("d.start_range(5)", "TypeError"),
    ("d.start_range(message=object())", "TypeError"),
    ("d.end_range()", "TypeError"),
    ("d.end_range('text')", "TypeError"),
    ("d.end_range(1.5)", "TypeError"),
    ("d.end_range(-1)", "OverflowError"),
    ("d.end_range(2**64)", "OverflowError"),
    ("d.end_range(0)", ""),
    ("d.end_range(d.start_range(message='x'))", ""),
    ("d.annotate('m')", ""),
    ("d.annotate('m', domain='other')", "TypeError"),
]


# None leaves open which exception, if any.
CALLS = [
    (f"{function}({arguments})", outcome) for function in FUNCTIONS for arguments, outcome in FIELDS
] + OTHERS
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
