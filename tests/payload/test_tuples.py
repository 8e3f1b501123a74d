# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tuples as payloads: each is one value, also where numpy makes the array of it."""

from __future__ import annotations

import struct

import pytest

from helpers.payloads import payloads
from helpers.traced import run_traced

pytest.importorskip("numpy")

TUPLES = """
(1, np.int64(2)), (np.float64(1), 2.5), (np.float32(0.5), "i4"), (np.int64(3),),
(np.uint8(1), np.uint8(2)), (np.int8(1), 2.5, True), ((1, np.int64(2)), (3, 4)),
((np.float64(1), 2), (3, 4.5)), (np.ones(2), np.zeros(2)), (np.arange(2, dtype="i4"),),
((np.arange(2), np.arange(2)), (np.arange(2), np.arange(2))), [(1, np.int64(2)), (3, 4)],
([1, np.int64(2)], [3, 4]), (np.str_("a"), "bcd"), (np.bytes_(b"a"), b"bc")
"""
CALLS = f"""
import warnings, numpy as np
import MODULE as nvtx
warnings.simplefilter("ignore")
domain = nvtx.get_domain("d")
for value in [{TUPLES}]:
    nvtx.mark("mark", payload=value)
    nvtx.push_range("push", payload=value); nvtx.pop_range()
    nvtx.end_range(nvtx.start_range("start", payload=value))
    with nvtx.annotate("annotate", payload=value): pass
    domain.mark(message="of a domain", payload=value)
    domain.push_range(message="push", payload=value); domain.pop_range()
    domain.end_range(domain.start_range(message="start", payload=value))
    attributes = domain.get_event_attributes(message="attributes", payload=value)
    domain.mark(attributes)
    attributes.payload = value
    domain.mark(attributes)
"""


def test_a_tool_sees_what_it_sees_of_the_peer():
    pytest.importorskip("nvtx")
    ours, theirs = (payloads(run_traced(CALLS.replace("MODULE", module)).events)
                    for module in ("nvspan", "nvtx"))  # fmt: skip
    assert len(ours) == 9 * 15
    assert ours == theirs


def packed(layout, *values):
    return struct.pack("<" + layout, *values).hex()


def array_of(number, name, size):
    element = (1, 0, size, ((number, 0, name, 0, 0, ()),))
    return (2, 0, 0, ((18, 0, "size", 0, 0, ()), (element, 48, "data", 0, 0, ())))


INT64 = array_of(17, "int64", 8)
FLOAT64 = array_of(44, "float64", 8)


def test_the_bytes_of_each_tuple():
    trace = run_traced("""
import numpy as np, nvspan, warnings
warnings.simplefilter("always")
class Pair(tuple): pass
array = np.arange(4)
for value in [(1, np.int64(2)), (np.float64(1), 2.5), ((1, np.int64(2)), (3, 4)),
              (np.ones(1), np.zeros(1)), Pair((1, np.int64(2))), (), ((),),
              (array, "float32"), (array, np.float32), (array, None), (array, (1, 2)),
              (1, (np.int64(2), 3)), (1, np.int64(2), [3])]:
    nvspan.mark("m", payload=value)
again = nvspan.annotate("again", payload=(array[:1], array[1:2]))
for _ in range(3):
    with again: pass
    array += 10
nvspan.mark("m", payload=lambda: (1, np.int64(2)))
nvspan.mark("m", payload={"shape": (1, 2), "mixed": (1, 2.5)})
with nvspan.get_domain("d").annotate("dict", payload=lambda: {"deep": {"pair": (1, 2)}}): pass
""")
    pair = (INT64, packed("Q2q", 2, 1, 2))
    assert payloads(trace.events) == [
        ("mark", "m", "ext", [pair]),
        ("mark", "m", "ext", [(FLOAT64, packed("Q2d", 2, 1, 2.5))]),
        ("mark", "m", "ext", [(INT64, packed("Q4q", 4, 1, 2, 3, 4))]),
        ("mark", "m", "ext", [(FLOAT64, packed("Q2d", 2, 1, 0))]),
        ("mark", "m", "ext", [pair]),
        *[("mark", "m", "none", None)] * 8,
        *[("push", "again", "ext", [(INT64, packed("Q2q", 2, n, n + 1))]) for n in (0, 10, 20)],
        ("mark", "m", "ext", [pair]),
        ("mark", "m", "ext", [((1, 0, 32, ((17, 16, "shape", 2, 0, ()),
                                           (44, 16, "mixed", 2, 16, ()))),
                               packed("2q2d", 1, 2, 1, 2.5))]),
        ("push", "dict", "ext", [((1, 0, 16, ((17, 16, "deep.pair", 2, 0, ()),)),
                                  packed("2q", 1, 2))]),
    ]  # fmt: skip
    warned = [line.split("NvspanWarning: ")[1] for line in trace.stderr.splitlines()
              if "NvspanWarning" in line]  # fmt: skip
    assert len(warned) == 1
    assert warned[0].startswith("payload of type 'tuple' cannot be encoded: ")
