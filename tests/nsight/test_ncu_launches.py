# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is said before a run of ncu: launches of other threads, a cold context, an end too early."""

from __future__ import annotations

import sys

import pytest

from helpers.fake_cupti import PREAMBLE, environment, run_recorded
from helpers.traced import needs_library
from nvspan.nsight import RangeFilter, range_filters
from nvspan.nsight.compute.dry_run import dry_run
from nvspan.nsight.compute.launches import launch_findings

pytestmark = needs_library

# What takes 10 ticks has ended long before its range does.
PROGRAM = """
gpu.use()
def autograd():
    for _ in range(171): gpu.launch("gemm_backward", 10, after=0)
def backward():
    for _ in range(3): gpu.launch("loss_backward", 10, after=0)
    thread = threading.Thread(target=autograd); thread.start(); thread.join()
with nvspan.annotate("first"):
    gpu.launch("gemm", 10, after=0)
with nvspan.annotate("backward"):
    backward()
with nvspan.span("all threads"):
    backward()
for took in 10, 10**9:
    with nvspan.annotate("forward"):
        end = took + gpu.launch("gemm", took, after=0)
while gpu.now() <= end: pass  # what has not ended has no times
gpu.deliver()
"""


@pytest.fixture(scope="module")
def recording():
    return run_recorded(PROGRAM).recording


def said(recording, name, replay="kernel"):
    (filter,) = range_filters(name, recording)
    return [finding.text for finding in launch_findings([filter], recording, replay)]


def test_launches_of_other_threads_are_told_before_the_run(recording):
    assert said(recording, "backward") == [
        "other threads make 171 of the 174 launches during 'backward/', as autograd does: ncu "
        "profiles only the range's thread, with 3"
    ]


def test_what_counts_for_all_threads_and_what_launches_itself_has_no_note(recording):
    assert said(recording, "all threads") == []
    assert said(recording, "forward") == []


def test_range_replay_is_told_of_the_first_launch_of_the_process(recording):
    assert said(recording, "first", "range") == [
        "the first launch of the process lies within 'first/': range replay cannot repeat what "
        "creates the context and loads kernels"
    ]
    assert said(recording, "first") == []


def test_range_replay_is_told_of_an_end_before_that_of_the_work(recording):
    assert said(recording, "forward", "range") == [
        "'forward/' ended before its work on the GPU in 1 of 2 calls: range replay needs an end "
        "that waits"
    ]


def test_a_recording_without_launches_says_nothing():
    recording = run_recorded("with nvspan.annotate('forward'): pass", cuda=None).recording
    assert launch_findings([RangeFilter("forward")], recording, "range") == []


def test_a_dry_recording_has_the_launches(monkeypatch, tmp_path):
    for name, value in environment(None).items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    (tmp_path / "program.py").write_text(PREAMBLE + PROGRAM)
    found = dry_run([sys.executable, str(tmp_path / "program.py")])
    assert said(found.recording, "backward") != []
    with pytest.raises(ValueError, match="gemm"):
        range_filters("gemm", found.recording)  # kernels and calls are no ranges
