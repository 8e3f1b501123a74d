# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Structured payloads: the bytes and schemas of nvtx 0.2.17, and what goes beyond it."""

from __future__ import annotations

import os
import struct

import pytest

from helpers.payloads import payloads
from helpers.tiny_tools import build, run_under
from helpers.traced import run_plain, run_traced

pytest.importorskip("numpy")

# Everything that the peer takes; np is numpy.
VALUES = """
b'', b'ab', (1, 2), [1, 2.5], [[1, 2], [3, 4]], ['a', 'bcd'], [1, 'a'], [b'a', b'bc'], [1, 2**63],
[-1, 2**63], [True, 2], [True, 2.5], [1.5, 'a'], [True, 'ab'], [[1.5], [2]], ((1, 2), (3, 4.5)),
[['a'], ['bcd']], [float('nan')], [0] * 1000, [], (), range(0), [[]], range(2), range(-3, 9, 4),
[np.float32(1.5)], [np.ones(2), np.zeros(2)],
np.array(3.5), np.array('ab'), np.array(b'abc'), np.zeros((), 'i4,f8'), np.zeros(0),
np.ones(2, 'i1'), np.ones(2, 'i2'), np.ones(2, 'i4'), np.ones(2, 'i8'), np.ones(2, 'u1'),
np.ones(2, 'u2'), np.ones(2, 'u4'), np.ones(2, 'u8'), np.ones(2, 'f2'), np.ones(2, 'f4'),
np.ones(2, 'f8'), np.array(['a', 'bb']), np.array([b'a', b'bb']),
np.arange(12).reshape(3, 4)[:, ::2], np.asfortranarray(np.arange(6).reshape(2, 3)),
np.ones(2, [('a', 'i1'), ('b', 'f4', (2,))]), np.zeros(1, [('m', 'f4', (2, 3))]),
np.array([((1, 2.5), b'xy', 'uv')],
         [('p', [('q', 'i1'), ('r', 'f8')]), ('s', 'S3'), ('t', 'U2')]),
np.zeros(1, np.dtype([('a', 'i1'), ('b', 'f8')], align=True)),
np.zeros(2, np.dtype({'names': ['x', 'y'], 'formats': ['i4', 'u2'], 'offsets': [8, 2],
                      'itemsize': 16})),
np.zeros((), np.dtype([(('title', 'name'), 'i4')])),
"""
CALLS = f"""
import warnings, numpy as np
import MODULE as nvtx
warnings.simplefilter("ignore")
values = [{VALUES}]
d = nvtx.get_domain("d")
for p in values:
    nvtx.mark("mark", payload=p)
    nvtx.push_range("push", payload=p); nvtx.pop_range()
    nvtx.end_range(nvtx.start_range("start", payload=p))
    with nvtx.annotate("annotate", payload=p): pass
    d.mark(message="of domain", payload=p)
    d.push_range(message="push", payload=p); d.pop_range()
    a = d.get_event_attributes(message="attributes", payload=p)
    d.mark(a); d.mark(a); d.end_range(d.start_range(a))
    a.payload = None
    d.mark(a)
kept = nvtx.annotate("kept", payload=(1, 2))
growing = [1]
changed = np.zeros(2)
again = nvtx.annotate("list", payload=growing)
array = nvtx.annotate("array", payload=changed)
@nvtx.annotate(payload=growing)
def function(): pass
for i in range(4):
    with kept, again, array: pass
    function()
    growing.append(i)
    changed += 1
"""


def test_bytes_and_schemas_are_those_of_the_peer():
    pytest.importorskip("nvtx")
    ours, theirs = (payloads(run_traced(CALLS.replace("MODULE", module)).events)
                    for module in ("nvspan", "nvtx"))  # fmt: skip
    assert len(ours) > 400
    assert ours == theirs


def test_a_schema_is_registered_once_for_each_domain():
    trace = run_traced(
        "import nvspan\n"
        "for d in None, 'd', None, 'd':\n"
        " for n in 1, 2: nvspan.mark('m', domain=d, payload={'step': n, 'loss': 0.5})"
    )
    names = [(e["domain"], [x["name"] for x in e["entries"]])
             for e in trace.of_kind("schema_register")]  # fmt: skip
    assert names == [(None, ["step", "loss"]), ("d", ["step", "loss"])]


INT64 = (1, 0, 8, ((17, 0, "int64", 0, 0, ()),))


def array_of(element):
    return (2, 0, 0, ((18, 0, "size", 0, 0, ()), (element, 48, "data", 0, 0, ())))


