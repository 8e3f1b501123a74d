# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A driver that refuses calls: each range that is lost is counted, and the next ones are not."""

from __future__ import annotations

import pytest

from helpers.device import only_fake, run_device
from helpers.traced import needs_library

pytestmark = needs_library

BACKENDS = ("callback", "exact")


@only_fake
@pytest.mark.parametrize(
    "call", ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchHostFunc", "cuEventCreate",
             "cuStreamCreate", "cuLaunchKernel", "cuModuleLoadData", "cuMemHostRegister",
             "cuCtxPushCurrent", "cuStreamIsCapturing"],
)  # fmt: skip
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_that_the_driver_refuses_is_counted_not_raised(backend, call):
    run_device(f"""
s = cuda.stream()
def work(calls):
    for i in range(calls):
        with nvspan.device_range("work", stream=s, backend={backend!r}):
            pass
    assert nvspan.device_flush(20)
for after in range(6):
    cuda.fail({call!r}, 2, after)
    work(3)
stats = nvspan.device_stats()
sent = stats["sent_callback"] + stats["sent_exact"]
assert sent <= stats["begun"] <= 18 <= sent + sum(
    stats[each] for each in ("driver_error", "capture_refused", "context_lost", "no_cuda", "full")
), stats
cuda.fail({call!r}, 0, 0)
work(5)
again = nvspan.device_stats()
if {call!r} == "cuModuleLoadData" and {backend!r} == "exact":
    assert sent == 0, "the first call was refused, and the kernels are loaded once"
else:
    assert again["sent_callback"] + again["sent_exact"] == sent + 5, (stats, again)
""")


@only_fake
def test_a_clock_that_the_driver_refuses_for_good_loses_ranges_at_once_and_counts_them():
    run_device("""
s = cuda.stream()
cuda.fail("cuLaunchKernel", 2, -1)
for i in range(12):
    with nvspan.device_range("work", stream=s, backend="exact"):
        pass
    nvspan.device_flush(0.3)
cuda.fail("cuLaunchKernel", 0, 0)
with nvspan.device_range("work", stream=s, backend="exact"):
    pass
assert nvspan.device_flush(20)
stats = nvspan.device_stats()
assert (stats["begun"], stats["driver_error"], stats["sent_exact"]) == (13, 13, 0), stats
""")
