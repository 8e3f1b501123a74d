# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of the GPU from kernels that the recorder took, in steps whose truth is known."""

from __future__ import annotations

import sys

import pytest

from helpers.fake_cupti import PREAMBLE, environment, run_recorded
from helpers.recorded import record_command
from helpers.traced import needs_library, run_plain

pytestmark = needs_library

# Each step waits for its data, and launches two kernels that follow each other. The ticks of a
# millisecond are measured.
LOOP = """
gpu.use()
begin, wall = gpu.now(), time.perf_counter()
time.sleep(0.02)
ms = int((gpu.now() - begin) / (time.perf_counter() - wall) / 1000)
for i in range(20):
    with nvspan.annotate("step"):
        with nvspan.annotate("load"):
            time.sleep(0.004)
        with nvspan.annotate("forward"):
            number = gpu.call(kernel="gemm")
            start = gpu.now()
            gpu.kernel("gemm", start, start + 2 * ms, number)
        with nvspan.annotate("optimizer"):
            gpu.kernel("adam", start + 2 * ms, start + 3 * ms, gpu.call())
            time.sleep(0.004)
gpu.deliver()
"""


def test_a_step_is_busy_while_its_kernels_run():
    typical = run_recorded(LOOP).recording.steps().typical
    ms = 1e6
    assert typical.busy == pytest.approx(3 * ms, rel=0.01)
    assert typical.gpu["forward"] == pytest.approx(2 * ms, rel=0.01)
    assert typical.gpu["optimizer"] == pytest.approx(1 * ms, rel=0.01)
    assert typical.gpu["load"] == 0
    assert typical.idle["load"] == pytest.approx(typical.cpu["load"], rel=0.01)


def test_reports_show_kernels(tmp_path):
    command = [sys.executable, "-c", PREAMBLE + LOOP]
    (path,) = record_command(command, env=environment(), folder=tmp_path).files

    def output(*arguments):
        code = "import sys; from nvspan.cli import main; sys.exit(main(sys.argv[1:]))"
        return run_plain(code, *arguments).stdout

    rows = [line.split()[-1] for line in output("stats", "--gpu", path).splitlines()]
    assert rows == ["name", "step", "forward", "optimizer"]
    of_cuda = ("CUDA:gemm", "CUDA:adam", "CUDA API:cudaLaunchKernel")
    with_cuda, own = output("stats", "--cuda", path), output("stats", path)
    assert [name in with_cuda for name in of_cuda] == [True] * 3
    assert [name in own for name in of_cuda] == [False] * 3
    assert "the GPU has no work" in output("explain", path)
    trace = tmp_path / "trace.pftrace"
    output("export", "--format", "perfetto", "-o", str(trace), path)
    content = trace.read_bytes()
    assert content.count(b"gemm") >= 1
    assert b"GPU 0 \xc2\xb7 stream 7" in content
