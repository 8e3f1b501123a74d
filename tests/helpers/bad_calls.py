# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Calls with unusual or wrong arguments, and the exception each must raise, tool or no tool.

Every call is an expression over `nv` (the package), `d` (a domain), `a` (attributes of `d`),
`r` (an annotate object), `numpy` and the names of SETUP. The outcome is an exception's name, or
"" for a call that succeeds.
"""

from __future__ import annotations

SETUP = """
import enum, fractions, decimal, numpy, warnings
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
    ("message=Text('sub')", ""),
    ("message=b'bytes'", ""),
    ("message=b'\\xff\\xfe'", ""),
    ("message='nul\\0inside'", ""),
    ("message='lone \\ud800 surrogate'", ""),
    ("message=''", ""),
    ("message='x' * 1_000_000", ""),
    ("'m', color='no such color'", "ValueError"),
    ("'m', color=''", "ValueError"),
    ("'m', color='#12345'", "ValueError"),
    ("'m', color='#gggggg'", "ValueError"),
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
    ("'m', category=2.5", "TypeError"),
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
    ("d.get_event_attributes(color='no such color')", "ValueError"),
    ("d.get_event_attributes(category=2.5)", "TypeError"),
    ("d.get_event_attributes(payload=2**64)", "OverflowError"),
    ("d.get_event_attributes(nonsense=1)", "TypeError"),
    ("d.set_event_attributes()", "TypeError"),
    ("d.set_event_attributes(5)", "TypeError"),
    ("d.set_event_attributes(None, message='x')", "TypeError"),
    ("d.set_event_attributes(a, color='no such color')", "ValueError"),
    ("d.set_event_attributes(a, payload=2**64)", "OverflowError"),
    ("d.set_event_attributes(a, nonsense=1)", "TypeError"),
    ("setattr(a, 'message', 5)", "TypeError"),
    ("setattr(a, 'color', 'no such color')", "ValueError"),
    ("setattr(a, 'category', 'text is no id')", None),
    ("setattr(a, 'payload', 2**64)", "OverflowError"),
    ("d.mark(5)", "TypeError"),
    ("d.mark('text')", None),
    ("d.mark(a, a)", "TypeError"),
    ("d.mark(message=5)", "TypeError"),
    ("d.mark(nonsense=1)", "TypeError"),
    ("d.mark(a, color='no such color')", "ValueError"),
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


def calls() -> list[tuple[str, str | None]]:
    """Every call with its outcome; None leaves open which exception, if any."""
    table = [
        (f"{function}({arguments})", outcome)
        for function in FUNCTIONS
        for arguments, outcome in FIELDS
    ]
    return table + OTHERS
