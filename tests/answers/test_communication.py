# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of a rank that reduces by NCCL, whose recording was made on a GPU: tests/data/nccl."""

from __future__ import annotations

import lzma
import tarfile

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.tree import ROOT
from nvspan.answers.findings import analyze

DATA = ROOT / "tests" / "data" / "nccl"
PHASES = ["forward", "backward", "communication", "optimizer", "other"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nccl")
    with tarfile.open(DATA / "forward.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("*/phase-1-1.nvspan"))


@pytest.fixture(scope="module")
def eager(path):
    return nvspan.read(path)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    path = tmp_path_factory.mktemp("nccl") / "graph.nvspan"
    path.write_bytes(lzma.decompress((DATA / "graph.nvspan.xz").read_bytes()))
    return nvspan.read(path)


def of_gpu(recording):
    return {phase: round(ns / 1000) for phase, ns in recording.steps().typical["gpu"].items()}


def test_communication_is_a_phase(eager, graphs):
    assert eager.steps().phases == graphs.steps().phases == PHASES
    assert of_gpu(eager) == dict(zip(PHASES, (3625, 3469, 20390, 168, 0), strict=True))
    # Of a replay the launch of NCCL's operations alone is known: from a thread of the driver.
    assert of_gpu(graphs) == dict(zip(PHASES, (3300, 3444, 16776, 163, 0), strict=True))


def test_a_step_that_waits_for_communication_says_so(eager, graphs):
    for recording, part in ((eager, "20.4"), (graphs, "16.8")):
        (found,) = [one for one in analyze(recording).findings if one.kind == "bound-unknown"]
        assert found.evidence == [f"{part} ms of the GPU's time are communication"]
        assert found.next.startswith("nvspan ranks ")


def test_a_communicator_is_no_default_stream(path):
    lines = run_nvspan("stats", path, "--by", "stream").stdout.splitlines()
    (line,) = [line for line in lines if line.endswith("AllReduce")]
    assert line.endswith("  GPU 0 \u00b7 communicator 0235c6ecb6422d8c  NCCL:AllReduce")
