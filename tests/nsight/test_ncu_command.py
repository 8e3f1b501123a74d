# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of ncu: each option of ours as options of ncu, which ncu knows."""

from __future__ import annotations

import sys

import pytest

from helpers import ncu as real
from helpers.recorded import record_command
from helpers.traced import needs_library
from nvspan.nsight import RangeFilter, ncu_command

PROGRAM = ["python", "train.py", "--lr", "1"]
KERNEL = ["--target-processes", "all", "--replay-mode", "kernel"]
STEP = ["--nvtx", "--nvtx-include", "app@step/"]
END = ["--export", "r"]
CASES = {
    "plain": ({}, [*KERNEL, *END]),
    "range": ({"ranges": "app@step/"}, [*KERNEL, *STEP, *END]),
    "ranges": (
        {"ranges": ["app@step/", RangeFilter("load", span=True)], "exclude": [r"a\[0\]/"]},
        [*KERNEL, *STEP, "--nvtx-include", "load", "--nvtx-exclude", r"a\[0\]/", *END],
    ),
    "exclude": ({"exclude": "a]"}, [*KERNEL, "--nvtx", "--nvtx-exclude", "a]", *END]),
    "replay": (
        {"ranges": "app@step/", "replay": "app-range", "processes": "application-only"},
        ["--target-processes", "application-only", "--replay-mode", "app-range", *STEP, *END],
    ),
    "quick": ({"preset": "quick"}, [*KERNEL, "--metrics", "gpu__time_duration.sum", *END]),
    "standard": ({"preset": "standard"}, [*KERNEL, "--set", "detailed", *END]),
    "comprehensive": ({"preset": "comprehensive"}, [*KERNEL, "--set", "full", *END]),
    "metrics": (
        {"metrics": ["time", "occupancy", "sol", "roofline", "memory", "stalls", "launch",
                     "SchedulerStats", "dram", "tensor", "time", "sm__cycles_active.avg"],
         "sets": ["basic"]},
        [*KERNEL, "--set", "basic", "--section", "Occupancy", "--section", "SpeedOfLight",
         "--section", "SpeedOfLight_RooflineChart", "--section", "MemoryWorkloadAnalysis",
         "--section", "WarpStateStats", "--section", "LaunchStats", "--section", "SchedulerStats",
         "--metrics", "gpu__time_duration.sum,dram__bytes.sum,"
         "dram__throughput.avg.pct_of_peak_sustained_elapsed,"
         "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,sm__cycles_active.avg",
         *END],
    ),
    "calls": (
        {"ranges": "app@step/", "calls": "3:5"}, [*KERNEL, *STEP, "--range-filter", "::4|5", *END],
    ),
    "every third call": (
        {"ranges": "app@step/", "calls": (0, 7, 3)},
        [*KERNEL, *STEP, "--range-filter", "::1|4|7", *END],
    ),
    "kernels": (
        {"kernel": "gemm|conv", "kernel_id": "::gemm:2", "launch_skip": 0, "launch_count": 3},
        [*KERNEL, "--kernel-name", "regex:gemm|conv", "--kernel-id", "::gemm:2", "--launch-skip",
         "0", "--launch-count", "3", *END],
    ),
    "others": (
        {"clock_control": "none", "cache_control": "none", "force": True, "kernel": "regex:^a$",
         "options": ["--null-stdin"]},
        [*KERNEL, "--kernel-name", "regex:^a$", "--clock-control", "none", "--cache-control",
         "none", "--force-overwrite", *END, "--null-stdin"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_options(name):
    given, expected = CASES[name]
    made = ncu_command(PROGRAM, output="r", **given)
    assert made == ["ncu", *expected, *PROGRAM]


def test_launchers_start_ncu():
    made = ncu_command(["torchrun", "--nproc-per-node=2", "train.py"], ncu="/opt/ncu")
    assert made == [
        "torchrun", "--nproc-per-node=2", "--no-python", "/opt/ncu", *KERNEL,
        "--export", "nvspan-%h-%q{RANK}-%p", sys.executable, "-u", "train.py",
    ]  # fmt: skip
    assert ncu_command(PROGRAM)[-6:-4] == ["--export", "nvspan-%p"]


@needs_library
def test_plain_names_and_their_calls(tmp_path):
    code = (
        "import nvspan\nfor i in range(25):\n    with nvspan.annotate('step', domain='app'): pass"
    )
    recording = record_command([sys.executable, "-c", code], folder=tmp_path).recording
    made = ncu_command(PROGRAM, "step", recording=recording, calls="::10", output="r")
    assert made == ["ncu", *KERNEL, *STEP, "--range-filter", "::1|11|21", *END, *PROGRAM]
    with pytest.raises(ValueError, match="no range 'stp' in the recording; the nearest are"):
        ncu_command(PROGRAM, "stp", recording=recording)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"replay": "graph"}, ValueError, "replay must be one of kernel, application, range, app-"),
        ({"replay": "range"}, ValueError, "ranges must name what replay='range' is to profile"),
        ({"preset": "fast"}, ValueError, "preset must be one of quick, standard, comprehensive"),
        ({"metrics": ["speed"]}, ValueError, "metrics: no 'speed'; plain names are dram, launch"),
        ({"options": "--x"}, TypeError, "options must hold options, and not be one str: '--x'"),
        ({"metrics": "time"}, TypeError, "metrics must be several names"),
        ({"calls": "3:5"}, ValueError, "calls needs one range and no exclude"),
        ({"calls": "3:5", "ranges": ["a/", "b/"]}, ValueError, "here are 2 and 0"),
        ({"calls": "3:5", "ranges": "a/", "exclude": "b/"}, ValueError, "here are 1 and 1"),
        ({"calls": "::10", "ranges": "a/"}, ValueError, "calls must have an end, or a recording"),
        ({"calls": "0:5000", "ranges": "a/"}, ValueError, "1 to 1000 calls, not 5000"),
        ({"kernel_id": "gemm"}, ValueError, "kernel_id must be context:stream:name:invocation"),
        ({"launch_skip": -1}, ValueError, "launch_skip must be 0 or more, not -1"),
        ({"launch_count": 0}, ValueError, "launch_count must be 1 or more, not 0"),
        ({"launch_count": 1.0}, TypeError, "launch_count must be an int, not 1.0"),
        ({"clock_control": "fast"}, ValueError, "clock_control must be one of base, none"),
        ({"processes": "mine"}, ValueError, "processes must be one of all, application-only"),
        ({"ranges": "a[0]/"}, ValueError, "stands in a name"),
    ],
)
def test_what_makes_no_sense(given, error, words):
    with pytest.raises(error, match=words):
        ncu_command(PROGRAM, **given)


