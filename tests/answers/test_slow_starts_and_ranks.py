# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: imports that take the time, a slow rank, and what became slower."""

from __future__ import annotations

import csv
import io
import json
import os
import re

import pytest

import nvspan
from helpers.recorded_loops import unpack_ranks
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from helpers.written_loops import MS, write_loop
from nvspan.answers.baseline import slower_than
from nvspan.answers.compare import read_runs
from nvspan.answers.findings import analyze

SECOND = 10**9

# Imports --------------------------------------------------------------------------------------

HEAVY = """
import time
import light
import heavy
import nvspan
for number in range(6):
    with nvspan.step(number):
        {work}
"""


def record_profile(folder, work):
    (folder / "package").mkdir(exist_ok=True)
    (folder / "heavy.py").write_text("import time\ntime.sleep(0.2)\nimport package.part\n")
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "part.py").write_text("import time\ntime.sleep(0.1)\n")
    (folder / "light.py").write_text("import time\ntime.sleep(0.02)\n")
    (folder / "train.py").write_text(HEAVY.format(work=work))
    run_nvspan("record", "--profile", "-o", folder / "run.nvspan", folder / "train.py")
    return folder / "run.nvspan"


def seconds(text):
    found = re.fullmatch(r"([\d.]+) (s|ms|us)", text)
    return float(found[1]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[found[2]]


@pytest.mark.timing
@needs_library
def test_imports_that_take_the_time(tmp_path):
    found = analyze(nvspan.read(record_profile(tmp_path, "time.sleep(0.002)"))).findings
    (one,) = [finding for finding in found if finding.kind == "imports"]
    said = dict(re.findall(r"'([^']+)' takes ([^;]+)", "; ".join(one.evidence)))
    assert next(iter(said)) == "heavy"
    assert seconds(said["heavy"]) >= 0.3  # with what it imports
    assert seconds(said["light"]) >= 0.02
    assert "part" not in said  # heavy imported it
    before = next(line for line in one.evidence if line.startswith("the first step"))
    assert seconds(before.removeprefix("the first step starts after ")) >= 0.32
    whole = seconds(re.search(r"\((.*)\)", one.text)[1])
    more = re.findall(r"\d+ more take ([\d.]+ \w+)", "; ".join(one.evidence))
    parts = sum(map(seconds, said.values())) + sum(map(seconds, more))
    assert parts == pytest.approx(whole, rel=1e-2)


@needs_library
def test_imports_that_are_a_small_part_and_recordings_without_a_profile(tmp_path):
    (tmp_path / "small").mkdir()
    path = record_profile(tmp_path / "small", "time.sleep(0.8) if number == 5 else None")
    recording = nvspan.read(path)
    stats = recording.stats()
    longer = recording.filter(match=["nvtx.py:*light*", "torch:step", "nvtx.py:train.py*"])
    assert "imports" not in [finding.kind for finding in analyze(longer).findings]
    assert stats.rows
    loop = nvspan.read(write_loop(tmp_path / "loop.nvspan", {"forward": MS}))
    assert "imports" not in [finding.kind for finding in analyze(loop).findings]


# Ranks ----------------------------------------------------------------------------------------


def write_ranks(folder, slow):
    folder.mkdir()
    paths = []
    for rank in range(8):
        phases = {"load": (250 if rank == slow else 20) * MS, "train": 20 * MS}
        paths.append(write_loop(folder / f"run-{rank}.nvspan", phases, steps=6, rank=rank))
    return paths


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return write_ranks(tmp_path_factory.mktemp("ranks") / "slow", 5)


def test_eight_ranks_through_steps_and_statistics(ranks):
    assert [path.name for path in ranks] == [f"run-{rank}.nvspan" for rank in range(8)]
    document = json.loads(run_nvspan("steps", "--format", "json", *ranks).stdout)
    assert len(document["steps"]) == 48
    for step in document["steps"]:
        assert sum(step["cpu"].values()) == step["duration"]
        assert set(step["cpu"]) == {"load", "train", "other"}
    text = run_nvspan("stats", "--by", "rank", "--format", "csv", *ranks).stdout
    rows = {(row["rank"], row["name"]): row for row in csv.DictReader(io.StringIO(text))}
    assert sorted({rank for rank, _ in rows}) == [str(rank) for rank in range(8)]
    processes = nvspan.read(*ranks).processes
    for rank in map(str, range(8)):
        step = rows[rank, "step"]
        inner = sum(float(rows[rank, name]["total"]) for name in ("load", "train"))
        assert inner + float(step["self"]) == pytest.approx(float(step["total"]))
        of_rank = [s for s in document["steps"] if str(processes[s["process"]].rank) == rank]
        assert sum(s["duration"] for s in of_rank) == pytest.approx(float(step["total"]))
    slowest = max(rows.values(), key=lambda row: float(row["total"]))
    assert slowest["rank"] == "5"


def test_the_slow_rank_is_found(ranks):
    found = json.loads(run_nvspan("explain", "--json", *ranks).stdout)
    (one,) = [finding for finding in found["findings"] if finding["kind"] == "slow-rank"]
    assert one["text"].startswith("rank 5 takes ")
    assert any(re.fullmatch(r"rank 5 takes [\d.]+ ms more in 'load'", e) for e in one["evidence"])


def test_ranks_that_are_alike_have_no_slow_one(tmp_path):
    paths = [
        write_loop(tmp_path / f"{rank}.nvspan", {"forward": 10 * MS}, rank=rank, jitter=0.05)
        for rank in range(8)
    ]
    kinds = [finding.kind for finding in analyze(nvspan.read(*paths)).findings]
    assert "slow-rank" not in kinds
    slow = write_loop(tmp_path / "8.nvspan", {"forward": 13 * MS}, rank=8, jitter=0.05)
    kinds = [finding.kind for finding in analyze(nvspan.read(*paths, slow)).findings]
    assert kinds == ["slow-rank", "dominant"]


def test_the_rank_that_the_others_wait_for(tmp_path):
    """Eight processes of gloo: all steps take as long, as the gradients are averaged in each."""
    paths = unpack_ranks(tmp_path)
    recording = nvspan.read(*paths)
    assert [process.rank for process in recording.processes] == list(range(8))
    shown = run_nvspan("explain", *paths).stdout
    assert shown.splitlines()[2:] == [
        "1. slow-rank  the other ranks wait for rank 5: 144 ms of a step of 177 ms (likely)",
        "              rank 5 takes 151 ms in 'data wait', the median of 8 ranks is 6.80 ms",
        "              the others take 133 ms longer in 'backward', where they wait",
        "   next       nvspan ranks FILES",
    ]
    # Most of 'backward' is that wait, which is no finding of its own.
    alone = analyze(nvspan.read(paths[5])).findings
    assert [finding.kind for finding in alone] == ["dominant"]
    assert alone[0].text.startswith("'dataloader.next' takes 85% of the step")
    assert alone[0].next == "DataLoader(..., num_workers=4, pin_memory=True)"
    others = nvspan.read(*(path for i, path in enumerate(paths) if i != 5))
    assert "slow-rank" not in [finding.kind for finding in analyze(others).findings]


def waiting(folder, loads):
    """Ranks that load for so long and then wait for the slowest; 2 ms of work of their own."""
    folder.mkdir()
    slowest = max(loads)
    return nvspan.read(*(
        write_loop(folder / f"{rank}.nvspan",
                   {"load": load, "backward": 2 * MS + slowest - load}, rank=rank, jitter=0.01)
        for rank, load in enumerate(loads)
    ))  # fmt: skip


def test_ranks_that_wait_for_some_of_them_and_for_none(tmp_path):
    def slow(name, loads):
        found = analyze(waiting(tmp_path / name, [load * MS for load in loads])).findings
        return [finding.text for finding in found if finding.kind == "slow-rank"]

    assert slow("two", [10, 10, 30, 10, 10, 25, 10, 10])[0].startswith(
        "the other ranks wait for ranks 2, 5: "
    )
    assert slow("alike", [10, 10.5, 10.2, 10.1]) == []
    assert slow("half", [10, 10, 30, 30]) == []  # which half waits is not to be told
    assert slow("little", [10, 10, 11, 10]) == []


# Slower than a baseline -----------------------------------------------------------------------


def runs_of(folder, name, factors, forward):
    return [
        write_loop(folder / f"{name}-{i}.nvspan",
                   {"forward": factor * forward, "backward": factor * 5 * MS},
                   begin=i * SECOND, jitter=0.01)
        for i, factor in enumerate(factors)
    ]  # fmt: skip


def test_slower_than_earlier_runs(tmp_path):
    spread = (0.99, 1.0, 1.01)
    old = runs_of(tmp_path, "old", spread, 5 * MS)
    new = runs_of(tmp_path, "new", spread, 7 * MS)
    (one,) = slower_than(read_runs(*old), read_runs(*new))
    assert (one.kind, one.certainty) == ("slower", "measured")
    change = float(re.fullmatch(r"the typical step became slower: ([+\d.]+)%", one.text)[1])
    assert change == pytest.approx(20, abs=2)
    assert any(line.startswith("'forward' ") for line in one.evidence)
    assert not any(line.startswith("'backward' ") for line in one.evidence)
    (back,) = slower_than(read_runs(*new), read_runs(*old))
    assert back.kind == "faster"
    shown = run_nvspan("explain", new[0], "--baseline", *old).stdout
    assert re.search(r"\n1\. slower +the typical step became slower: \+", shown)
    said = json.loads(run_nvspan("explain", "--json", new[0], "--baseline", *old).stdout)
    assert said["findings"][0]["kind"] == "slower"


def test_equal_runs_are_not_slower_and_noise_cannot_tell(tmp_path):
    old = runs_of(tmp_path, "old", (0.99, 1.0, 1.01), 5 * MS)
    same = runs_of(tmp_path, "same", (1.01, 1.0, 0.99), 5 * MS)
    assert slower_than(read_runs(*old), read_runs(*same)) == []
    noisy = runs_of(tmp_path, "noisy", (0.8, 1.0, 1.7), 5 * MS)
    (one,) = slower_than(read_runs(*old), read_runs(*noisy))
    assert (one.kind, one.certainty) == ("slower-unknown", "cannot tell")


def test_a_baseline_that_cannot_be_read(tmp_path):
    (new,) = runs_of(tmp_path, "new", (1.0,), 5 * MS)
    done = run_nvspan("explain", new, "--baseline", tmp_path / "missing", check=1)
    assert done.stderr.splitlines()[-1].startswith("nvspan explain: cannot read ")
    assert os.path.exists(new)
