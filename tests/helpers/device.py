# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that use device ranges, and reads the device ranges of a trace.

The tests run on the fake driver of tests/device/fake_libcuda, or, with NVSPAN_TEST_GPU=1, on the
real one.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers import compile as compiling
from helpers.traced import Traced, run_plain, run_traced

TESTS = Path(__file__).resolve().parent.parent
PYTHONPATH = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH", "")]))
FAKE = TESTS / "device" / "fake_libcuda"
REAL = os.environ.get("NVSPAN_TEST_GPU") == "1"

only_real = pytest.mark.skipif(not REAL, reason="needs a GPU: NVSPAN_TEST_GPU=1")
only_fake = pytest.mark.skipif(REAL, reason="needs the fake driver, which fails on demand")

PREAMBLE = """
import nvspan
from helpers.gpu import Cuda, GLOBAL, RELAXED, THREAD_LOCAL
cuda = Cuda()
"""
_END = """
assert cuda.misuses() == 0, cuda.misuses()
"""


@functools.cache
def fake_library() -> str:
    """The fake driver, built once."""
    others = (str(path) for path in sorted(FAKE.glob("fake_*.cpp")))
    flags = ("-shared", "-fPIC", "-fvisibility=hidden", *others)
    if os.environ.get("NVSPAN_SANITIZED"):
        flags += ("-fsanitize=address,undefined",)
    return str(compiling.build(FAKE / "fake.cpp", *flags, name="libfake_cuda.so"))


@functools.cache
def _real_problem() -> str:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"NVSPAN_TEST_GPU=1, but there is no CUDA driver: {error}"
    count = ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return "NVSPAN_TEST_GPU=1, but the CUDA driver finds no GPU"
    return ""


def environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str | None]:
    made: dict[str, str | None] = {"PYTHONPATH": PYTHONPATH}
    if REAL:
        if problem := _real_problem():
            pytest.skip(problem)
        made["NVSPAN_LIBCUDA"] = None
    else:
        made["NVSPAN_LIBCUDA"] = fake_library()
    return {**made, **(extra or {})}


def run_device(
    code: str, *args: object, traced: bool = True, env: Mapping[str, str | None] | None = None,
    check: bool = True, preamble: str = PREAMBLE, timeout: float = 120,
) -> Traced:  # fmt: skip
    """Runs a program with `cuda` and `nvspan` in it. On the fake driver it must not use what is
    destroyed."""
    run = run_traced if traced else run_plain
    return run(preamble + code + _END, *args, env=environment(env), check=check, timeout=timeout)


_FORMATS = {15: "i", 16: "I", 17: "q", 18: "Q", 20: "d", 68: "I", 69: "I", 80: "Q"}
_OWN_TYPES = {17: "i64", 18: "u64", 20: "f64"}


def _schemas(events: list[dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    return {(e["pid"], e["id"]): e for e in events if e["kind"] == "schema_register"}


def _decoded(schema: dict[str, Any], data: bytes, start: int = 0) -> dict[str, Any]:
    return {
        entry["name"]: struct.unpack_from(
            "<" + _FORMATS[entry["type"]], data, start + entry["offset"]
        )[0]
        for entry in schema["entries"]
    }


def with_origins(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events, with what the starts of device ranges say of themselves decoded: as `origin`, and
    the program's own payload in its place."""
    schemas = _schemas(events)
    made = []
    for event in events:
        if event["kind"] == "start" and event.get("payload_data"):
            (piece,) = event["payload_data"]
            schema = schemas[event["pid"], piece["schema"]]
            assert schema["name"] == "nvspan device range"
            origin = _decoded(schema, bytes.fromhex(piece["hex"]))
            kinds = [e["type"] for e in schema["entries"] if e["name"] == "payload"]
            own = {"payload_type": _OWN_TYPES[kinds[0]] if kinds else "none"}
            event = {**event, **own, "payload": origin.pop("payload", None), "origin": origin}
            del event["payload_data"]
        made.append(event)
    return made


def device_ranges(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The deferred ranges of a trace, decoded as their schemas say, in the order of their lines."""
    schemas = _schemas(events)
    names: dict[int, list[str]] = {}
    found = []
    for event in events:
        strings = names.setdefault(event["pid"], [])
        if event["kind"] == "register_string":
            strings.append(event["message"])
        if event["kind"] != "event_batch":
            continue
        schema = schemas[event["pid"], event["schema"]]
        data, size = bytes.fromhex(event["hex"]), schema["static_size"]
        assert len(data) == event["size"]
        for start in range(0, len(data), size):
            made: dict[str, Any] = {"domain": event["domain"], "pid": event["pid"]}
            made.update(_decoded(schema, data, start))
            # Our recorder numbers the strings of a process in their order.
            made["message"] = strings[(made["message"] & 0xFFFFFFFF) - 1]
            found.append(made)
    return found


# A range that waits for the GPU, within the capture of a graph that is launched twice.
SYNC_IN_CAPTURE = """
s = cuda.stream()
import sys, types
cupy = types.ModuleType("cupy")
class Current: ptr, device_id = s, 0
cupy.cuda = types.SimpleNamespace(get_current_stream=Current)
sys.modules["cupy"] = cupy
with cuda.capture(s) as graph:
    with nvspan.annotate("captured", device=True, sync=True):
        cuda.launch(s, 1000)
assert graph.result == 0, graph.result
graph.instantiate().launch(s, 2)
cuda.synchronize(s)
assert nvspan.device_flush(30)
"""
