# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks``: the culprit, its range and its cost, in jobs whose delays are known."""

from __future__ import annotations

import json
import math

import pytest

from helpers.reported import run_nvspan
from helpers.written_ranks import MS, PHASES, WrittenRank, write_gpu_rank, write_job
from nvspan.ranks.cause.analysis import ranks
from nvspan.ranks.cause.text import as_dict, render

STEP = sum(PHASES.values())


def slow(rank, name, ns, when=lambda step: True):
    return lambda of, step, at: ns if (of, at) == (rank, name) and when(step) else 0


@pytest.mark.parametrize("name", PHASES)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_culprit_its_range_and_its_cost(tmp_path, name, count):
    found = ranks(*write_job(tmp_path, count, extra=slow(1, name, 2 * MS)))
    verdict = found.verdict
    assert (verdict.kind, verdict.rank, verdict.range) == ("culprit", 1, name)
    part = 2 * MS / (STEP + 2 * MS)
    assert verdict.cost.part.value == pytest.approx(part, rel=0.15)
    assert f"rank 1's {name} costs the job" in verdict.text
    late = found.ranks[1]
    assert late.was_last == late.collectives == found.counts["collectives"] == 40
    assert next(iter(late.roots)) == name
    for other in (rank for rank in found.ranks if rank.rank != 1):
        assert other.waited == pytest.approx(40 * 2 * MS, rel=0.2)
        assert other.was_last == 0
    critical = {(row["rank"], row["range"]) for row in found.critical}
    assert critical == {(1, phase) for phase in PHASES} | {(1, "(outside of ranges)")}
    worst = found.imbalance[0]
    assert (worst["range"], worst["rank"]) == (name, 1)


@pytest.mark.parametrize("seed", range(8))
def test_nobody_is_named_where_all_ranks_are_alike(tmp_path, seed):
    verdict = ranks(*write_job(tmp_path, 4, seed=seed, jitter=0.02)).verdict
    assert (verdict.kind, verdict.rank) == ("none", None)
    assert verdict.text == "no rank holds the job back"


def test_collectives_of_each_communicator(tmp_path):
    found = ranks(*write_job(tmp_path, 4, pairs=True, extra=slow(1, "forward", 2 * MS)))
    whole, pair = sorted(found.collectives, key=lambda row: -row["ranks"])
    assert {key: whole[key] for key in ("name", "communicator", "ranks", "count", "bytes")} == {
        "name": "allreduce", "communicator": "5", "ranks": 4, "count": 40, "bytes": 40 * 4096,
    }  # fmt: skip
    assert (whole["last"], whole["was_last"]) == (1, 40)
    # Three ranks wait for rank 1, 2 ms in each step, and what phases differ by.
    assert 40 * 3 * 1.5 * MS < whole["waited"] < 40 * 3 * 2.5 * MS
    assert 40 * 1.5 * MS < whole["late"] < 40 * 2.5 * MS
    assert (pair["name"], pair["communicator"], pair["ranks"]) == ("barrier", "7", 2)
    assert pair["count"] == 40
    assert whole["waited"] + pair["waited"] == sum(rank.waited for rank in found.ranks)
    assert as_dict(found)["collectives"] == found.collectives
    (line,) = (line for line in render(found).splitlines() if line.endswith("  allreduce"))
    assert line.split()[:3] == ["40", "4", "163,840"]
    assert line.split()[-4:] == ["1", "40", "5", "allreduce"]


def test_ranks_that_are_slow_in_turn(tmp_path):
    def extra(rank, step, name):
        return 4 * MS if name == "forward" and step % 4 == rank else 0

    verdict = ranks(*write_job(tmp_path, 4, extra=extra)).verdict
    assert (verdict.kind, verdict.rank) == ("rotating", None)
    assert len(verdict.evidence) == 4


def test_single_steps_that_are_slow(tmp_path):
    extra = slow(2, "forward", 90 * MS, lambda step: step in (11, 23, 35))
    verdict = ranks(*write_job(tmp_path, 4, extra=extra)).verdict
    assert (verdict.kind, verdict.rank) == ("transient", None)
    steps = {line.partition(":")[0] for line in verdict.evidence[:3]}
    assert steps == {"step 11", "step 23", "step 35"}


def test_a_delay_that_comes_and_stays(tmp_path):
    paths = write_job(tmp_path, 4, steps=64, extra=slow(2, "forward", 3 * MS, lambda s: s > 30))
    verdict = ranks(*paths).verdict
    assert (verdict.kind, verdict.rank, verdict.suspect) == ("drifting", None, 2)
    assert verdict.text.startswith("rank 2's forward costs the job ")
    assert verdict.text.endswith(", but not all the time")
    found = verdict.evidence[1].partition("takes ")[2].split(", ")
    assert [each.partition(" ")[2].split()[0] for each in found][2:] == ["ms", "ms"]


