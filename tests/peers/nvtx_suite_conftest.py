# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The conftest of nvtx's own tests, which .ci/peers.sh puts beside them: nvspan is what they test.

Their source distribution has the tests without a conftest. This one gives them the values that they
run over and, below ``nvspan trace --format jsonl``, checks what the tool saw: each call in full, in
order, with its registrations, and nothing else. Without a tool there is nothing to check but what
the calls return.

`nvtx_suite_differences` lists the tests that are expected to fail, each with its reason. A listed
test that passes fails the run, and so does an entry that matches no test.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
import time
from urllib.parse import unquote

import numpy as np
import nvtx
import pytest

import nvspan
from nvspan import launch

from .nvtx_suite_differences import DIFFERENCES, MODULES

assert nvtx.annotate is nvspan.annotate, "run this with nvspan in place of nvtx"

FLOAT_LIMITS = 3
LIMITS = {1: "q", 2: "Q", FLOAT_LIMITS: "d"}  # how a limit of each of NVTX's types is packed
LIMIT_MIN, LIMIT_MAX = 1 << 2, 1 << 3
COUNTER_GROUP = 1 << 3
IS_PART_OF_GROUP = 1 << 14
ENTRY_TYPES = {
    "int8": 11, "uint8": 12, "int16": 13, "uint16": 14, "int32": 15, "uint32": 16, "int64": 17,
    "uint64": 18, "float16": 42, "float32": 43, "float64": 44,
}  # fmt: skip
BYTE, TEXT32 = 32, 78
FIXED_ARRAY, ARRAY_OF_LENGTH = 1 << 4, (1 << 4) | (1 << 5)
TIME, COUNTER = 2, 5  # ids of semantics


# ---- what the suite runs over


@pytest.fixture(scope="session", params=[None, "", "abc"])
def domain(request):
    return request.param


@pytest.fixture(scope="session", params=[None, "", "abc"])
def message(request):
    return request.param


@pytest.fixture(scope="session", params=[None, 0xFFA500, "red"])
def color(request):
    return request.param


@pytest.fixture(scope="session", params=[None, 0, "", "abc", 1])
def category(request):
    return request.param


@pytest.fixture(scope="session", params=[None, 1, 1.0])
def payload(request):
    return request.param


# ---- what the tool saw


class Tool:
    """The events of this process, read from the trace while it grows."""

    def __init__(self, path):
        self.file = open(path, encoding="ascii")  # noqa: SIM115
        self.domains = {None}
        self.strings = set()
        self.categories = {}
        self.scopes = {}
        self.schemas = {}
        self.counters = {}

    def __bool__(self):
        return True

    def next(self):
        """The next event, None after the last."""
        while line := self.file.readline():
            event = json.loads(line)
            if event["kind"] != "init":
                self._note(event)
                return event
        return None

    def rest(self):
        return list(iter(self.next, None))

    def _note(self, event):
        kind, domain = event["kind"], event["domain"]
        if kind == "domain_create":
            self.domains.add(domain)
        elif kind == "register_string":
            self.strings.add((domain, event["message"]))
        elif kind == "name_category":
            self.categories[domain, event["name"]] = event["category"]
        elif kind == "scope_register":
            self.scopes[domain, event["name"]] = event["id"]
        elif kind == "schema_register":
            layout = self._layout(event)
            known = [each for key, each in self.schemas.items() if key[0] == domain]
            assert layout not in known, f"registered twice: {layout}"
            self.schemas[domain, event["id"]] = layout

    def _layout(self, event):
        entries = [
            (entry["flags"], entry["array_or_union_detail"], entry["offset"],
             self.schemas.get((event["domain"], entry["type"]), entry["type"]),
             [_counter_semantics(one) for one in entry["semantics"]])
            for entry in event["entries"]
        ]  # fmt: skip
        return event["type"], event["flags"], event["static_size"], entries

    def expect(self, kind, domain, **fields):
        """The next event is of this kind, in this domain, with these fields."""
        event = self.next()
        assert event is not None, f"no {kind}"
        wanted = {"kind": kind, "domain": domain, **fields}
        assert {name: event.get(name) for name in wanted} == wanted
        return event


