# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""examples/train_ddp.py under torchrun: two ranks, a recording of each, and what they show."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import nvspan
from helpers.loops import signs
from helpers.traced import clean_environment, needs_library, nvspan_command
from helpers.tree import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")

STEPS = 3
COPY = "+h2d -h2d " if torch.cuda.device_count() >= 2 else ""
STEP = (
    f"+step +dataloader.next -dataloader.next +zero_grad -zero_grad {COPY}"
    f"+forward +first -first +second -second +head -head -forward {COPY}"
    "+backward <head >head <second >second <first >first -backward "
    "+optimizer.step -optimizer.step +mean of the losses -mean of the losses -step"
)
LAUNCH = [
    sys.executable, "-m", "nvspan", "record", "--no-report", "-o", "ddp-{rank}.nvspan",
    "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
]  # fmt: skip


@needs_library
def test_two_ranks(tmp_path):
    environment = clean_environment()
    environment.update(GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    command = [*LAUNCH, str(ROOT / "examples" / "train_ddp.py"), "--steps", str(STEPS)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(rf"loss ([\d.]+) at first, ([\d.]+) after {STEPS} steps\n", done.stdout)
    assert float(found[2]) < float(found[1])
    files = [tmp_path / "ddp-0.nvspan", tmp_path / "ddp-1.nvspan"]
    assert sorted(tmp_path.glob("*.nvspan")) == files
    for rank, file in enumerate(files):
        recording = nvspan.read(str(file))
        (process,) = recording.processes
        assert (process.rank, process.local_rank) == (rank, rank)
        # NCCL shows its own.
        calls = [each for each in recording.calls() if each.get("domain") == "torch"]
        assert " ".join(signs(calls)) == " ".join([STEP] * STEPS)
        steps = [
            each["payload"]
            for each in calls
            if each["kind"] == "push" and each["message"] == "step"
        ]
        assert steps == list(range(STEPS))
    report = tmp_path / "report.html"
    nvspan_command("report", "-o", report, *files, check=True)
    page = report.read_text(encoding="utf-8")
    assert "rank 0 (" in page
    assert "rank 1 (" in page
