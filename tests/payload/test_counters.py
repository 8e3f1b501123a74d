# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Counters, scopes and event batches: as nvtx 0.2.17 sends them, with and without a tool."""

from __future__ import annotations

import struct
import sys

import pytest

from helpers.payloads import Schemas, counters
from helpers.recorded import record_command
from helpers.traced import run_plain, run_traced

pytest.importorskip("numpy")

SENDS = """
import numpy as np
import MODULE as nvtx
S = nvtx.CounterSemantics
d = nvtx.get_domain("d")
c = d.get_counter("ints", int)
for value in 0, 1, -1, 2**63 - 1, -2**63, True, np.int8(3), 1.5: c.sample(value)
for reason in nvtx.CounterNoValueReason: c.sample_no_value(reason)
f = d.get_counter("floats", float, description="a loss", scope="GPU[1]/x",
                  semantics=S(unit="ms", min=0.0, max=5.5,
                              interpolation=nvtx.CounterInterpolation.LINEAR),
                  time_domain=nvtx.TimestampType.CPU_TSC)
for value in 0.0, 1.5, float("inf"), 3, np.float32(0.5): f.sample(value)
g = d.get_counter("g", float, scope="GPU[1]/x",
                  semantics=S(min=-3, value_type=nvtx.CounterValueType.DELTA,
                              unit_scale_numerator=2, unit_scale_denominator=3))
d.get_counter("limits", int, semantics=S(max=2**63))
h = d.get_counter("int32", "i4")
for value in 5, np.int32(-6), [7]: h.sample(value)
e = d.get_counter("group", np.dtype([("a", "i8"), ("b", "f4"), ("c", "u1")]))
for value in (1, 2.5, 255), np.array((3, 4, 5), e.dtype), np.zeros(1, e.dtype): e.sample(value)
u = nvtx.numpy_dtype("f8", counter_semantics=S(unit=b"W", max=300.0))
t = nvtx.numpy_dtype("i8", entry_kind=nvtx.EntryKind.COUNTER_TIMESTAMP)
p = d.get_counter("power", [("t", t), ("power", u), ("n", "i2")], description=b"bytes")
p.sample((5, 1.5, 3))
p.batch_submit(np.array([(1, 2, 3), (4, 5, 6)], p.dtype), [10, 20])
p.batch_submit([(1, 2, 3)], (10,))
c.batch_submit([1, 2, 3], [10, 20, 30])
c.batch_submit(np.arange(3), np.arange(3))
c.batch_submit(range(2), [5, 6])
c.batch_submit([1.5, 2.5], np.arange(2.0))
c.batch_submit([], [])
c.batch_submit(values=np.arange(3, dtype="i4"), timestamps=np.arange(6)[::2])
f.batch_submit([1, 2.5], [3, 4])
f.batch_submit(np.ones(2, "f4"), [3, 4])
h.batch_submit([1, 2, 3], np.arange(3))
e.batch_submit([(1, 2, 3)], [1])
d.get_counter("half", "f2").sample(1.5)
nvtx.get_domain().get_counter("of the default domain", float).sample(1)
d.get_counter("three", ("i4", (3,)))
nvtx.mark("m", payload=np.zeros(1, [("t", t), ("power", u)]))
for x in c, f: print(x.dtype == np.int64, x.dtype == np.float64)
print(c is d.get_counter("ints", int), c is d.get_counter("ints", np.int64),
      c is d.get_counter("ints", int, description="x"))
for x in c, f, e:
    print(type(x).__name__, isinstance(x, nvtx.Counter), x.name, x.dtype == np.dtype(x.dtype),
          x.description, x.scope, x.semantics is None, x.time_domain)
print(d.get_timestamp() > 0)
for E in ("TimestampType", "EntryKind", "EventKind", "PayloadEntryType", "PredefinedScope",
          "BatchOrdering", "CounterValueType", "CounterInterpolation", "CounterNoValueReason"):
    E = getattr(nvtx, E)
    print(E.__name__, [(m.name, m.value, E(m.value) is m, E[m.name] is m) for m in E], len(E))
"""


def sends(module):
    return run_traced(SENDS.replace("MODULE", module))


