# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvspan ncu`` says of each rank that a launcher starts: real processes, and a program that
says what Nsight Compute does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from helpers import ncu, ranks
from helpers.reported import nvspan_done
from helpers.traced import clean_environment, needs_library
from nvspan.nsight.lines import on_ranks

pytestmark = needs_library

PROGRAM = """
import os
import nvspan
with nvspan.annotate("step", domain="app"): pass
rank = os.environ.get("SLURM_PROCID") or os.environ["OMPI_COMM_WORLD_RANK"]
if rank == "0":
    with nvspan.annotate("save", domain="app"): pass
os.write(1, f"rank {rank} ran\\n".encode())
"""
CONNECTED = "==PROF== Connected to process 941 (/usr/bin/python3.12)"
NONE = "==WARNING== No kernels were profiled."
PERMISSION = ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA "
              "GPU Performance Counters on the target device 0.")  # fmt: skip
BUSY = ("==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no "
        "other tool (like DCGM) is concurrently collecting profiling data.")  # fmt: skip
REFUSED = "==ERROR== Unsupported API during capture (cuStreamBeginCapture_v2)"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)

    def run(said, *words, launcher="srun", count=None, **variables):
        tool = ncu.saying(tmp_path, said)
        ranks.make_launcher(tmp_path, launcher, **variables)
        return nvspan_done(
            "ncu", *words, "--ncu", tool, "-o", "run-{rank}", "--",
            launcher, "-n", str(count or len(said)), sys.executable, "train.py",
            cwd=tmp_path,
            PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        )  # fmt: skip

    return run


def lines_of(done):
    """The findings, without what to do about them."""
    return [line.strip() for line in done.stderr.splitlines()
            if line[:3] in ("  o", "  n", "  p")]  # fmt: skip


@pytest.mark.parametrize("launcher", ranks.LAUNCHERS)
def test_what_ncu_says_of_each_rank(run, launcher, tmp_path):
    done = run({
        0: [CONNECTED, PERMISSION, NONE], 1: [CONNECTED, BUSY, NONE],
        2: [CONNECTED, REFUSED], 3: [CONNECTED, PERMISSION, NONE],
    }, "app@step/", launcher=launcher)  # fmt: skip
    assert sorted(done.stdout.splitlines()) == [f"rank {rank} ran" for rank in range(4)]
    assert lines_of(done) == [
        "ok       ranks 0-3: ncu 2025.3.1.0 ran",
        "problem  ranks 0, 3: the driver lets only administrators read the GPU's counters "
        "(ERR_NVGPUCTRPERM)",
        "problem  rank 1: another tool measures on this GPU",
        "problem  rank 2: the program called cuStreamBeginCapture_v2 within the range, which range "
        "replay cannot repeat: a CUDA graph is captured in it",
    ]  # fmt: skip
    assert "nvspan ncu: nothing was profiled\n" in done.stderr
    assert not list(tmp_path.glob(".nvspan-ncu-*"))


def test_permission_in_a_container(run, monkeypatch):
    monkeypatch.setenv("container", "podman")
    done = run({0: [PERMISSION]}, "app@step/")
    assert "- this is a container: start it with --cap-add=SYS_ADMIN (docker, podman) or " in (
        done.stderr
    )
    assert "NVreg_RestrictProfilingToAdminUsers=0" in done.stderr


def test_a_range_that_runs_on_one_rank(run):
    done = run({0: [CONNECTED, NONE], 1: [CONNECTED, NONE], 2: [CONNECTED, NONE]}, "app@save/",
               "--no-check")  # fmt: skip
    assert lines_of(done)[3:] == [
        "problem  rank 0: the range ran, but its thread launched no kernel in it",
        "problem  ranks 1-2: 'app@save/' did not run on this rank in the recording, but on 0",
    ]
    assert "try: nvspan ncu app@save/ --no-check " in done.stderr
    assert " --ranks 0 -- srun -n 3 " in done.stderr


def test_only_the_ranks_that_were_asked_for(run):
    done = run({0: [PERMISSION], 1: [BUSY], 2: [REFUSED]}, "app@step/", "--ranks", "1")
    assert lines_of(done)[1:] == ["problem  rank 1: another tool measures on this GPU"]


def test_an_mpirun_of_another_mpi(run):
    variables = {"rank": "PMI_RANK", "local": "MPI_LOCALRANKID", "size": "PMI_SIZE"}
    done = run({0: [PERMISSION], 1: [BUSY]}, "app@step/", launcher="mpirun", **variables)
    assert "KeyError" in done.stderr  # of the program, which knows another variable alone
    assert lines_of(done)[1:] == [
        "problem  rank 0: the driver lets only administrators read the GPU's counters "
        "(ERR_NVGPUCTRPERM)",
        "problem  rank 1: another tool measures on this GPU",
    ]


def test_options_that_no_rank_takes(run):
    done = run({0: []}, "app@step/", "--option=--bogus=1")
    assert "nvspan ncu: nothing was profiled" in done.stderr


def test_the_tool_of_a_host_without_the_folder_of_logs(tmp_path):
    words = on_ranks.with_logs(["echo", "a %q{RANK} {rank}"], "RANK", None, str(tmp_path / "none"))
    done = subprocess.run(
        [*words, "program"], capture_output=True, text=True, check=True,
        env=clean_environment({"RANK": "7"}),
    )  # fmt: skip
    assert done.stdout == "a 7 7 program\n"


def test_ranks_whose_logs_are_there(tmp_path):
    for name in ("10-5.txt", "2-77.txt", "2-8.txt", "-3.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "other").write_text("x")
    assert list(on_ranks.logs(str(tmp_path)).items()) == [
        ("", ["-3.txt"]), ("2", ["2-8.txt", "2-77.txt"]), ("10", ["10-5.txt"]),
    ]  # fmt: skip
