# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What limits a step, in recordings whose truth is known: with kernels the cause is named first,
and from device ranges alone only what holds is said."""

from __future__ import annotations

import pytest

from helpers.written_kernels import WrittenGpu
from nvspan.answers.findings import analyze

STEPS = 100
LENGTH = 20_000  # us


class Loop:
    """A loop of 20 ms a step; times within a step are us from its start."""

    def __init__(self, gpu, kernels=True):
        self.gpu = gpu
        self.kernels = kernels
        self.at = 0

    def range(self, name, start, end):
        self.gpu.range(name, self.at + start, self.at + end, domain="torch")

    def work(self, name, launched, start, end, **given):
        """A kernel; with device ranges alone it is in one of these."""
        if self.kernels:
            self.gpu.work(
                name, self.at + start, self.at + end, launched=self.at + launched, **given
            )

    def covered(self, name, launched, start, end):
        """A device range around the work of a phase."""
        if not self.kernels:
            self.gpu.device_range(name, self.at + start, self.at + end, domain="torch",
                                  launched=self.at + launched)  # fmt: skip


def tiny(loop):
    """100 kernels of 3.65 us in each of two phases, launched every 100 us: busy 3.6 %."""
    for phase, begin in (("forward", 0), ("backward", 10_000)):
        loop.range(phase, begin, begin + 10_000)
        for i in range(100):
            launched = begin + 100 * i + 90
            loop.work("add", launched, launched + 7, launched + 10.65)
        loop.covered(phase, begin + 1, begin + 97, begin + 10_000.65)


def item(loop):
    """Four times 250 us of kernels, and a copy that the CPU waits for; then 4 ms of Python."""
    loop.range("forward", 1, LENGTH - 1)
    for begin in range(1, LENGTH, LENGTH // 4):
        for i in range(10):
            loop.work("gemm", begin + 10 * i, begin + 10 + 25 * i, begin + 35 + 25 * i)
        loop.work("[CUDA memcpy Device-to-Host]", begin + 110, begin + 262, begin + 264,
                  kind="copy")  # fmt: skip
    loop.covered("forward", 1, 10, LENGTH - 4_000)


def loader(loop):
    """16 ms of waiting for data."""
    loop.range("dataloader.next", 0, 16_000)
    loop.range("forward", 16_000, LENGTH)
    for i in range(10):
        launched = 16_000 + 300 * i
        loop.work("gemm", launched, launched + 8, launched + 300)
    loop.covered("forward", 16_001, 16_008, LENGTH - 1_000)


def gpu_bound(loop):
    """A kernel of 9.9 ms in each phase, launched two steps ahead."""
    for phase, begin in (("forward", 0), ("backward", 10_000)):
        loop.range(phase, begin, begin + 10_000)
        start = begin + 2 * LENGTH
        loop.work("flash_bwd", begin + 5, start, start + 9_900)
        loop.covered(phase, begin + 5, start, start + 9_900)


def graph(loop):
    """A graph of 19.8 ms, launched two steps ahead: how busy the GPU is in it is not known."""
    loop.range("replay", 1, LENGTH - 1)
    loop.work("[CUDA graph 5]", 5, 2 * LENGTH, 3 * LENGTH - 200, kind="graph")


def compiled(loop):
    """Two kernels of 4 ms, and 12 ms in which the CPU is in the optimizer."""
    loop.range("forward", 0, 8_000)
    loop.work("triton_poi_fused_0", 5, 12, 4_012)
    loop.work("triton_red_fused_1", 4_000, 4_012, 8_000)
    loop.range("optimizer.step", 8_000, LENGTH)


def analyzed(tmp_path, program, kernels=True):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        loop = Loop(gpu, kernels)
        for step in range(STEPS):
            loop.at = step * LENGTH
            loop.range("step", 0, LENGTH)
            program(loop)
    return analyze(gpu.read())


@pytest.mark.parametrize(
    ("program", "kind", "text", "busy"),
    [
        (tiny, "bound-launch",
         "launch-bound: the GPU waits 19.3 ms per step for work (96% of the step)", "3.6%"),
        (item, "bound-synchronising",
         "the CPU waits for the GPU 4 times per step, and the GPU then 19.0 ms for the CPU",
         "5.0%"),
        (loader, "bound-data",
         "the GPU waits 16.0 ms per step for data (80% of the step)", "15%"),
        (gpu_bound, "bound-gpu", "GPU-bound: the GPU is busy for 97% of the step", "99%"),
        (graph, "bound-gpu", "GPU-bound: the GPU is busy for at most 97% of the step",
         "at most 99%"),
        (compiled, "bound-cpu",
         "the GPU waits 12.0 ms per step for the CPU in 'optimizer' (60% of the step)", "40%"),
    ],
)  # fmt: skip
def test_with_kernels_the_cause_comes_first(tmp_path, program, kind, text, busy):
    analysis = analyzed(tmp_path, program)
    first = analysis.findings[0]
    assert (first.kind, first.text, first.certainty) == (kind, text, "measured")
    assert analysis.headline.endswith(f"; GPU busy {busy}")


def test_busy_and_idle_are_those_of_the_kernels(tmp_path):
    typical = analyzed(tmp_path, tiny).steps.typical
    assert typical.busy == pytest.approx(200 * 3650, abs=1)
    assert sum(typical.idle.values()) == pytest.approx(LENGTH * 1000 - 200 * 3650, rel=1e-4)
    typical = analyzed(tmp_path, item).steps.typical
    assert typical.busy == pytest.approx(4 * 252_000, abs=1)
    assert (typical.wait_calls, typical.waits) == (4, 4 * 154_000)


@pytest.mark.parametrize(
    ("program", "kind", "certainty"),
    [
        (tiny, "bound-launch", "likely"),
        (item, "bound-unknown", "cannot tell"),
        (loader, "bound-data", "measured"),
        (gpu_bound, "bound-gpu", "measured"),
    ],
)  # fmt: skip
def test_device_ranges_say_how_busy_the_gpu_is_at_most(tmp_path, program, kind, certainty):
    analysis = analyzed(tmp_path, program, kernels=False)
    (bound,) = [finding for finding in analysis.findings if finding.kind.startswith("bound")]
    assert (bound.kind, bound.certainty) == (kind, certainty)
    assert "; GPU busy at most " in analysis.headline
    said = " ".join([bound.text, *bound.evidence])
    assert "has work" not in said
    assert "busy for" not in said.replace("busy for at most", "")
    assert "has no work for" not in said.replace("has no work for at least", "")


def test_copies_that_nobody_waits_for_are_no_synchronisation(tmp_path):
    def program(loop):
        """A copy to the host among kernels that go on."""
        loop.range("forward", 1, LENGTH - 1)
        for i in range(100):
            launched, name = 10 + 10 * i, "gemm"
            if i % 25 == 24:
                name = "[CUDA memcpy Device-to-Host]"
            loop.work(name, launched, launched + 5, launched + 8,
                      kind="kernel" if name == "gemm" else "copy")  # fmt: skip

    analysis = analyzed(tmp_path, program)
    assert analysis.steps.typical.wait_calls == 0
    assert not any(finding.kind == "bound-synchronising" for finding in analysis.findings)


def test_the_kernel_with_most_time_is_named_with_its_range(tmp_path):
    analysis = analyzed(tmp_path, gpu_bound)
    (kernel,) = [finding for finding in analysis.findings if finding.kind == "kernel"]
    assert kernel.text == "flash_bwd takes 100% of the GPU's busy time"
    assert kernel.evidence == ["200 calls of 9.90 ms", "launched in 'forward' and 1 more"]
    assert kernel.next.startswith("nvspan kernels --by range ")
    spread = analyzed(tmp_path, tiny)
    assert [f.kind for f in spread.findings].index("bound-launch") == 0


def test_steps_that_fill_the_queue_are_no_outliers(tmp_path):
    """Until the queue is full a step takes as long as its launches."""
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        at, done = 0, 0
        for step in range(60):
            queued = step % 30 < 6  # a pause empties the queue
            if step == 30:
                at = done + 50_000
            length = 2_000 if queued else 10_000
            gpu.range("step", at, at + length, domain="torch")
            start = max(at + 10, done)
            done = start + 10_000
            gpu.work("gemm", start, done, launched=at + 5)
            at += length
        # An epoch's last batch is small.
        gpu.range("step", at, at + 1_000, domain="torch")
        gpu.work("gemm", done, done + 1_000, launched=at + 5)
    steps = gpu.read().steps()
    states = [row["state"] for row in steps.rows()]
    assert states == ["warm-up"] * 6 + ["typical"] * 54 + ["outlier"]
    assert steps.typical.p50 == 10_000_000


def test_a_step_that_compiles_is_said_alone(tmp_path):
    """A step of 6 s, in which kernels run for the first time, is not said with steps of +1 ms."""
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        at = 0
        for step in range(100):
            length = 6_000_000 if step == 30 else 6_000 if step % 20 == 7 else 5_000 + step % 3
            gpu.range("step", at, at + length, domain="torch")
            gpu.range("forward", at, at + length - 100, domain="torch")
            kernels = ["triton_old"] + ["triton_new_0", "triton_new_1"] * (step >= 30)
            for i, name in enumerate(kernels):
                launched = at + length - 2_000 + 20 * i
                gpu.work(name, launched + 8, launched + 12, launched=launched)
            at += length
    rare = [finding for finding in analyze(gpu.read()).findings if finding.kind == "rare"]
    assert [finding.text for finding in rare] == [
        "1 of 100 steps takes 1,200 times as long as the others: 6.00 s, 5.00 ms"
    ]
    assert "step 30" in rare[0].evidence
    assert (
        "compiles or loads: 2 kernels run for the first time in it: triton_new_0, triton_new_1"
        in rare[0].evidence
    )


def test_replays_within_a_device_range_are_its_time(tmp_path):
    """The GPU is a step late: the graph's ranges run while the CPU is in the next step."""
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        for step in range(STEPS):
            at, start = 10_000 * step, 10_000 * (step + 1) + 1_000
            gpu.range("step", at, at + 10_000, domain="torch")
            gpu.range("forward", at, at + 9_000, domain="torch")
            gpu.device_range("forward", start, start + 7_000, launched=at + 10, domain="torch")
            for layer in range(4):
                begin = start + 50 + 1_725 * layer
                gpu.device_range(f"layer.{layer}", begin, begin + 1_700, launched=None)
    steps = gpu.read().steps()
    assert {row["gpu"]["forward"] for row in steps.rows()} == {7_000_000}
    assert {row["busy"] for row in steps.rows()} == {7_000_000}
    assert steps.by_run_time == 0
