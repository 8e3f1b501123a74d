# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names of CUDA streams, devices and events: what a tool is told, at once or when it attaches."""

from __future__ import annotations

import json

import pytest

import nvspan
from helpers.traced import LIBRARY, needs_library, run_plain, run_traced


def named(events):
    return [(e["what"], e["handle"], e["name"]) for e in events if e["kind"] == "name_cuda"]


CLASSES = """
import ctypes, nvspan
class TorchStream: cuda_stream, device_index = 7, 1
class TorchEvent: cuda_event = 17
class CupyStream: ptr, device_id = 8, 0
class CupyEvent: ptr = 18
class CupyDevice: id = 2
class Handle: handle = ctypes.c_void_p(9)
class Protocol:
    def __cuda_stream__(self): return (0, 10)
class TorchDevice: type, index = "cuda", 3
class CoreDevice: device_id = 4
"""


@needs_library
def test_the_tool_gets_every_name_in_order():
    done = run_traced(
        CLASSES
        + """
nvspan.name_stream(5, "five")
nvspan.name_stream(stream=TorchStream(), name="torch's")
nvspan.name_stream(CupyStream(), "cupy's")
nvspan.name_stream(Handle(), "numba's")
nvspan.name_stream(Protocol(), "core's")
nvspan.name_stream(0, "wörker")
nvspan.name_stream(None, "current\\0one\\ud800")
nvspan.name_device(0, "first")
for i, device in enumerate((CupyDevice(), TorchDevice(), CoreDevice())):
    nvspan.name_device(device, f"device {i}")
nvspan.name_event(6, "six")
for event in (TorchEvent(), CupyEvent(), Handle()):
    nvspan.name_event(event, type(event).__name__)
nvspan.name_stream(5, "renamed")
nvspan.disable()
nvspan.name_device(0, "while switched off")
"""
    )
    assert named(done.events) == [
        ("cu_stream", 5, "five"),
        ("cu_stream", 7, "torch's"),
        ("cu_stream", 8, "cupy's"),
        ("cu_stream", 9, "numba's"),
        ("cu_stream", 10, "core's"),
        ("cu_stream", 0, "wörker"),
        ("cu_stream", 0, "current\\0one\\ud800"),
        ("cu_device", 0, "first"),
        ("cu_device", 2, "device 0"),
        ("cu_device", 3, "device 1"),
        ("cu_device", 4, "device 2"),
        ("cu_event", 6, "six"),
        ("cu_event", 17, "TorchEvent"),
        ("cu_event", 18, "CupyEvent"),
        ("cu_event", 9, "Handle"),
        ("cu_stream", 5, "renamed"),
        ("cu_device", 0, "while switched off"),
    ]
    assert done.calls() == []
    assert done.stderr == ""


@needs_library
def test_a_tool_that_attaches_later_gets_the_names(tmp_path):
    done = run_plain(
        """
import nvspan, sys, os
from nvspan import _core
nvspan.name_stream(5, "old")
nvspan.name_event(5, "an event")
nvspan.name_stream(5, "new")
nvspan.name_device(0, "first")
for attachment in ("a", "b"):
    _core.attach(sys.argv[1], f"format=jsonl;file={sys.argv[2]}/{attachment}")
    nvspan.name_event(6, attachment)
    _core.detach()
pid = os.fork()
if pid == 0:
    _core.attach(sys.argv[1], f"format=jsonl;file={sys.argv[2]}/child")
    _core.detach()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""",
        LIBRARY,
        tmp_path,
    )
    assert done.stderr == ""
    found = {
        name: named(map(json.loads, (tmp_path / name).read_text().splitlines()))
        for name in ("a", "b", "child")
    }
    kept = [("cu_event", 5, "an event"), ("cu_stream", 5, "new"), ("cu_device", 0, "first")]
    assert found == {
        "a": [*kept, ("cu_event", 6, "a")],
        "b": [*kept, ("cu_event", 6, "a"), ("cu_event", 6, "b")],
        "child": [("cu_device", 0, "first")],
    }


class NoIndex:
    type, index = "cuda", None

    def __repr__(self):
        return "device(type='cuda')"


class Cpu:
    type, index = "cpu", 0

    def __repr__(self):
        return "device(type='cpu')"


class NotRecorded:
    cuda_event = 0

    def __repr__(self):
        return "<event>"


@pytest.mark.parametrize(
    ("function", "value", "error", "text"),
    [
        (nvspan.name_stream, "s", TypeError,
         "stream must be a CUDA stream, an int or None, not 's'"),
        (nvspan.name_stream, True, TypeError,
         "stream must be a CUDA stream, an int or None, not True"),
        (nvspan.name_stream, -1, ValueError, "stream must be a stream handle, not -1"),
        (nvspan.name_device, "cuda:0", TypeError,
         "device must be a CUDA device or an int, not 'cuda:0'"),
        (nvspan.name_device, None, TypeError, "device must be a CUDA device or an int, not None"),
        (nvspan.name_device, True, TypeError, "device must be a CUDA device or an int, not True"),
        (nvspan.name_device, Cpu(), TypeError,
         r"device must be a CUDA device or an int, not device\(type='cpu'\)"),
        (nvspan.name_device, -1, ValueError,
         "device must be an ordinal from 0 to 2147483647, not -1"),
        (nvspan.name_device, 1 << 31, ValueError,
         "device must be an ordinal from 0 to 2147483647, not 2147483648"),
        (nvspan.name_device, NoIndex(), ValueError, r"device device\(type='cuda'\) has no index"),
        (nvspan.name_event, None, TypeError, "event must be a CUDA event or an int, not None"),
        (nvspan.name_event, 1.5, TypeError, "event must be a CUDA event or an int, not 1.5"),
        (nvspan.name_event, True, TypeError, "event must be a CUDA event or an int, not True"),
        (nvspan.name_event, 0, ValueError, "event 0 has no handle"),
        (nvspan.name_event, 1 << 64, ValueError, "event 18446744073709551616 has no handle"),
        (nvspan.name_event, NotRecorded(), ValueError, "event <event> has no handle"),
    ],
)  # fmt: skip
def test_bad_arguments_raise(function, value, error, text):
    with pytest.raises(error, match=text):
        function(value, "name")


@pytest.mark.parametrize("function", [nvspan.name_stream, nvspan.name_device, nvspan.name_event])
def test_a_name_is_a_str(function):
    with pytest.raises(TypeError, match="name must be a str, not b'x'"):
        function(1, b"x")


def test_without_a_tool_names_are_kept_and_bounded():
    for i in range(1, 5001):
        nvspan.name_event(i, "event")
    assert nvspan._core.named_cuda_objects() == 4096
