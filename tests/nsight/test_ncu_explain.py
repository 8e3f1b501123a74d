# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of empty and odd results: what ncu 2025.3.1 said on a GPU (data/nsight/said), and
recordings of programs with the same ranges."""

from __future__ import annotations

import pytest

from helpers.ncu import DATA
from helpers.recorded import record_command
from helpers.traced import needs_library
from nvspan.nsight import NcuResult, RangeFilter
from nvspan.nsight.compute import diagnosis, messages
from nvspan.nsight.compute import explain as explanations
from nvspan.nsight.compute.explain import Run, as_lines, explain
from nvspan.nsight.results import csv_reader

pytestmark = needs_library

PROGRAM = """
import nvspan
for number in range(3):
    with nvspan.annotate("step", domain="app"):
        with nvspan.annotate("forward", domain="torch"):
            for layer in range(3):
                with nvspan.annotate(f"layers.{layer}", domain="torch"): pass
        with nvspan.annotate("plain"): pass
        nvspan.end_range(nvspan.start_range("load", domain="io"))
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    import sys

    return record_command(
        [sys.executable, "-c", PROGRAM], folder=tmp_path_factory.mktemp("recorded")
    ).recording


@pytest.fixture(autouse=True)
def driver(monkeypatch):
    """The machine that ncu ran on had one."""
    monkeypatch.setattr(explanations, "has_driver", lambda: True)


def said(name):
    return (DATA / "said" / f"{name}.txt").read_text().splitlines()


def findings(name, *filters, recording=None, result=(), **options):
    return explain(Run(
        said=said(name) if isinstance(name, str) else name,
        result=NcuResult(result, map(RangeFilter.parse, filters)), version="2025.3.1",
        recording=lambda: recording, **options,
    ))  # fmt: skip


def problems(found):
    return [finding for finding in found if finding.status == "problem"]


# The filter, and what the explanation says of it, and the range that it offers.
FILTERS = {
    "app@stpe/": ("there is no range 'stpe'; the nearest are 'step'", ["step"]),
    "app@step": ("'step' is a push/pop range, and without a slash", ["step"]),
    "io@load/": ("'load' is a start/end range, and the slash at its end", ["load"]),
    "step/": ("'step' is in the domain 'app', and the filter means the default domain", ["step"]),
    "app@plain/": ("'plain' is in the default domain, and the filter means the domain 'app'",
                   ["plain"]),
    "torch@[layers.0": ("'layers.0' is never the outermost range", ["layers.0"]),
    "torch@layers.0/forward": ("'layers.0' and 'forward' are ranges, but never so within each",
                               ["layers.0 > forward"]),
    "torch@step/forward": ("'step' and 'forward' are of different domains", ["forward"]),
    "torch@layers.0/layers.9": ("there is no range 'layers.9'; the nearest are 'layers.2'",
                                ["layers.2"]),
    "app@load,copy": ("there is no range 'copy'", None),
    "regex:app@^x/": ("no name is like this expression", []),
}  # fmt: skip


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter_that_hits_nothing(text, recording):
    found = findings("typo", text, recording=recording)
    words, offered = FILTERS[text]
    assert [finding.status for finding in found] == ["ok", "ok", "problem"]
    assert [finding.text for finding in found[:2]] == [
        "ncu 2025.3.1 ran", "it looked at 1 process with CUDA",
    ]  # fmt: skip
    assert words in found[2].text
    assert found[2].instead == text
    assert offered is None or list(found[2].ranges) == offered


def test_what_is_offered_hits_the_range(recording):
    from nvspan.nsight import range_filters

    for text, (_, offered) in FILTERS.items():
        for name in offered or ():
            if name != "layers.0 > forward":
                assert range_filters(name, recording)[0].evaluate(recording).calls >= 3, text


