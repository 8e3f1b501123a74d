# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Under Nsight Compute: its range replay ends the program at a call of the driver that it cannot
repeat. The fake driver counts those calls; test_ncu_range_replay.py asks the real ncu."""

from __future__ import annotations

import shutil

import pytest

from helpers.device import SYNC_IN_CAPTURE, device_ranges, only_fake, run_device
from helpers.events import plain
from helpers.traced import LIBRARY, needs_library

pytestmark = [needs_library, only_fake]

LOST = "mark [nvspan] ascii:'device ranges lost: not_taken={}'"


@pytest.fixture
def under_ncu(tmp_path):
    """The tracer, where Nsight Compute has its library and by its name."""
    folder = tmp_path / "nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64"
    folder.mkdir(parents=True)
    library = folder / "libcuda-injection.so"
    shutil.copy(LIBRARY, library)
    return {"NVTX_INJECTION64_PATH": str(library)}


def test_ranges_that_wait_make_only_calls_that_can_be_replayed(under_ncu):
    done = run_device(
        """
import ctypes
assert nvspan.is_active()
def idle(stream):
    return cuda.library.cuStreamQuery(ctypes.c_void_p(stream)) == 0
s = cuda.stream()
import sys, types
current = types.SimpleNamespace(ptr=0, device_id=0)
cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: current)
sys.modules["cupy"] = cupy
for current.ptr in (0, s):
    for device in (False, True):
        with cuda.replay():
            with nvspan.annotate("work", device=device, sync=True, payload=current.ptr == s):
                cuda.launch(current.ptr, 20_000_000)
                assert not idle(current.ptr)
            assert idle(current.ptr)
stats = nvspan.device_stats()
assert (stats["begun"], stats["not_taken"]) == (0, 2), stats
""",
        env=under_ncu,
    )
    assert plain(done.events) == [
        f"{kind} [] ascii:'work'{payload} depth=0"
        for number in (0, 0, 1, 1)
        for kind, payload in (("push", f" payload=i64:{number}"), ("pop", ""))
    ] + [LOST.format(2)]
    assert device_ranges(done.events) == []


def test_a_timed_range_has_its_time_and_is_not_shown(under_ncu):
    done = run_device(
        """
s = cuda.stream()
with nvspan.device_range("before", stream=s, timing=True) as before:
    cuda.launch(s, 20_000_000)
with cuda.replay():
    with nvspan.device_range("timed", stream=s, timing=True, placement="stream") as handle:
        cuda.launch(s, 3_000_000)
    handle.done()
    with nvspan.device_range("not placed", stream=s):
        cuda.launch(s)
    with nvspan.device_range("not placed", stream=s, backend="callback"):
        cuda.launch(s)
    assert nvspan.device_flush(30)
assert [h.done() and h.elapsed() >= 0 for h in (before, handle)] == [True, True]
stats = nvspan.device_stats()
assert (stats["begun"], stats["timed"], stats["not_taken"]) == (2, 2, 4), stats
""",
        env=under_ncu,
    )
    assert plain(done.events) == [LOST.format(4)]
    assert device_ranges(done.events) == []


def test_a_capture_under_ncu_holds_no_range(under_ncu):
    done = run_device(SYNC_IN_CAPTURE, env=under_ncu)
    assert plain(done.events) == [
        "push [] ascii:'captured' depth=0", "pop [] ascii:'captured' depth=0", LOST.format(1)
    ]  # fmt: skip
    assert device_ranges(done.events) == []
