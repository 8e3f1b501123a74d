# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun under `nvspan ncu`: what Nsight Compute says of each rank that it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers import ncu as real
from helpers.traced import clean_environment, needs_library

pytest.importorskip("torch", reason="torch is not installed")
pytestmark = needs_library

PROGRAM = """
import os
import nvspan
with nvspan.annotate("step", domain="app"): os.write(1, b"rank %s\\n" % os.environb[b"RANK"])
"""


def run(folder, tool):
    (folder / "train.py").write_text(PROGRAM)
    return subprocess.run(
        [sys.executable, "-m", "nvspan", "ncu", "app@step/", "--ncu", tool, "--",
         sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         "train.py"],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
        env=clean_environment(),
    )  # fmt: skip


def findings(done):
    return [line.strip() for line in done.stderr.splitlines() if line.startswith("  problem")]


def test_what_ncu_says_of_each_rank(tmp_path):
    tool = real.saying(tmp_path, {
        0: ["==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer "
            "--list-chips option."],
        1: ["==ERROR== InterprocessLockFailed"],
    })  # fmt: skip
    done = run(tmp_path, tool)
    assert sorted(done.stdout.split("\n")) == ["", "rank 0", "rank 1"]
    assert findings(done) == [
        "problem  rank 0: this version of ncu cannot profile device 0",
        "problem  rank 1: ncu cannot use its lock file, which another user's ncu has made",
    ]


@pytest.mark.skipif(real.has_driver(), reason="this machine has a CUDA driver")
def test_the_real_ncu_without_a_driver(tmp_path):
    done = run(tmp_path, real.find())
    assert findings(done) == ["problem  ranks 0-1: ncu finds no CUDA driver (libcuda.so.1) here"]