def test_sends_what_the_peer_sends():
    pytest.importorskip("nvtx")
    ours, theirs = sends("nvspan"), sends("nvtx")
    assert counters(ours.events) == counters(theirs.events)
    assert len(counters(ours.events)) == 49
    assert ours.stdout == theirs.stdout


ERRORS = """
import numpy as np
import nvspan as nvtx
d = nvtx.get_domain("d")
c, f = d.get_counter("i", int), d.get_counter("f", float)
e = d.get_counter("e", [("a", "i4"), ("b", "f4")])
S, K, T, D = nvtx.CounterSemantics, nvtx.EntryKind, nvtx.PayloadEntryType, nvtx.numpy_dtype
mark = np.zeros(1, [("t", D("i8", entry_kind=K.MARK))])
for name in CALLS:
    try:
        eval(name)
        print(name, "is fine")
    except Exception as error:
        print(name, type(error).__name__)
"""
CALLS = {
    "c.sample(1.5)": None, "c.sample('x')": "TypeError", "c.sample(2**63)": "OverflowError",
    "f.sample('x')": "TypeError", "c.batch_submit([1], [1, 2])": "ValueError",
    "e.sample([(1, 2), (3, 4)])": "ValueError", "e.sample((2**31, 0))": "OverflowError",
    "e.batch_submit([(1, 2)], [])": "ValueError",
    "c.sample_no_value(3)": "TypeError", "c.batch_submit(['x'], [1])": "TypeError",
    "d.get_counter('x', [('a', 'i4', (2,))])": "TypeError",
    "d.get_counter('x', [('a', [('b', 'i4')])])": "TypeError",
    "d.get_counter('x', 'nonsense')": "TypeError", "d.get_counter(3, int)": "TypeError",
    "d.get_counter('x', int, scope=3)": "TypeError",
    "d.get_counter('x', int, semantics=3)": "TypeError",
    "S(min=2, max=1)": "ValueError", "S(min=1, max=1.5)": "ValueError", "S(unit=3)": "TypeError",
    "S(min=2**64)": "ValueError", "S(min=-1, max=2**63)": "ValueError", "S(min='x')": "TypeError",
    "S(unit_scale_numerator=0)": "ValueError", "S(value_type=1)": "TypeError",
    "D('i4', entry_kind=K.MARK)": "TypeError", "D('i8', entry_type=T.RANGE_ID)": "TypeError",
    "D('>u4', entry_type=T.CATEGORY)": "TypeError", "D('i8', entry_kind=3)": "TypeError",
    "D('i8', counter_semantics=3)": "TypeError", "nvtx.Counter()": "TypeError",
    "nvtx.Counter(d, 'x', int, None, None, None, 1)": "NotImplementedError",
    "d.event_batch([1])": "TypeError", "d.event_batch(np.zeros(2))": "TypeError",
    "d.event_batch(np.zeros(2, [('a', 'i8')]))": "ValueError",
    "d.event_batch(mark, kind=nvtx.EventKind.RANGE_PUSHPOP)": "ValueError",
    "d.event_batch(mark, kind=77)": "TypeError", "d.event_batch(mark, ordering='x')": "TypeError",
    "d.get_scope_id(3)": "TypeError", "d.event_batch(mark)": None,
}  # fmt: skip


@pytest.mark.parametrize("run", [run_plain, run_traced])
def test_errors_are_the_same_with_and_without_a_tool(run):
    lines = run(ERRORS.replace("CALLS", repr(list(CALLS)))).stdout.splitlines()
    assert lines == [f"{call} {error or 'is fine'}" for call, error in CALLS.items()]


def test_a_counter_needs_no_numpy():
    trace = run_traced(
        "import sys\nsys.modules['numpy'] = None\nimport nvspan\n"
        "d = nvspan.get_domain('d')\n"
        "d.get_counter('i', int).batch_submit((n for n in range(2)), [1, 2])\n"
        "d.get_counter('f', float).sample(1)\n"
        "for make in lambda: d.get_counter('x', 'f4'), lambda: nvspan.numpy_dtype('f4'):\n"
        "    try: make()\n"
        "    except RuntimeError as error: print(error)"
    )
    assert trace.stdout.splitlines() == [
        "a counter of anything but int and float needs numpy: pip install numpy",
        "numpy_dtype needs numpy: pip install numpy",
    ]
    assert [(e["name"], e.get("value"), e.get("timestamps")) for e in
            trace.of_kind("counter_sample", "counter_batch")] == [
        ("i", None, [1, 2]), ("f", 1.0, None)]  # fmt: skip


