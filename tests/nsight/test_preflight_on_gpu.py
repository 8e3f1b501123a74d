# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvspan ncu`` checks before a run, by the real CUPTI, against what the real Nsight Compute
does then."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from helpers import ncu as real
from helpers.device import environment, only_real
from helpers.traced import clean_environment, needs_library
from helpers.tree import ROOT
from nvspan.nsight import read_ncu

pytestmark = [needs_library, only_real]

KERNELS = ROOT / "tests" / "data" / "nsight" / "kernels.py"
COLD = """
import nvspan
from helpers.gpu import Cuda
for number in range(3):
    with nvspan.annotate('work', domain='app'):
        if not number: cuda = Cuda()
        cuda.launch(0, grid=5)
        cuda.synchronize()
"""
QUICK = ("--metrics", "time", "--clock-control", "none", "--force", "-o", "out")
CONTEXT = "begins in a context that is there, and loads no kernels"
CASES = {
    "forward": ([
        ("ok", "makes only calls of CUDA that range replay can repeat"),
        ("ok", "waits for its work before it ends"),
        ("ok", CONTEXT),
        ("ok", "are in use: what is written can be saved beside it"),
    ], 3, "sync"),
    "layers.1": ([
        ("ok", "makes only calls of CUDA that range replay can repeat"),
        ("note", "ends each of the 3 times without a call that waits for its work"),
        ("ok", CONTEXT),
        ("ok", "are in use: what is written can be saved beside it"),
    ], 3, "sync"),
    "captured": ([
        ("problem", "captures a CUDA graph, and launches no kernel"),
        ("problem", "calls cuStreamBeginCapture, "),
        ("ok", "waits for its work before it ends"),
        ("ok", CONTEXT),
        ("ok", "are in use: what is written can be saved beside it"),
    ], 0, "graph"),
}  # fmt: skip


def run(folder, *words):
    env = {"NVSPAN_NCU": os.environ.get("NVSPAN_NCU"), "NVSPAN_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "nvspan", "ncu", *QUICK, *words], cwd=folder, capture_output=True,
        text=True, timeout=150, check=False, env=clean_environment(environment(env)),
    )  # fmt: skip


def findings(done):
    """Status and text of each fact that was told."""
    words = [line.split(maxsplit=1) for line in done.stderr.splitlines() if line[:2] == "  "]
    return [(word[0], word[1]) for word in words if word[0] in ("ok", "note", "problem")]


def results(folder):
    report = folder / "out.ncu-rep"
    return read_ncu([str(report)], ncu=real.find()).results if report.exists() else []


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_before_is_what_happens(tmp_path, name):
    expected, count, mode = CASES[name]
    words = (name, "--replay", "range", str(KERNELS), mode)
    told = findings(run(tmp_path, "--dry-run", *words))
    assert [
        (status, text) for (status, _), (_, text) in zip(told, expected, strict=True)
    ] == expected
    assert all(part in text for (_, text), (_, part) in zip(told, expected, strict=True)), told
    run(tmp_path, "--no-check", *words)
    assert len(results(tmp_path)) == count


def test_a_cold_context(tmp_path):
    (tmp_path / "cold.py").write_text(COLD)
    words = ("work", "--replay", "range", "cold.py")
    done = run(tmp_path, *words)
    assert done.returncode == 1
    assert "not run, because nothing would be profiled" in done.stderr
    first = findings(done)[0]
    assert first[0] == "problem"
    # The driver loads tools within its first cuInit: neither CUPTI nor ncu sees that call.
    assert first[1] == (
        "'app@work/' calls cuDevicePrimaryCtxRetain 1 of 3 times, which range replay cannot "
        "repeat: CUDA begins in it"
    )
    run(tmp_path, "--no-check", *words)
    assert results(tmp_path) == []
    run(tmp_path, "--calls", "1:", *words)
    assert len(results(tmp_path)) == 2
