# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from the calls of CUDA's driver within a range, and what range replay does with a
call."""

from __future__ import annotations

import pytest

from nvspan.nsight.driver.driver_calls import (
    CONTEXT_CREATED,
    MODULE_LOADED,
    DriverCall,
    Memory,
    ProcessCalls,
)
from nvspan.nsight.driver.range_work import works
from nvspan.nsight.driver.replay_calls import Verdict, plain_name, verdict
from nvspan.nsight.ranges.occurrences import Occurrence

OWN, OTHER = 0, 1
LAUNCH, SYNC, WAIT = "cuLaunchKernel", "cuCtxSynchronize", "cuStreamSynchronize"
RECORD, REACHED, FOLLOW = "cuEventRecord", "cuEventSynchronize", "cuStreamWaitEvent"


def work_of(*calls, own=True, ranges=((10, 20),)):
    """What is in ranges of the thread OWN; calls are (time, name[, stream[, thread[, event]]])."""
    made = [DriverCall(*call, *(0, OWN, 0)[len(call) - 2 :]) for call in calls]
    hits = [Occurrence(0, start, end, OWN) for start, end in ranges]
    return works(hits, ProcessCalls(sorted(made)), only_own_thread=own)


WAITS = {
    "nothing": ([], False, False),
    "its own": ([(12, LAUNCH, 1), (13, SYNC)], False, False),
    "not at all": ([(12, LAUNCH, 1)], False, True),
    "before": ([(12, SYNC), (13, LAUNCH, 1)], False, True),
    "for its stream": ([(12, LAUNCH, 7), (13, WAIT, 7)], False, False),
    "for another stream": ([(12, LAUNCH, 7), (13, WAIT, 8)], False, True),
    "for an event": ([(12, LAUNCH, 7), (13, RECORD, 7, OWN, 5), (14, REACHED, 0, OWN, 5)], False,
                     False),
    "for an event before it": ([(11, RECORD, 7, OWN, 5), (12, LAUNCH, 7),
                                (13, REACHED, 0, OWN, 5)], False, True),
    "for an event of another stream": ([(12, LAUNCH, 7), (13, RECORD, 8, OWN, 5),
                                        (14, REACHED, 0, OWN, 5)], False, True),
    "for another event": ([(12, LAUNCH, 7), (13, RECORD, 7, OWN, 5), (14, REACHED, 0, OWN, 6)],
                          False, True),
    "for an event that is gone": ([(12, LAUNCH, 7), (13, RECORD, 7, OWN, 5),
                                   (14, "cuEventDestroy", 0, OWN, 5),
                                   (15, REACHED, 0, OWN, 5)], False, True),
    "for an event recorded again": ([(12, LAUNCH, 7), (13, RECORD, 7, OWN, 5), (14, LAUNCH, 7),
                                     (15, RECORD, 7, OWN, 5), (16, REACHED, 0, OWN, 5)], False,
                                    False),
    "for a stream that waited for another": (
        [(11, LAUNCH, 7), (12, RECORD, 7, OWN, 5), (13, FOLLOW, 8, OWN, 5), (14, LAUNCH, 8),
         (15, WAIT, 8)], False, False),
    "for a stream that waited for what came before": (
        [(11, RECORD, 7, OWN, 5), (12, LAUNCH, 7), (13, FOLLOW, 8, OWN, 5), (14, WAIT, 8)], False,
        True),
    "for an event behind another stream": (
        [(11, LAUNCH, 7), (12, RECORD, 7, OWN, 5), (13, FOLLOW, 8, OWN, 5), (14, RECORD, 8, OWN, 6),
         (15, REACHED, 0, OWN, 6)], False, False),
    "an event alone": ([(12, RECORD, 7, OWN, 5)], False, False),
    "by a copy": ([(12, LAUNCH, 1), (13, "cuMemcpyDtoH")], False, False),
    "a copy on its own": ([(12, "cuMemcpyDtoHAsync", 7)], False, True),
    "after it": ([(12, LAUNCH, 1), (21, SYNC)], False, True),
    "what came before": ([(5, LAUNCH, 1), (12, LAUNCH, 1), (13, SYNC)], True, False),
    "waited for at its begin": ([(5, LAUNCH, 1), (11, SYNC), (12, LAUNCH, 1), (13, SYNC)], False,
                                False),
    "another thread waits": ([(12, LAUNCH, 1), (13, SYNC, 0, OTHER)], False, False),
    "captured": ([(11, "cuStreamBeginCapture", 7), (12, LAUNCH, 7), (13, "cuStreamEndCapture", 7)],
                 False, False),
}  # fmt: skip


@pytest.mark.parametrize("name", WAITS)
def test_what_is_waited_for(name):
    calls, begins, ends = WAITS[name]
    (work,) = work_of(*calls)
    assert (work.begins_amid_work, work.ends_amid_work) == (begins, ends)


def test_launches():
    calls = [(9, LAUNCH, 1), (12, LAUNCH, 1), (13, "cuGraphLaunch", 7), (14, LAUNCH, 1, OTHER),
             (15, "cuLaunchHostFunc", 7), (21, LAUNCH, 1)]  # fmt: skip
    (work,) = work_of(*calls)
    assert (work.launches, work.launches_elsewhere) == (2, 1)
    (work,) = work_of(*calls, own=False)
    assert (work.launches, work.launches_elsewhere) == (3, 0)


def test_a_captured_launch_is_none():
    calls = [(11, "cuStreamBeginCapture", 7), (12, LAUNCH, 7), (13, LAUNCH, 1, OTHER),
             (14, "cuStreamEndCapture", 7)]  # fmt: skip
    (work,) = work_of(*calls, own=False)
    assert (work.launches, work.captures) == (1, True)


def test_each_time_by_itself():
    found = work_of(
        (11, "cuInit"), (12, CONTEXT_CREATED), (13, MODULE_LOADED), (14, LAUNCH, 1), (15, SYNC),
        (31, LAUNCH, 1), (41, "cuMemAllocAsync"), ranges=((10, 20), (30, 35), (40, 45)),
    )  # fmt: skip
    assert [(w.is_first, w.is_cold, w.loads, w.refused, w.unlisted) for w in found] == [
        (True, True, True, ("cuInit",), ()),
        (False, False, False, (), ()),
        (False, False, False, (), ("cuMemAllocAsync",)),
    ]
    assert [w.ends_amid_work for w in found] == [False, True, True]


def test_ranges_within_each_other_see_the_same_calls():
    found = work_of((12, LAUNCH, 1), (16, SYNC), ranges=((10, 20), (11, 15)))
    assert [(w.launches, w.ends_amid_work) for w in found] == [(1, False), (1, True)]


def test_memory_at_a_time():
    of = ProcessCalls([], [Memory(10, 0, 1, 9), Memory(20, 0, 2, 9), Memory(30, 1, 5, 9)])
    assert of.memory_at(5) == [Memory(10, 0, 1, 9), Memory(30, 1, 5, 9)]
    assert of.memory_at(25) == [Memory(20, 0, 2, 9), Memory(30, 1, 5, 9)]


VERDICTS = {
    "cuLaunchKernel_ptsz": Verdict.REPEATED,
    "cuLaunchKernelEx": Verdict.REPEATED,
    "cuMemcpyHtoDAsync_v2_ptsz": Verdict.REPEATED,
    "cuMemAlloc_v2": Verdict.REPEATED,
    "cuMemAllocAsync": Verdict.UNLISTED,
    "cuMemFree_v2": Verdict.REPEATED,
    "cuMemFreeAsync": Verdict.REFUSED,
    "cuMemCreate": Verdict.UNLISTED,
    "cuLibraryLoadData": Verdict.REPEATED,
    "cuKernelGetAttribute": Verdict.REPEATED,
    "cuKernelSetAttribute": Verdict.REFUSED,
    "cuStreamIsCapturing": Verdict.REPEATED,
    "cuGraphLaunch": Verdict.UNLISTED,
    "cuInit": Verdict.REFUSED,
    "cuDevicePrimaryCtxGetState": Verdict.REPEATED,
    "cuDevicePrimaryCtxRelease_v2": Verdict.REFUSED,
    "cuStreamBeginCapture_v2": Verdict.REFUSED,
    "cuStreamGetCaptureInfo_v3": Verdict.REFUSED,
    "cuStreamGetId": Verdict.REPEATED,
    "cuEventQuery": Verdict.REFUSED,
    "cuEventRecord": Verdict.REPEATED,
}


def test_what_becomes_of_a_call():
    assert {name: verdict(name) for name in VERDICTS} == VERDICTS


def test_names_without_their_versions():
    names = ["cuMemcpy2DAsync_v2_ptsz", "cuCtxCreate_v4", "cuMemcpy_ptds", "cuInit"]
    assert [plain_name(name) for name in names] == [
        "cuMemcpy2DAsync", "cuCtxCreate", "cuMemcpy", "cuInit",
    ]  # fmt: skip