EVENTS = """
import numpy as np
import nvspan
from nvspan import EntryKind as K, PayloadEntryType as T, numpy_dtype as D
d = nvspan.get_domain("d")
string = d.get_registered_string("step")
ranges = np.dtype([
    ("begin", D("i8", entry_kind=K.RANGE_BEGIN)), ("end", D("i8", entry_kind=K.RANGE_END)),
    ("name", D("u8", entry_kind=K.MESSAGE, entry_type=T.REGISTERED_STRING)),
    ("color", D("u4", entry_type=T.COLOR_ARGB)), ("category", D("u4", entry_type=T.CATEGORY)),
    ("loss", "f4"), ("note", "S3"),
])
rows = np.array([(10, 20, string.handle, 0xFF00FF00, 0, 0.5, b"ab"),
                 (30, 40, string.handle, 0xFFFF0000, 1, 0.25, b"c")], ranges)
d.event_batch(rows)
d.event_batch(rows[::-1], kind=nvspan.EventKind.RANGE_STARTEND,
              ordering=nvspan.BatchOrdering.UNSORTED, scope="rank/0",
              time_domain=nvspan.TimestampType.CPU_TSC)
marks = np.array([(5,), (6,)], [("at", D(">i8", entry_kind=K.MARK))])
d.event_batch(marks, scope=nvspan.PredefinedScope.CURRENT_SW_THREAD)
d.event_batch(marks[:0])
print(d.get_scope_id("rank/0") == d.get_scope_id("rank/0"), d.get_scope_id(b"other") > 0,
      string.handle)
"""


def test_event_batches():
    trace = run_traced(EVENTS)
    schemas = Schemas(trace.events)
    same, other, handle = trace.stdout.split()
    handle = int(handle)
    rows = (
        (10, 20, handle, 0xFF00FF00, 0, 0.5, b"ab"),
        (30, 40, handle, 0xFFFF0000, 1, 0.25, b"c"),
    )
    raw = [struct.pack("<qqQIIf3s", *row).hex() for row in rows]
    scope = trace.of_kind("scope_register")[0]["id"]

    def fields(clock):
        time = ((2, 1, struct.pack("<Q", clock).hex()),)
        return (
            (17, 1 << 12 | 2 << 10, "begin", 0, 0, time),
            (17, 2 << 12 | 2 << 10, "end", 0, 8, time),
            (80, 1 << 10, "name", 0, 16, ()), (69, 0, "color", 0, 24, ()),
            (68, 0, "category", 0, 28, ()), (43, 0, "loss", 0, 32, ()), (32, 16, "note", 3, 36, ()),
        )  # fmt: skip

    at = ((17, 3 << 12 | 2 << 10, "at", 0, 0, ((2, 1, struct.pack("<Q", 1).hex()),)),)
    sent = [(schemas("d", e["schema"]), e["scope"], e["flags"], e["hex"])
            for e in trace.of_kind("event_batch")]  # fmt: skip
    assert sent == [
        ((1, 2 << 3, 39, fields(1)), 0, 0, "".join(raw)),
        ((1, 3 << 3, 39, fields(10)), scope, 3 << 1, "".join(reversed(raw))),
        ((1, 4 << 3, 8, at), 22, 0, struct.pack("<qq", 5, 6).hex()),
    ]
    assert (same, other) == ("True", "True")


def test_a_batch_is_not_copied():
    """The tool reads the rows where they lie: a copy of them would be in the peak of memory."""
    code = """
import resource, numpy as np, nvspan
from nvspan import EntryKind, numpy_dtype
d = nvspan.get_domain("d")
time = numpy_dtype("i8", entry_kind=EntryKind.MARK)
rows = np.zeros(4_000_000, [("at", time), ("step", "i8")])
rows["step"] = 1
values, times = np.ones(4_000_000), np.ones(4_000_000, "i8")
counter = d.get_counter("c", float)
counter.sample(1.0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
d.event_batch(rows)
counter.batch_submit(values, times)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000)
"""
    assert run_plain(code).stdout == "True\n"


