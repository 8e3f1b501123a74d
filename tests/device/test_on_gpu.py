# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the fake driver cannot tell: bodies of conditional nodes, green contexts, and contexts that
are destroyed while nvspan's thread is at work in them."""

from __future__ import annotations

import pytest

from helpers.device import device_ranges, only_real, run_device
from helpers.traced import needs_library

pytestmark = [needs_library, only_real]

BACKENDS = ("callback", "exact")

CONDITIONAL = """
import ctypes
class NodeParams(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("reserved0", ctypes.c_int * 3),
                ("handle", ctypes.c_uint64), ("kind", ctypes.c_int), ("size", ctypes.c_uint),
                ("bodies", ctypes.POINTER(ctypes.c_void_p)), ("context", ctypes.c_void_p),
                ("padding", ctypes.c_longlong * 25), ("reserved2", ctypes.c_longlong)]
assert ctypes.sizeof(NodeParams) == 256
def graph_with_a_body():
    graph, handle, node = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
    cuda.call("cuGraphCreate", ctypes.byref(graph), 0)
    cuda.call("cuGraphConditionalHandleCreate", ctypes.byref(handle), graph, cuda.context, 1, 1)
    params = NodeParams(type=13, handle=handle.value, kind=0, size=1, context=cuda.context.value)
    cuda.call("cuGraphAddNode_v2", ctypes.byref(node), graph, None, None, ctypes.c_size_t(0),
              ctypes.byref(params))
    return graph, ctypes.c_void_p(params.bodies[0])
def capture_into(stream, body, **options):
    cuda.call("cuStreamBeginCaptureToGraph", ctypes.c_void_p(stream), body, None, None,
              ctypes.c_size_t(0), GLOBAL)
    with nvspan.device_range("body", stream=stream, **options):
        cuda.launch(stream, 20_000)
    made = ctypes.c_void_p()
    cuda.call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(made))
def instantiate(graph):
    executable = ctypes.c_void_p()
    result = cuda.library.cuGraphInstantiateWithFlags(
        ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
    return result, executable
s = cuda.stream()
"""


def test_the_body_of_a_conditional_node_takes_kernel_stamps():
    done = run_device(
        CONDITIONAL
        + """
graph, body = graph_with_a_body()
capture_into(s, body, backend="exact")
result, executable = instantiate(graph)
assert result == 0, result
for i in range(3):
    cuda.call("cuGraphLaunch", executable, ctypes.c_void_p(s))
cuda.synchronize(s)
assert nvspan.device_flush(30)
stats = {k: v for k, v in nvspan.device_stats().items() if v}
assert stats == {"begun": 1, "sent_exact": 3}, stats
"""
    )
    assert [r["message"] for r in device_ranges(done.events)] == ["body"] * 3


def test_what_a_host_node_does_to_such_a_body_and_the_way_out():
    done = run_device(
        CONDITIONAL
        + """
graph, body = graph_with_a_body()
try:
    capture_into(s, body, backend="callback")
    result, _ = instantiate(graph)
    print("instantiated:", result, {k: v for k, v in nvspan.device_stats().items() if v})
except RuntimeError as error:
    print("refused:", error)
graph, body = graph_with_a_body()
capture_into(s, body, backend="callback", capture="skip")
result, executable = instantiate(graph)
assert result == 0, result
cuda.call("cuGraphLaunch", executable, ctypes.c_void_p(s))
cuda.synchronize(s)
assert nvspan.device_stats()["capture_skipped"] == 1
"""
    )
    print(done.stdout)


GREEN = """
import ctypes
def green_stream():
    resource, part, rest = (ctypes.create_string_buffer(1024) for _ in range(3))
    cuda.call("cuDeviceGetDevResource", 0, resource, 1)
    groups = ctypes.c_uint(1)
    cuda.call("cuDevSmResourceSplitByCount", part, ctypes.byref(groups), resource, rest, 0, 16)
    description, green, context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    cuda.call("cuDevResourceGenerateDesc", ctypes.byref(description), part, 1)
    cuda.call("cuGreenCtxCreate", ctypes.byref(green), description, 0, 1)
    cuda.call("cuCtxFromGreenCtx", ctypes.byref(context), green)
    stream = ctypes.c_void_p()
    cuda.call("cuGreenCtxStreamCreate", ctypes.byref(stream), green, 1, 0)
    return green, context, stream.value
"""


@pytest.mark.parametrize("current", ["green", "primary"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_streams_of_green_contexts(backend, current):
    done = run_device(
        GREEN
        + f"""
green, context, s = green_stream()
cuda.call("cuCtxSetCurrent", context)
cuda._load()
if {current!r} == "primary":
    cuda.call("cuCtxSetCurrent", cuda.context)
for i in range(5):
    with nvspan.device_range("green", stream=s, backend={backend!r}, timing=True) as handle:
        cuda.launch(s, 50_000)
cuda.synchronize(s)
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
print(stats, handle.elapsed())
assert stats == {{"begun": 5, "sent_{backend}": 5, "timed": 5}}, stats
with nvspan.device_range("primary", stream=0, backend={backend!r}):
    pass
cuda.synchronize()
assert nvspan.device_flush(30)
"""
    )
    print(done.stdout)


@pytest.mark.parametrize("backend", BACKENDS)
def test_contexts_destroyed_while_our_thread_is_at_work_in_them(backend):
    done = run_device(
        f"""
import ctypes, threading, time
errors = []
def come_and_go():
    try:
        for turn in range(40):
            own = cuda.new_context()
            s = cuda.stream()
            for i in range(20):
                with nvspan.device_range("short-lived", stream=s, backend={backend!r}):
                    cuda.launch(s, 2_000)
            cuda.synchronize(s)
            time.sleep(0.0002 * (turn % 5))
            cuda.call("cuCtxDestroy_v2", ctypes.c_void_p(own))
    except Exception as error:
        errors.append(error)
thread = threading.Thread(target=come_and_go); thread.start()
s, spin = cuda.stream(), cuda.spin
while thread.is_alive():
    with nvspan.device_range("beside", stream=s, backend={backend!r}):
        pass
    time.sleep(0.0001)
thread.join()
assert not errors, errors
assert nvspan.device_flush(30)
stats = {{k: v for k, v in nvspan.device_stats().items() if v}}
print(stats)
accounted = sum(v for k, v in stats.items() if k != "begun")
assert stats["begun"] <= accounted, stats
"""
    )
    print(done.stdout)