def test_a_delay_is_passed_on_to_whom_it_comes_from(tmp_path):
    # Rank 0 makes rank 1 wait in a group of two; where rank 1 comes last to the job's all-reduce,
    # as it has more to do than rank 0, rank 0 is as much to blame.
    def extra(rank, step, name):
        if (rank, name) == (0, "dataloader.next"):
            return 6 * MS
        return MS if (rank, name) == (1, "backward") else 0

    found = ranks(*write_job(tmp_path, 4, extra=extra, pairs=True))
    assert found.ranks[1].was_last >= 40  # of 40 all-reduces
    roots = {rank.rank: rank.roots for rank in found.ranks}
    assert roots[0]["dataloader.next"] > 2 * roots[1]["backward"]
    assert (found.verdict.rank, found.verdict.range) == (0, "dataloader.next")


def test_collectives_by_name_and_order(tmp_path):
    found = ranks(*write_job(tmp_path, 3, extra=slow(2, "backward", 2 * MS), plain=True))
    assert (found.verdict.rank, found.verdict.range) == (2, "backward")
    assert found.counts["collectives"] == 40


def test_collectives_and_work_of_the_gpu(tmp_path):
    # 50 us are too little for what CPUs show, and enough for GPUs.
    extra = slow(2, "backward", MS // 20)
    kept = {name: ns // 10 for name, ns in PHASES.items()}
    found = ranks(*write_job(tmp_path, 4, extra=extra, gpu=True, phases=kept, jitter=1e-3))
    assert all(rank.gpu for rank in found.ranks)
    assert found.counts["collectives"] == 40  # those of the CPU are not counted beside them
    assert found.counts["enqueued"] == 0
    assert (found.verdict.rank, found.verdict.range) == (2, "backward")
    # Ranks leave a collective up to some 20 us apart, so others would be the last at times.
    assert MS // 40 < found.verdict.cost.ns.value < MS // 20


def test_ranges_of_the_gpu_that_overlap(tmp_path):
    """One that follows another is not a part of it, where the end of that is stamped late."""
    paths = []
    for rank in range(3):
        one = WrittenRank(rank)
        for step in range(30):
            start = one.now = (100 + 10 * step) * MS
            one.work("forward", MS)
            one.ranges[-1] = ("forward", start, start + MS + MS // 10)
            one.work("backward", 2 * MS + (MS if rank == 1 else 0))
            one.collectives.append(
                ("all_reduce", one.now, start + 9 * MS, (5, step, 3, rank, 4096, 0, -1))
            )
            one.now = start + 9 * MS
            one.steps.append((start, one.now, step))
        paths.append(write_gpu_rank(tmp_path / f"{rank}.nvspan", one))
    verdict = ranks(*paths).verdict
    assert (verdict.rank, verdict.range) == (1, "backward")
    assert verdict.cost.ns.value == pytest.approx(MS, rel=1e-3)


def test_clocks_of_several_hosts(tmp_path):
    def clock(host, at):
        return at + [0, 3_000_000_000, -2_000_000_000][host] + round(at * [0, 9e-5, -7e-5][host])

    paths = write_job(tmp_path, 6, hosts=3, clock=clock, extra=slow(4, "forward", 2 * MS),
                      steps=120, jitter=0.1)  # fmt: skip
    found = ranks(*paths)
    assert found.clocks == 3
    assert (found.verdict.rank, found.verdict.range) == (4, "forward")
    uncertainty = max(rank.uncertainty for rank in found.ranks)
    assert 0 < uncertainty < MS
    # Without the clocks' offsets the same ranks wait for as long.
    other = tmp_path / "one"
    other.mkdir()
    same = ranks(*write_job(other, 6, extra=slow(4, "forward", 2 * MS), steps=120, jitter=0.1))
    for mine, true in zip(found.ranks, same.ranks, strict=True):
        assert mine.waited == pytest.approx(true.waited, abs=120 * 2 * uncertainty)


def test_what_cannot_be_told(tmp_path):
    paths = write_job(tmp_path, 2, steps=3)
    assert ranks(paths[0]).verdict.kind == "cannot tell"
    verdict = ranks(*paths).verdict
    assert verdict.text == "cannot tell: there are 2 steps after warm-up"
    with pytest.raises(ValueError, match="there are none"):
        ranks()


def test_a_file_that_is_damaged_or_missing_is_named(tmp_path):
    paths = write_job(tmp_path, 3, extra=slow(1, "forward", 2 * MS))
    bad = tmp_path / "run-9.nvspan"
    bad.write_bytes(b"nothing")
    found = ranks(*paths, bad)
    assert found.verdict.rank == 1
    assert len(found.problems) == 1
    assert str(bad) in found.problems[0]


def test_the_command(tmp_path):
    paths = write_job(tmp_path, 3, extra=slow(1, "forward", 2 * MS))
    text = run_nvspan("ranks", *paths).stdout
    assert text == render(ranks(*paths))
    assert text.splitlines()[1].startswith("| rank 1's forward costs the job ")
    document = json.loads(run_nvspan("ranks", "--json", *paths).stdout)
    folder = paths[0].parent
    for given in (folder, folder / "*.nvspan"):
        assert run_nvspan("ranks", given).stdout == text
    assert document.pop("single_collectives")["count"] == 40
    assert document == json.loads(json.dumps(as_dict(ranks(*paths))))
    assert (document["verdict"], document["rank"], document["range"]) == ("culprit", 1, "forward")
    assert math.isclose(document["cost"]["part"], 2 / 17, rel_tol=0.15)
    done = run_nvspan("ranks", tmp_path / "none.nvspan", check=1)
    assert "none.nvspan" in done.stderr