def ints(*numbers):
    return (array_of(INT64), struct.pack(f"<Q{len(numbers)}q", len(numbers), *numbers).hex())


def scalar(number, name, size):
    return (1, 0, size, ((number, 0, name, 0, 0, ()),))


BEYOND = """
import array, enum, sys, warnings
from dataclasses import dataclass
from typing import Any, NamedTuple
import nvspan
warnings.simplefilter("ignore")

class Point(NamedTuple):
    step: int
    loss: float
    name: str

@dataclass
class Batch:
    size: int
    shape: tuple
    inner: Any
    last: bool = False
    none: object = None

class Color(enum.Enum):
    RED = 5

class Word(str, enum.Enum):
    WHY = "why"

class Size(tuple): pass

for value in [
    "text", "gr\\xf6\\xdfe", "", "lone \\udc80", Word.WHY,
    {"step": 1, "loss": 0.5}, {"a": True, "b": 2, "c": -1.5}, {},
    {"shape": (4, 128), "name": "fwd"}, {"raw": b"xy", "color": Color.RED},
    {"many": list(range(17)), "none": [], "mixed": [1, 2.5]}, {"big": 2**63},
    Point(1, 2.5, "n"), Batch(7, (1, 2), Point(1, 2.0, "x")), Batch(1, (), {"deep": {"er": 1}}),
    Size((1, 2)), bytearray(b"abc"), memoryview(b"abc"), array.array("d", [1, 2]), [True, False],
    [2**63, 2**64 - 1], lambda: {"a": 1}, lambda: [1],
]:
    nvspan.mark("m", payload=value)
print("numpy" in sys.modules)
"""


def packed(layout, *values):
    return struct.pack("<" + layout, *values).hex()


def test_values_that_the_peer_does_not_take():
    trace = run_traced(BEYOND)
    assert trace.stdout == "False\n"  # numpy is not imported for any of this
    text = 76
    expected = [
        (text, b"text".hex()),
        (text, "größe".encode().hex()),
        None,
        (text, rb"lone \udc80".hex()),
        (text, b"why".hex()),
        ((1, 0, 16, ((17, 0, "step", 0, 0, ()), (44, 0, "loss", 0, 8, ()))), packed("qd", 1, 0.5)),
        ((1, 0, 24, ((12, 0, "a", 0, 0, ()), (17, 0, "b", 0, 8, ()), (44, 0, "c", 0, 16, ()))),
         packed("B7xqd", 1, 2, -1.5)),
        None,
        ((2, 0, 0, ((17, 16, "shape", 2, 0, ()), (text, 32, "name", 0, 0, ()))),
         packed("qq4s", 4, 128, b"fwd")),
        ((2, 0, 0, ((18, 512, "raw.size", 0, 0, ()), (32, 48, "raw", 0, 0, ()),
                    (17, 0, "color", 0, 0, ()))), packed("Q2s6xq", 2, b"xy", 5)),
        ((2, 0, 0, ((18, 512, "many.size", 0, 0, ()), (17, 48, "many", 0, 0, ()),
                    (18, 512, "none.size", 0, 0, ()), (17, 48, "none", 2, 0, ()),
                    (44, 16, "mixed", 2, 0, ()))),
         packed("Q17qQ2d", 17, *range(17), 0, 1, 2.5)),
        ((1, 0, 8, ((18, 0, "big", 0, 0, ()),)), packed("Q", 2**63)),
        ((2, 0, 0, ((17, 0, "step", 0, 0, ()), (44, 0, "loss", 0, 0, ()),
                    (text, 32, "name", 0, 0, ()))), packed("qd2s", 1, 2.5, b"n")),
        ((2, 0, 0, ((17, 0, "size", 0, 0, ()), (17, 16, "shape", 2, 0, ()),
                    (17, 0, "inner.step", 0, 0, ()), (44, 0, "inner.loss", 0, 0, ()),
                    (text, 32, "inner.name", 0, 0, ()), (12, 0, "last", 0, 0, ()))),
         packed("q2qqd2sB", 7, 1, 2, 1, 2.0, b"x", 0)),
        ((2, 0, 0, ((17, 0, "size", 0, 0, ()), (18, 512, "shape.size", 0, 0, ()),
                    (17, 48, "shape", 1, 0, ()), (17, 0, "inner.deep.er", 0, 0, ()),
                    (12, 0, "last", 0, 0, ()))), packed("qQqB", 1, 0, 1, 0)),
        ints(1, 2),
        ((1, 0, 3, ((32, 16, "bytes24", 3, 0, ()),)), b"abc".hex()),
        ((1, 0, 3, ((32, 16, "bytes24", 3, 0, ()),)), b"abc".hex()),
        (array_of(scalar(44, "float64", 8)), packed("Q2d", 2, 1, 2)),
        (array_of(scalar(12, "bool", 1)), packed("Q2B", 2, 1, 0)),
        (array_of(scalar(18, "uint64", 8)), packed("Q2Q", 2, 2**63, 2**64 - 1)),
        ((1, 0, 8, ((17, 0, "a", 0, 0, ()),)), packed("q", 1)),
        ints(1),
    ]  # fmt: skip
    sent = [data[0] if data else None for _, _, _, data in payloads(trace.events)]
    assert sent == expected


