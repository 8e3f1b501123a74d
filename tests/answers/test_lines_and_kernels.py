# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range, the line that launches or waits, and the kernel, in one recording whose truth is
known: `explain` and the page say all three; and recordings in which one of them must not be said.

Times are in units of 1,024 ns.
"""

from __future__ import annotations

import pytest

import nvspan
from helpers.page_data import data_of
from helpers.reported import run_nvspan
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.answers.findings import analyze

STEPS, LENGTH = 40, 20_000
GEMM, COPY = "gemm_kernel", "[CUDA memcpy Device-to-Host]"
LAUNCHES = "line  model.py:74  100% ±0.1% of 'forward'"
WAITS = "line  train.py:31  100% ±0.1% of 'loss', waiting"


def write(path, *, samples=True, launches=True, busy=4000):
    """Each step launches a kernel in "forward" at model.py:74, which takes half of the range, and
    then waits in "loss" at train.py:31 until a copy has ended, four times; the kernel of the next
    part is launched only then."""
    file = SampledFile()
    thread, chunk = file.thread(), SampleChunk(0, 102)
    main = file.frame("/p/train.py", "main", 10)
    launching = file.stack(main, file.frame("/p/model.py", "forward", 74))
    waiting = file.stack(main, file.frame("/p/train.py", "loss", 31))
    ranges, kernels, look = [], [], 50
    for step in range(STEPS):
        at = step * LENGTH
        ranges.append((at, at + LENGTH - 20, "step"))
        for part in range(4):
            begin = at + 10 + part * 4990
            middle, end = begin + 2000, begin + 4900
            ranges += [(begin, middle, "forward"), (middle + 10, end, "loss")]
            if launches:
                start = begin + 1500
                kernels.append((begin + 1400, start, start + busy // 4, GEMM))
                copied = max(end - 1200, start + busy // 4)
                kernels.append((middle + 100, copied, copied + 20, COPY))
            while samples and look < end:
                inside = look < middle
                if look > begin:
                    state = RUNNING if inside else WAITING
                    chunk.sample(look, thread, launching if inside else waiting, state)
                look += 100
    file.ranges(ranges)
    file.kernels(kernels)
    if samples:
        file.samples(chunk)
    return file.write(path)


def evidence(path, kind):
    found = [one for one in analyze(nvspan.read(path)).findings if one.kind == kind]
    return [[one.text, *one.evidence] for one in found]


def test_range_line_and_kernel_are_one_finding(tmp_path):
    (said,) = evidence(write(tmp_path / "run.nvspan"), "kernel")
    assert said == [f"{GEMM} takes 98% of the GPU's busy time", "160 calls of 1.02 ms",
                    "launched in 'forward'", LAUNCHES]  # fmt: skip


def test_the_line_that_waits_is_named_with_what_it_waits_for(tmp_path):
    (said,) = evidence(write(tmp_path / "run.nvspan"), "bound-synchronising")
    assert said == [
        "the CPU waits for the GPU 4 times per step, and the GPU then 16.3 ms for the CPU",
        "the GPU has no work for 80% of the step, 48% while the CPU is in 'loss'",
        "the CPU waits for the GPU 4 times a step, 6.64 ms, and has then to launch again",
        WAITS,
    ]


def test_the_page_and_the_command_say_the_same(tmp_path):
    path = write(tmp_path / "run.nvspan")
    (kernel,), (bound,) = evidence(path, "kernel"), evidence(path, "bound-synchronising")
    said = run_nvspan("explain", path).stdout
    assert [text in said for text in (*kernel, *bound)] == [True] * len([*kernel, *bound])
    page = tmp_path / "page.html"
    run_nvspan("report", "-o", page, path)
    shown = [[one["text"], *one["evidence"]] for one in data_of(page)["answers"]["findings"]]
    assert [sentences in shown for sentences in (kernel, bound)] == [True, True]


def test_without_samples_no_line_is_named(tmp_path):
    path = write(tmp_path / "run.nvspan", samples=False)
    (said,) = evidence(path, "kernel")
    assert said == [f"{GEMM} takes 98% of the GPU's busy time", "160 calls of 1.02 ms",
                    "launched in 'forward'"]  # fmt: skip
    (bound,) = evidence(path, "bound-synchronising")
    assert [line for line in bound if line.startswith("line ")] == []


def test_without_kernels_none_is_named_with_the_line(tmp_path):
    path = write(tmp_path / "run.nvspan", launches=False)
    assert evidence(path, "kernel") == []
    assert evidence(path, "bound-synchronising") == []
    said = run_nvspan("explain", path).stdout
    assert GEMM not in said
    assert "launched in" not in said


def test_a_kernel_of_no_range_has_neither_range_nor_line(tmp_path):
    file = SampledFile()
    thread, chunk = file.thread(), SampleChunk(0, 102)
    stack = file.stack(file.frame("/p/train.py", "main", 10))
    kernels = []
    for step in range(STEPS):
        at = step * LENGTH
        file.ranges([(at, at + LENGTH // 2, "step")])
        kernels.append((at + LENGTH // 2 + 50, at + LENGTH // 2 + 100, at + LENGTH - 200, GEMM))
        for look in range(at + 50, at + LENGTH // 2, 100):
            chunk.sample(look, thread, stack, RUNNING)
    file.kernels(kernels)
    file.samples(chunk)
    (said,) = evidence(file.write(tmp_path / "run.nvspan"), "kernel")
    assert said == [f"{GEMM} takes 100% of the GPU's busy time", "40 calls of 9.93 ms"]


@pytest.mark.parametrize("words", [["kernels"], ["stats", "--gpu"]])
def test_the_tables_name_the_range(tmp_path, words):
    rows = run_nvspan(*words, write(tmp_path / "run.nvspan")).stdout.splitlines()
    assert any("forward" in row for row in rows)
