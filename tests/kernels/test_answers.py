# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of the GPU from kernels that the recorder took, in steps whose truth is known."""

from __future__ import annotations

import sys

import pytest

import nvspan
from helpers.fake_cupti import PREAMBLE, environment, run_recorded
from helpers.recorded import record_command
from helpers.traced import needs_library, run_plain
from nvspan.recording.time_text import duration

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


# In five of the steps torch's profiler has CUPTI, say.
LENT = LOOP.replace(
    "for i in range(20):",
    """
import ctypes
from nvspan import launch
library = ctypes.CDLL(launch.attached_tool())
for i in range(20):
    if i == 8: library.nvspan_inject_release_gpu()
    if i == 13: library.nvspan_inject_take_gpu(1)""",
)


def test_a_gap_is_no_idle_gpu(tmp_path):
    done = run_recorded(LENT, folder=tmp_path)
    steps = done.recording.steps()
    typical = steps.typical
    ms = 1e6
    assert (len(steps), done.recording.projection().work) == (20, 30)
    assert typical.steps >= 10  # the machine may be busy in some
    assert typical.busy == pytest.approx(3 * ms, rel=0.01)
    assert typical.gpu["forward"] == pytest.approx(2 * ms, rel=0.01)
    known = [row for row in steps.rows(["typical"]) if not 8 <= row["index"] < 13]
    load = sum(row["cpu"]["load"] for row in known) / len(known)
    assert typical.idle["load"] == pytest.approx(load, rel=0.01)
    rows = steps.rows()
    assert [(row["busy"], sum(row["idle"].values())) for row in rows[8:13]] == [(0, 0)] * 5
    assert all(row["busy"] for row in [*rows[:8], *rows[13:]])
    (gap,) = done.recording.gpu_gaps
    first, last = rows[8]["start"], rows[13]["start"]
    assert first - 5 * ms < gap.start < first < gap.end < last
    note = (
        f"GPU work unknown for {duration(gap.end - gap.start)}: a profiler of the program had CUPTI"
    )
    (path,) = done.files
    assert note in output("stats", path).splitlines()
    assert note in output("stats", "--gpu", path, streams="both")
    assert note in " ".join(output("doctor", path).split())


def test_a_job_has_the_gaps_of_its_files(tmp_path):
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files += run_recorded(LENT, folder=tmp_path / name).files
    job = nvspan.read_many(files)
    lengths = {}
    for path in files:
        (gap,) = nvspan.read(path).gpu_gaps
        lengths[path] = gap.end - gap.start
    reason = "a profiler of the program had CUPTI"
    assert [
        (job.processes[gap.process].path, gap.end - gap.start, gap.reason) for gap in job.gpu_gaps
    ] == [(process.path, lengths[process.path], reason) for process in job.processes]
    for gap in job.gpu_gaps:
        process = job.processes[gap.process]
        first, last = (time + process.unix_offset for time in (process.first, process.last))
        assert first < gap.start < gap.end < last
    note = f"GPU work unknown for {duration(sum(lengths.values()))} in 2 stretches: {reason}"
    assert note in output("stats", "--many", *files).splitlines()


def test_where_all_is_a_gap_nothing_is_said_of_the_gpu():
    done = run_recorded(LOOP, env={"FAKE_CUPTI_SUBSCRIBE": "39"})
    steps = done.recording.steps()
    assert not steps.has_work
    (gap,) = done.recording.gpu_gaps
    assert (gap.reason, gap.end) == ("CUPTI could not be used", done.recording.processes[0].end)


def test_work_that_a_killed_process_had_not_got_is_a_gap():
    done = run_recorded(
        LOOP.replace("gpu.deliver()", "os.kill(os.getpid(), signal.SIGKILL)").replace(
            "for i in range(20):", "for i in range(20):\n    if i == 10: gpu.deliver()"
        ).replace("gpu.use()", "gpu.use()\ngpu.cupti.fake_fill(1)"),
        check=False,
    )  # fmt: skip
    recording = done.recording
    gaps = recording.gpu_gaps
    assert {gap.reason for gap in gaps} <= {"CUPTI had not handed it over"}
    last = max(row["end"] for row in recording.ranges.rows() if row["domain"] == "CUDA")
    steps = recording.steps()
    known = [row["busy"] for row in steps.rows() if row["busy"]]
    assert known == pytest.approx([3e6] * len(known), rel=0.01)
    assert len(known) >= 10
    if gaps:  # what is flushed once a second may be all of it
        assert last < recording.processes[0].end == gaps[0].end


def output(*arguments, streams="stdout"):
    code = "import sys; from nvspan.cli import main; sys.exit(main(sys.argv[1:]))"
    done = run_plain(code, *arguments)
    return done.stdout if streams == "stdout" else done.stdout + done.stderr


def test_reports_show_kernels(tmp_path):
    command = [sys.executable, "-c", PREAMBLE + LOOP]
    (path,) = record_command(command, env=environment(), folder=tmp_path).files
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