REFUSED = """
import warnings
import nvspan
warnings.simplefilter("always")
class Odd: pass
values = [Odd(), {1, 2}, [Odd()], [[1], [2, 3]], {"o": Odd()}, {1: 2}, {"n": 2**64}, 1j,
          memoryview(b"ab").cast("c"), {"deep": None}]
for value in values:
    for _ in 1, 2: nvspan.mark("m", payload=value)
    with nvspan.annotate("a", payload=value): pass
loop = []
loop.append(loop)
nvspan.mark("m", payload=loop)
ring = {}
ring["ring"] = ring
nvspan.mark("m", payload=ring)
"""


def test_what_cannot_be_encoded_is_warned_about_once_and_left_out():
    trace = run_traced(REFUSED)
    sent = payloads(trace.events)
    assert [data for _, _, _, data in sent if data] == [
        [(array_of(scalar(12, "uint8", 1)), packed("Q2s", 2, b"ab"))]
    ] * 3
    assert len(sent) == 3 * 10 + 2
    warned = [line.split("NvspanWarning: ")[1] for line in trace.stderr.splitlines()
              if "NvspanWarning" in line]  # fmt: skip
    assert warned == [
        "Unsupported payload type: <class '__main__.Odd'>. The event is sent without a payload",
        "Unsupported payload type: <class 'set'>. The event is sent without a payload",
        "payload of type 'list' cannot be encoded: its items have no common binary form. The event "
        "is sent without a payload",
        "payload of type 'dict' cannot be encoded: field 'o' is of type 'Odd'. The event is sent "
        "without a payload",
        "Unsupported payload type: <class 'complex'>. The event is sent without a payload",
    ]


def test_warnings_as_errors_never_reach_the_program_from_an_entry():
    code = ("import nvspan\n"
            "with nvspan.annotate('a', payload=[object()]): print('in')\n"
            "nvspan.mark('m', payload={'o': object()}); print('after')")  # fmt: skip
    for run in (run_traced, run_plain):
        done = run(code, env={"PYTHONWARNINGS": "error"})
        assert done.stdout == "in\nafter\n"