def test_counters_find_a_tool_that_comes_later(tmp_path):
    code = f"""
import nvspan
from nvspan import _core, launch
c = nvspan.get_domain("d").get_counter("c", int)
m = nvspan.get_domain("d").get_counter("m", "i2", scope="s")
c.sample(1)
for n in 1, 2:
    _core.attach(launch.injection_library(), f"format=jsonl;file={tmp_path}/{{n}}.jsonl")
    c.sample(10 * n); m.sample(n); nvspan.mark("x", domain="d", payload=[n])
    _core.detach()
    c.sample(3)
"""
    run_plain(code)
    from helpers.payloads import payloads
    from helpers.traced import read_events

    for n in (1, 2):
        events = read_events(tmp_path / f"{n}.jsonl")
        kinds = [line[0] for line in counters(events)]
        assert kinds == ["counter_register", "counter_sample", "scope_register",
                         "counter_register", "counter_sample"]  # fmt: skip
        assert [line[3].get("value") or line[3]["hex"] for line in counters(events)
                if line[0] == "counter_sample"] == [10 * n, struct.pack("<h", n).hex()]  # fmt: skip
        assert payloads(events)[0][3][0][1] == struct.pack("<Qq", 1, n).hex()


def test_threads_share_counters():
    trace = run_traced(
        "import threading, nvspan\n"
        "d = nvspan.get_domain('d')\n"
        "def work(i):\n"
        "    for n in range(300):\n"
        "        d.get_counter('shared', int).sample(i)\n"
        "        d.get_counter('group', [('a', 'i8'), ('b', 'i8')]).sample((i, i))\n"
        "threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]"
    )
    samples = trace.of_kind("counter_sample")
    assert len({event["counter"] for event in samples}) == 2
    values = sorted(event["value"] for event in samples if event["name"] == "shared")
    assert values == [i for i in range(4) for _ in range(300)]
    assert all(e["hex"][:16] == e["hex"][16:] for e in samples if e["name"] == "group")


def test_choices_and_semantics_are_values():
    code = """
import copy, pickle, nvspan
S = nvspan.CounterSemantics
kind = nvspan.EntryKind.MARK
print(kind, repr(kind), pickle.loads(pickle.dumps(kind)) is kind, copy.deepcopy(kind) is kind,
      kind in nvspan.EntryKind, 5 in nvspan.EntryKind, isinstance(kind, nvspan.EntryKind))
a = S(unit="B", min=1)
print(a == S(unit=b"B", min=1), hash(a) == hash(S("B", min=1)), a == S("B"),
      len({a, S("B", min=1)}))
print(pickle.loads(pickle.dumps(a)) == a, S(min=1) == S(min=1.0), a)
for change in lambda: setattr(a, "min", 2), lambda: setattr(kind, "value", 2):
    try: change()
    except AttributeError as error: print("refused")
try: nvspan.EntryKind(99)
except ValueError as error: print(error)
"""
    assert run_plain(code).stdout.splitlines() == [
        "EntryKind.MARK <EntryKind.MARK: 14336> True True True False True",
        "True True False 1",
        "True False CounterSemantics(unit=b'B', value_type=<CounterValueType.ABSOLUTE: 16>, "
        "interpolation=<CounterInterpolation.POINT: 256>, min=1, max=None, "
        "unit_scale_numerator=1, unit_scale_denominator=1)",
        "refused", "refused",
        "99 is not a valid EntryKind",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["number", "structure", "no value"])
def test_samples_leave_statistics_as_they_are(tmp_path, form):
    sample = {
        "number": "c.sample(1.5)",
        "structure": "s.sample((1, 2.5))",
        "no value": "c.sample_no_value(nvspan.CounterNoValueReason.ZERO)",
    }[form]
    code = f"""
import numpy, nvspan
lib = nvspan.Domain("lib")
c = lib.get_counter("load", float)
s = lib.get_counter("both", numpy.dtype([("a", "i4"), ("b", "f8")]))
for i in range(300):
    with nvspan.annotate("before"):
        {sample}
    with nvspan.annotate(f"name {{i}}"):
        pass
"""
    done = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    assert done.recording.problems == []
    rows = {row.name: row.calls for row in done.recording.stats().rows}
    assert rows == {"before": 300, **{f"name {i}": 1 for i in range(300)}}
