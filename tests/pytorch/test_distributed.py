# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""DDP and FSDP2 on two processes: gradients to the bit, and the ranges of each process."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.device import device_ranges, environment, only_real
from helpers.loops import signs
from helpers.traced import needs_library, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    needs_library,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed"),
]

PROGRAM = Path(__file__).with_name("programs") / "distributed.py"

STEPS = {
    "ddp": (
        "+DistributedDataParallel  +module  +module.0  -module.0  +module.1  -module.1  +module.2"
        "  -module.2  -module  -DistributedDataParallel  <DistributedDataParallel  <module"
        "  <module.2  >module.2  <module.1  >module.1  <module.0  >module.0  >module"
        "  >DistributedDataParallel"
    ),
    "fsdp": (
        "+Sequential  +0  -0  +1  -1  +2  -2  -Sequential"
        "  <Sequential  <2  >2  <1  >1  <0  >0  >Sequential"
    ),
}


def shown(kind, events):
    """By process, what the CPU's ranges are."""
    own = [each for each in events if each.get("domain") == "torch"]
    processes = {
        pid: signs(each for each in own if each["pid"] == pid)
        for pid in dict.fromkeys(each["pid"] for each in own)
    }
    assert ["  ".join(each) for each in processes.values()] == ["  ".join([STEPS[kind]] * 2)] * 2
    return processes


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "fsdp")) for kind in STEPS],
)
def test_two_processes(kind, tmp_path):
    if kind == "fsdp" and torch.__version__.startswith("2.5.") and not torch.cuda.is_available():
        pytest.skip("this torch shards on GPUs alone")
    done = run_traced(PROGRAM, kind, tmp_path / "rendezvous", "cpu")
    assert done.stdout == "same\n"
    shown(kind, done.events)


@only_real
@pytest.mark.parametrize("kind", STEPS)
def test_two_gpus(kind, tmp_path):
    if torch.cuda.device_count() < 2:
        pytest.skip(f"needs two GPUs, there are {torch.cuda.device_count()}")
    done = run_traced(PROGRAM, kind, tmp_path / "rendezvous", "cuda", env=environment())
    assert done.stdout == "same\n"
    processes = shown(kind, done.events)
    found = device_ranges(done.events)
    for pid, texts in processes.items():
        # Each range of the CPU, of forward and backward, has one of the GPU of its process.
        own = [each for each in found if each["pid"] == pid]
        assert sorted(each["message"] for each in own) == sorted(
            text[1:] for text in texts if text[0] in "+<"
        )
        assert len({each["device"] for each in own}) == 1
        assert all(each["begin"] <= each["end"] for each in own)
    assert {each["device"] for each in found} == {0, 1}