@pytest.fixture(scope="session", autouse=True)
def nvtx_events():
    if launch.attached_tool() is None:
        return None
    settings = dict(part.split("=", 1) for part in os.environ[launch.CONFIG_VARIABLE].split(";"))
    nvspan.is_active()  # connects, so that the file is there
    return Tool(unquote(settings["file"]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Each event that the test makes the tool see is one that it expects."""
    tool = item.funcargs.get("nvtx_events")
    if tool:
        tool.rest()  # what a failed test has left
    try:
        result = yield
    finally:
        if "profiler" in item.funcargs:
            item.funcargs["profiler"].disable()
    if tool:
        assert tool.rest()[:5] == []
    return result


# ---- semantics of counters


def _counter_semantics(told):
    """What a tool was told: the flags, the unit, its scale, and the limits by their type."""
    assert told["id"] == COUNTER
    data = bytes.fromhex(told["hex"])
    flags, _unit, numerator, denominator, kind = struct.unpack_from("<QQQQq", data, 16)
    limits = [
        struct.unpack_from("<" + LIMITS[kind], data, at)[0] if flags & flag else None
        for flag, at in ((LIMIT_MIN, 56), (LIMIT_MAX, 64))
    ]
    return flags, told.get("unit"), numerator, denominator, kind == FLOAT_LIMITS, *limits


def _expected_semantics(semantics):
    low, high = semantics.min, semantics.max
    flags = semantics.value_type.value | semantics.interpolation.value
    flags |= (LIMIT_MIN if low is not None else 0) | (LIMIT_MAX if high is not None else 0)
    unit = None if semantics.unit is None else semantics.unit.decode()
    scale = (semantics.unit_scale_numerator, semantics.unit_scale_denominator)
    return flags, unit, *scale, isinstance(low, float) or isinstance(high, float), low, high


# ---- schemas and payloads


def _static(size, entries, flags=0):
    return 1, flags, size, entries


def _entry(dtype, offset=0, in_group=False):
    """The entry of a builtin type: what an entry is in `Tool._layout`."""
    flags = IS_PART_OF_GROUP if in_group else 0
    semantics = (dtype.metadata or {}).get("nvidia_nvtx_payload_metadata")
    semantics = semantics and semantics.counter_semantics
    told = [_expected_semantics(semantics)] if semantics else []
    if dtype.kind in "SU":
        characters = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        kind = TEXT32 if dtype.kind == "U" else BYTE
        return flags | FIXED_ARRAY, characters, offset, kind, told
    return flags, 0, offset, ENTRY_TYPES[dtype.name], told


def layout_of(dtype):
    """The schema of a value of this type."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        count = int(np.prod(shape))
        return _static(dtype.itemsize, [(FIXED_ARRAY, count, 0, layout_of(base), [])])
    if dtype.fields:
        fields = [dtype.fields[name][:2] for name in dtype.names]
        entries = [(0, 0, offset, layout_of(field), []) for field, offset in fields]
        return _static(dtype.itemsize, entries)
    return _static(dtype.itemsize, [_entry(dtype)])


def layout_of_array(dtype):
    size = (0, 0, 0, ENTRY_TYPES["uint64"], [])
    return 2, 0, 0, [size, (ARRAY_OF_LENGTH, 0, 0, layout_of(dtype), [])]


def layout_of_group(dtype):
    fields = [dtype.fields[name][:2] for name in dtype.names]
    entries = [_entry(field, offset, in_group=True) for field, offset in fields]
    return _static(dtype.itemsize, entries, COUNTER_GROUP)


def _parts(layout):
    """A layout and those that it refers to, the innermost first."""
    made = []
    for _, _, _, kind, _ in layout[3]:
        if isinstance(kind, tuple):
            made += [part for part in _parts(kind) if part not in made]
    return [*made, layout]


def _expect_schemas(events, domain, layout):
    for part in _parts(layout):
        if part not in [each for key, each in events.schemas.items() if key[0] == domain]:
            events.expect("schema_register", domain)
    assert layout in [each for key, each in events.schemas.items() if key[0] == domain]


def _schema_id(events, domain, layout):
    for (of_domain, number), each in events.schemas.items():
        if of_domain == domain and each == layout:
            return number
    raise AssertionError(f"no schema in {domain!r} is {layout}")


def _payload(events, domain, value):
    """The fields of an event with this payload."""
    if value is None:
        return {"payload": None, "payload_type": "none"}
    if isinstance(value, (int, float)):
        return {"payload": value, "payload_type": "i64" if isinstance(value, int) else "f64"}
    array = np.asarray(value)
    if array.nbytes == 0:
        return {"payload": None, "payload_type": "none"}
    layout, data = layout_of(array.dtype), array.tobytes()
    if array.ndim:
        layout, data = layout_of_array(array.dtype), struct.pack("<Q", array.size) + data
    schema = _schema_id(events, domain, layout)
    pieces = [{"schema": schema, "hex": data.hex()}]
    return {"payload": None, "payload_type": "ext", "payload_data": pieces}


# ---- what the suite asks for


def verify_registration_events(events, domain, message=None, category=None, payload=None):
    if domain not in events.domains:
        events.expect("domain_create", domain)
    if isinstance(category, str) and (domain, category) not in events.categories:
        events.expect("name_category", domain, name=category)
    if message is not None and (domain, message) not in events.strings:
        events.expect("register_string", domain, message=message)
    if payload is not None and not isinstance(payload, (int, float)):
        array = np.asarray(payload)
        layout = layout_of_array(array.dtype) if array.ndim else layout_of(array.dtype)
        _expect_schemas(events, domain, layout)


def _verify_opening(events, kind, domain, message, color, category, payload):
    if isinstance(category, str):
        category = events.categories[domain, category]
    return events.expect(
        kind, domain, message=message,
        message_type="none" if message is None else "registered",
        color=nvtx.colors.color_to_hex(color), category=category or 0,
        **_payload(events, domain, payload),
    )  # fmt: skip


def verify_mark(events, domain, message, color, category, payload):
    _verify_opening(events, "mark", domain, message, color, category, payload)


def verify_push(events, domain, message, color, category, payload):
    event = _verify_opening(events, "push", domain, message, color, category, payload)
    assert event["depth"] == 0


def verify_pop(events, domain):
    events.expect("pop", domain, depth=0)


def verify_start(events, domain, message, color, category, payload):
    _verify_opening(events, "start", domain, message, color, category, payload)


def verify_end(events, domain, range_id):
    number = range_id if isinstance(range_id, int) else range_id[0]
    event = events.expect("end", domain, id=number)
    assert event["dur"] is not None


def verify_timestamp_get(events, expected_value):
    assert 0 < expected_value <= time.monotonic_ns()


def verify_counter_register(
    events, domain, name, dtype, description=None, scope=None, semantics=None,
    time_domain=nvtx.TimestampType.TOOL_PROVIDED,
):  # fmt: skip
    verify_registration_events(events, domain)
    dtype = np.dtype(dtype)
    key = (domain, name, dtype, str(dtype.metadata), description, scope, semantics, time_domain)
    if key in events.counters:
        return events.counters[key]
    schema = ENTRY_TYPES.get(dtype.name)
    if dtype.fields:
        layout = layout_of_group(dtype)
        _expect_schemas(events, domain, layout)
        schema = _schema_id(events, domain, layout)
    if scope is not None and (domain, scope) not in events.scopes:
        events.expect("scope_register", domain, name=scope)
    place = 0 if scope is None else events.scopes[domain, scope]
    event = events.expect(
        "counter_register", domain, name=name, description=description, schema=schema, scope=place
    )
    clock, *rest = event["semantics"]
    assert clock["id"] == TIME
    (time_id,) = struct.unpack_from("<Q", bytes.fromhex(clock["hex"]), 16)
    assert time_id == getattr(time_domain, "value", time_domain)
    expected = [_expected_semantics(semantics)] if semantics else []
    assert [_counter_semantics(one) for one in rest] == expected
    events.counters[key] = event["id"]
    return event["id"]


def verify_counter_sample_int64(events, domain, counter_id, value):
    found = events.expect("counter_sample", domain, counter=counter_id, value=value)
    assert isinstance(found["value"], int)


def verify_counter_sample_float64(events, domain, counter_id, value):
    found = events.expect("counter_sample", domain, counter=counter_id, value=value)
    assert isinstance(found["value"], float)


def verify_counter_sample(events, domain, counter_id, expected_bytes):
    events.expect("counter_sample", domain, counter=counter_id, hex=expected_bytes.hex())


def verify_counter_sample_no_value(events, domain, counter_id, reason):
    events.expect("counter_sample", domain, counter=counter_id, no_value=reason)


def verify_counter_batch_submit(events, domain, counter_id, expected_bytes, expected_timestamps):
    events.expect(
        "counter_batch", domain, counter=counter_id, hex=expected_bytes.hex(),
        timestamps=list(expected_timestamps),
    )  # fmt: skip


# ---- what is expected to differ


def _cannot_be_imported(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return True
    raise pytest.UsageError(f"the list of differences has {module}, and it can be imported")


collect_ignore = [file for file, module, _ in MODULES if _cannot_be_imported(module)]


def pytest_report_header():
    return [f"left out: {file}: {reason}" for file, _, reason in MODULES]


def pytest_collection_modifyitems(items):
    state = "no tool" if launch.attached_tool() is None else "tool"
    for test, states, parameters, failure, reason in DIFFERENCES:
        if state not in states:
            continue
        matching = [
            item for item in items
            if test in ("*", item.originalname) and _has(item, parameters)
        ]  # fmt: skip
        if not matching:
            raise pytest.UsageError(f"no such test as {test} {parameters} of the differences")
        for item in matching:
            item.add_marker(pytest.mark.xfail(strict=True, raises=failure, reason=reason))


def _has(item, parameters):
    values = item.callspec.params if hasattr(item, "callspec") else {}
    return all(name in values and values[name] in accepted for name, accepted in parameters.items())
