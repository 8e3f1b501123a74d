# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two GPUs in one process: each range is on the GPU of its stream, also where that is not the
current one. The fake driver has two; elsewhere it takes a machine with as many."""

from __future__ import annotations

import ctypes

import pytest

from helpers.device import REAL, device_ranges, run_device, with_origins
from helpers.traced import needs_library

pytestmark = needs_library

PROGRAM = """
import ctypes
streams = {{}}
for device in (1, 0):
    cuda.use(device)
    streams[device] = cuda.stream()
class Default:  # as torch's: the default stream is handle 0 on every GPU
    def __init__(self, device): self.device_index, self.cuda_stream = device, 0
for turn in range(3):
    for device in (0, 1):
        cuda.use(device)
        with nvspan.device_range("side", stream=streams[device], payload=device, **{options}):
            cuda.launch(streams[device], 50_000)
        with nvspan.device_range("default", stream=Default(device), payload=device, **{options}):
            cuda.launch(0, 50_000)
cuda.use(0)  # what follows is placed from the other GPU's context
with nvspan.device_range("from elsewhere", stream=Default(1), payload=1, **{options}):
    pass
with nvspan.device_range("from elsewhere", stream=streams[1], payload=1, **{options}):
    pass
handle = nvspan.start_device_range("from one to the other", stream=streams[0], **{options})
nvspan.end_device_range(handle, streams[1])
current = ctypes.c_void_p()
cuda.call("cuCtxGetCurrent", ctypes.byref(current))
assert current.value == cuda.context.value
assert nvspan.device_flush(30)
stats = {{key: n for key, n in nvspan.device_stats().items() if n}}
assert stats == {{"begun": 15, "sent_{backend}": 15}}, stats
"""


def gpus() -> int:
    if not REAL:
        return 2
    count = ctypes.c_int()
    library = ctypes.CDLL("libcuda.so.1")
    library.cuInit(0)
    library.cuDeviceGetCount(ctypes.byref(count))
    return count.value


@pytest.mark.parametrize("placement", ["side", "stream"])
@pytest.mark.parametrize("backend", ["callback", "exact"])
def test_default_and_side_streams_of_two_gpus(backend, placement):
    if gpus() < 2:
        pytest.skip(f"needs two GPUs, there are {gpus()}")
    options = {"backend": backend, "placement": placement}
    done = run_device(PROGRAM.format(options=options, backend=backend))
    if backend == "exact":
        found = [{**each, "origin": each} for each in device_ranges(done.events)]
    else:
        found = [event for event in with_origins(done.events) if event["kind"] == "start"]
    told = sorted((e["message"], e["origin"]["device"]) for e in found)
    assert told == sorted(
        [("side", 0), ("side", 1), ("default", 0), ("default", 1)] * 3
        + [("from elsewhere", 1)] * 2
        + [("from one to the other", 0)]
    )
    assert all(e["payload"] == e["origin"]["device"] for e in found if "one" not in e["message"])
    if backend == "exact":
        assert all(e["end"] >= e["begin"] for e in found)
