# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges of a context that is destroyed before they are over."""

from __future__ import annotations

import pytest

from helpers.device import only_fake, run_device
from helpers.traced import needs_library

pytestmark = needs_library


# The context of a real GPU may finish its work before it is destroyed.
@only_fake
@pytest.mark.parametrize("ended", ["before", "after", "after a flush", "on another stream"])
@pytest.mark.parametrize("begun", ["reached", "in flight"])
@pytest.mark.parametrize("backend", ["callback", "exact"])
def test_each_range_of_a_destroyed_context_is_lost_once(backend, begun, ended):
    run_device(f"""
import ctypes, time
other = cuda.new_context()
s, t = cuda.stream(), cuda.stream()
if {begun!r} == "in flight":
    cuda.launch(s, 60_000_000_000)
options = dict(stream=s, backend={backend!r})
handles = [nvspan.start_device_range("lost", timing=i > 1, **options) for i in range(4)]
if {begun!r} == "reached":
    cuda.synchronize()
    cuda.launch(s, 60_000_000_000)
    cuda.launch(t, 60_000_000_000)
if {ended!r} in ("before", "on another stream"):
    for handle in handles:
        nvspan.end_device_range(handle, stream=t if {ended!r} == "on another stream" else None)
cuda.call("cuCtxDestroy_v2", ctypes.c_void_p(other))
cuda.use(0)
if {ended!r} == "after a flush":
    assert nvspan.device_flush(30)
for handle in handles:
    nvspan.end_device_range(handle)
assert nvspan.device_flush(30)
stats = {{name: count for name, count in nvspan.device_stats().items() if count}}
assert stats == {{"begun": 4, "context_lost": 4}}, stats
assert all(handle.done() for handle in handles)
""")


def test_what_the_driver_says_of_events_of_a_destroyed_context():
    """nvspan's thread may ask for one whose context ends just then; streams are another matter."""
    run_device("""
import ctypes
other = cuda.new_context()
event, ms = ctypes.c_void_p(), ctypes.c_float()
cuda.call("cuEventCreate", ctypes.byref(event), 0)
stream = cuda.stream()
cuda.call("cuEventRecord", event, ctypes.c_void_p(stream))
cuda.synchronize(stream)
cuda.call("cuCtxDestroy_v2", ctypes.c_void_p(other))
cuda.use(0)
driver = cuda.library
assert driver.cuEventQuery(event) == 709
assert driver.cuEventElapsedTime(ctypes.byref(ms), event, event) == 709
assert driver.cuStreamWaitEvent(ctypes.c_void_p(cuda.stream()), event, 0) == 709
""")