# What ncu said, options of the run, and the words and options of the explanation.
SAID = {
    "semicolon": ({}, "cannot read the filter 'app@step/;torch@layers.1/'", ()),
    "cold_context": ({"replay": "range"},
                     "cuDevicePrimaryCtxRetain within the range, which range replay cannot repeat",
                     ("--calls", "1:")),
    "cold_torch": ({"replay": "range"}, "called cuInit within the range", ("--calls", "1:")),
    "graph_capture": ({"replay": "range"}, "a CUDA graph is captured in it",
                      ("--replay", "app-range")),
    "empty_range": ({"replay": "range"}, "the range ran, and launched no kernel", ()),
    "no_cuda": ({}, "no process of the program used CUDA", ()),
    "children": ({"processes": "application-only"}, "only in processes that the program started",
                 ("--processes", "all")),
    "other_thread": ({}, "its thread launched no kernel in it", ()),
    "no_such_kernel": ({}, "no kernel has the name that was asked for; there are spin", ()),
    "launch_skip": ({"chooses": ["--launch-skip"]}, "--launch-skip left out everything", ()),
    "exists": ({}, "the report steps.ncu-rep exists", ("--force",)),
    "typo_under_range_replay": ({"replay": "range", "filter": "app@stpe/"},
                                "there is no range 'stpe'", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_ncu_says(name, recording):
    options, words, offered = SAID[name]
    options = dict(options)
    found = problems(
        findings(name, options.pop("filter", "app@step/"), recording=recording, **options)
    )
    assert [words in finding.text for finding in found] == [True]
    assert found[0].options == offered


def test_ranges_of_a_list_with_semicolons():
    (found,) = problems(findings("semicolon"))
    assert found.ranges == ("app@step/", "torch@layers.1/")


# Messages that no machine here gives: those of Nsight Compute's own texts, and of its users' logs.
FAQ = "See https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#faq for more details."
TOLD = {
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0. For instructions on enabling permissions and to "
    "get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM":
        "the driver lets only administrators read",
    "==ERROR== Profiling failed because a driver resource was unavailable or the user does not "
    "have permission to access NVIDIA GPU Performance Counters. Ensure that no other tool (like "
    "DCGM) is concurrently collecting profiling data. For instructions on enabling permissions, "
    f"see https://developer.nvidia.com/ERR_NVGPUCTRPERM. {FAQ}":
        "another tool measures on this GPU, or the driver lets only administrators",
    "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other "
    f"tool (like DCGM) is concurrently collecting profiling data. {FAQ}":
        "another tool measures on this GPU",
    "==ERROR== unrecognised option '--communicator'. Use --help for further details.":
        "has no option --communicator",
    "==ERROR== the argument for option '--replay-mode' is invalid. Use --help for further details.":
        "does not take what is given for --replay-mode",
    "==ERROR== Option '--section NoSuch' did not match any section.": "no section NoSuch",
    "==WARNING== No metrics to collect found in sections.": "no such set or section",
    "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?).":
        "finds no CUDA driver",
    "==ERROR== Cuda driver is not compatible with Nsight Compute.": "do not go together",
    "==WARNING== Failed to load Nsight Compute CUDA modules.": "do not go together",
    "==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that this "
    f"process has write permissions on this file. {FAQ}": "cannot use its lock file",
    "==ERROR== InterprocessLockFailed": "cannot use its lock file",
    "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer "
    "--list-chips option.": "this version of ncu cannot profile device 0",
    "==ERROR== Profiling is not supported on device 1 as it uses the Windows Subsystem for Linux "
    "(WSL).": "device 1 cannot be profiled in this Windows Subsystem for Linux",
    "==ERROR== Failed to save memory for replay.": "could not save what kernels write",
    "==ERROR== Unhandled C++ exception: bad allocation": "ran out of the host's memory",
    "==ERROR== InternalError": "and gives no reason (InternalError)",
    "==ERROR== UnknownError": "and gives no reason (UnknownError)",
}  # fmt: skip


@pytest.mark.parametrize("line", TOLD)
def test_messages(line):
    (found,) = problems(findings([line]))
    assert TOLD[line] in found.text
    assert found.remedies


def test_notes():
    backed_up = (
        "==WARNING== Backing up device memory in system memory. Kernel replay might be slow."
    )
    (memory,) = findings([backed_up], result=layers())
    assert memory.options == ("--replay", "application")
    (clocks,) = findings(
        ["==WARNING== Cannot lock GPU clock frequencies on MIG! Try locking the clocks externally"],
        result=layers(),
    )
    assert clocks.options == ("--clock-control", "none")


@pytest.mark.parametrize("is_container", [False, True])
def test_a_container_is_told_how_it_gets_permission(is_container, monkeypatch):
    monkeypatch.setattr(messages, "in_container", lambda: is_container)
    (found,) = problems(findings(["==ERROR== ERR_NVGPUCTRPERM - The user does not have"]))
    assert ("--cap-add=SYS_ADMIN" in found.remedies[0]) is is_container
    assert any("NVreg_RestrictProfilingToAdminUsers=0" in remedy for remedy in found.remedies)


def layers():
    return csv_reader.parse((DATA / "layers.csv").read_text())


def test_a_good_result_needs_no_words(recording):
    assert findings([], "torch@layers.0/", recording=recording, result=layers()) == []


def test_a_range_without_a_kernel_beside_one_with(recording):
    (found,) = findings(
        [], "torch@layers.0/", "torch@layers.7/", recording=recording, result=layers()
    )
    assert "there is no range 'layers.7'" in found.text
    (found,) = findings([], "torch@layers.0/", "app@step/", recording=recording, result=layers())
    assert (found.status, found.text) == ("note", "no kernel was profiled in 'app@step/'")


def test_a_range_within_another_under_range_replay(recording):
    (found,) = findings(
        [], "torch@forward/", "torch@layers.1/", recording=recording, result=layers()[:1],
        replay="range",
    )  # fmt: skip
    assert "'layers.1' runs within 'forward'" in found.text
    assert found.options == ("--per-region",)


def test_metrics_that_ncu_did_not_measure():
    (found,) = findings([], result=layers(), metrics=["sm__warps_activ.avg.per_cycle_active",
                                                      "gpu__time_duration"])  # fmt: skip
    assert "measured no 'sm__warps_activ.avg.per_cycle_active'" in found.text
    assert "sm__warps_active.avg.per_cycle_active" in found.text
    (found,) = findings("missing_metrics", result=layers())
    assert (found.status, found.text[:46]) == (
        "note",
        "6 metrics cannot be measured on this machine: ",
    )


def test_lines():
    lines = as_lines(findings("exists"), lambda finding: " ".join(["again", *finding.options]))
    assert lines[:2] == ["  ok       ncu 2025.3.1 ran", "           try: again"]
    assert lines[2].startswith("  problem  the report steps.ncu-rep exists")
    assert lines[-1] == "           try: again --force"


def before(recording, replay, *filters, launched=False):
    parsed = [RangeFilter.parse(text) for text in filters]
    return diagnosis.before(parsed, recording, replay, launched=launched)


def test_before_a_run(recording):
    assert before(recording, "kernel", "app@step/", "torch@forward/") == []
    assert before(recording, "range", "torch@forward/") == []
    (nested,) = before(recording, "app-range", "torch@forward/", "torch@layers.2/")
    assert "'layers.2' runs within 'forward'" in nested.text
    (waiting,) = before(recording, "kernel", "app@step/", launched=True)
    assert "(NCCL)" in waiting.text


def test_range_replay_that_fails_without_a_reason():
    (found,) = problems(findings(["==ERROR== InternalError"], replay="range"))
    assert found.remedies[0].startswith("the range must wait for its work before it ends: ")
    assert found.options == ("--replay", "app-range")