def test_ncu_knows_every_option():
    told = real.run(real.find(), "--help").stdout
    used = {word for _, words in CASES.values() for word in words if word.startswith("--")}
    assert {name for name in used if f"{name} " not in told and f"{name}\n" not in told} == set()


def test_ncu_knows_every_section_and_set():
    ncu = real.find()
    sections = real.run(ncu, "--list-sections").stdout.split()
    sets = real.run(ncu, "--list-sets").stdout.split()
    words = CASES["metrics"][1]
    used = {words[at + 1] for at, word in enumerate(words) if word == "--section"}
    assert used <= set(sections)
    assert {"basic", "detailed", "full"} <= set(sets)


@pytest.mark.parametrize("chip", ["ga100", "gh100"])
def test_ncu_knows_every_metric(chip):
    known = real.run(real.find(), "--query-metrics", "--chips", chip).stdout.split()
    words = CASES["metrics"][1]
    used = {name.split(".")[0] for name in words[words.index("--metrics") + 1].split(",")}
    assert used <= set(known)


@pytest.mark.parametrize("name", CASES)
def test_ncu_takes_the_line(name, tmp_path):
    """On a machine without a GPU, too: a line that ncu refuses never gets to the driver."""
    given, _ = CASES[name]
    line = ncu_command([sys.executable, "-c", ""], output=str(tmp_path / "r"), **given)
    done = real.run(real.find(), *line[1:])
    said = done.stdout + done.stderr
    assert "No kernels were profiled" in said or "No ranges were profiled" in said
    assert "unrecognised" not in said