def test_numpy_beyond_the_peer():
    trace = run_traced(
        "import numpy as np, nvspan, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "for value in [np.array([True, False]), np.arange(2, dtype='>i4'),\n"
        "              np.zeros(2, 'i4,i8')[1], np.float32(0.5), {'a': np.float32(0.5)},\n"
        "              np.zeros(2, complex), np.array([object()]), np.zeros(1, 'M8[s]'),\n"
        "              np.ma.array([1, 2]), np.ones(2, 'q')]:\n"
        "    nvspan.mark('m', payload=value)"
    )
    int32, pair = scalar(15, "int32", 4), (scalar(15, "int32", 4), INT64)
    assert [data for _, _, _, data in payloads(trace.events)] == [
        [(array_of(scalar(12, "bool", 1)), packed("Q2B", 2, 1, 0))],
        [(array_of(int32), packed("Q2i", 2, 0, 1))],
        [((1, 0, 12, ((pair[0], 0, "f0", 0, 0, ()), (pair[1], 0, "f1", 0, 4, ()))), "00" * 12)],
        0.5,
        [((1, 0, 8, ((44, 0, "a", 0, 0, ()),)), packed("d", 0.5))],
        None, None, None,
        [ints(1, 2)],
        [ints(1, 1)],
    ]  # fmt: skip


def test_dlpack_tensors_are_read_without_their_package():
    """numpy arrays behind a class that shows nothing but DLPack stand in for tensors."""
    trace = run_traced(
        "import numpy as np, nvspan\n"
        "class Tensor:\n"
        "    def __init__(self, array): self.array, self.shape = array, array.shape\n"
        "    def __dlpack__(self): return self.array.__dlpack__()\n"
        "    def __dlpack_device__(self): return (1, 0)\n"
        "class OnDevice(Tensor):\n"
        "    def __dlpack_device__(self): return (2, 0)\n"
        "for array in (np.arange(3), np.arange(6.0).reshape(2, 3).T, np.zeros(0, 'i4'),\n"
        "              np.array([True, False]), np.ones(2, 'u2')):\n"
        "    nvspan.mark('m', payload=Tensor(array))\n"
        "nvspan.mark('m', payload=OnDevice(np.arange(3)))"
    )
    assert [data for _, _, _, data in payloads(trace.events)] == [
        [ints(0, 1, 2)],
        [(array_of(scalar(44, "float64", 8)), packed("Q6d", 6, 0, 3, 1, 4, 2, 5))],
        None,
        [(array_of(scalar(12, "bool", 1)), packed("Q2B", 2, 1, 0))],
        [(array_of(scalar(14, "uint16", 2)), packed("Q2H", 2, 1, 1))],
        None,
    ]


THREADS = """
import sys, threading, nvspan
sys.setswitchinterval(1e-6)
class Row:
    def __init__(self): self.local = threading.local()
    def __call__(self): return self.local.value
row = Row()
shared = nvspan.annotate("shared", payload=row)
def work(i):
    for n in range(150):
        row.local.value = [i] * (1 + (n + i) % 60)
        with shared: pass
        nvspan.mark("mine", payload={"thread": i, "n": n})
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
"""


def test_threads_on_one_object_never_see_each_others_bytes():
    trace = run_traced(THREADS)
    seen = {}
    for event in trace.of_kind("push", "mark"):
        (piece,) = event["payload_data"]
        numbers = struct.unpack(f"<{len(piece['hex']) // 16}q", bytes.fromhex(piece["hex"]))
        seen.setdefault(event["tid"], []).append(numbers)
    assert len(seen) == 6
    for events in seen.values():
        thread = events[0][1]
        expected = []
        for n in range(150):
            length = 1 + (n + thread) % 60
            expected += [(length, *[thread] * length), (thread, n)]
        assert events == expected


def test_a_list_that_a_thread_changes_meanwhile():
    trace = run_traced(
        "import sys, threading, nvspan\n"
        "sys.setswitchinterval(1e-6)\n"
        "data, stop = [0], False\n"
        "def change():\n"
        "    while not stop:\n"
        "        data.append(1); data.append('x'); del data[1:]\n"
        "t = threading.Thread(target=change); t.start()\n"
        "kept = nvspan.annotate('a', payload=data)\n"
        "for _ in range(3000):\n"
        "    with kept: pass\n"
        "stop = True; t.join()"
    )
    assert len(trace.of_kind("push")) == 3000


def test_memory_stays_and_types_are_not_pinned():
    if os.environ.get("NVSPAN_SANITIZED"):
        pytest.skip("a sanitizer needs the memory itself")
    code = """
import gc, resource, weakref, nvspan
from typing import NamedTuple
def use():
    class Local(NamedTuple):
        a: int
    for _ in range(3): nvspan.mark("m", payload=Local(1))
    return weakref.ref(Local)
gone = [use() for _ in range(20)]
gc.collect()
print(sum(ref() is not None for ref in gone))
data = list(range(500))
kept = nvspan.annotate("kept", payload=data)
def turn(count):
    for i in range(count):
        with kept: pass
        nvspan.mark("m", payload={"step": i, "text": "x" * 100})
        nvspan.mark("m", payload=b"x" * 700)
turn(300)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
turn(6000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8000)
"""
    assert run_traced(code).stdout.split() == ["0", "True"]


@pytest.mark.parametrize(
    "variant", [(), ("TINY_EXTENSION",), ("TINY_EXTENSION", "TINY_EXTENSION_FAILS")]
)
def test_a_tool_without_the_extension_gets_the_event_without_payload(variant, tmp_path):
    run = run_under(
        build(*variant),
        "import nvspan\n"
        "for payload in [1, 2], b'ab', 'text', {'a': 1}, 7: nvspan.mark('m', payload=payload)\n"
        "counter = nvspan.get_domain('d').get_counter('c', int)\n"
        "counter.sample(1); counter.batch_submit([1], [2])\n"
        "print(nvspan.get_domain('d').get_timestamp(), nvspan.get_domain('d').get_scope_id('s'))",
        tmp_path,
    )
    assert run.log == ["connect", *["mark [] m"] * 4, "mark [] m payload=7", "create d"]
    assert (run.stdout, run.stderr) == ("0 0\n", "")
