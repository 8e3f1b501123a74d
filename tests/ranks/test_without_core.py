# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks whose threads had no core for a time, in jobs that say how long: no range is blamed."""

from __future__ import annotations

import json
from random import Random

import pytest

from helpers.reported import run_nvspan
from helpers.written_ranks import MS, PHASES, write_job
from nvspan.ranks.cause.analysis import ranks
from nvspan.ranks.cause.text import as_dict

WITHOUT = "(without a core)"
COUNT, STEPS = 3, 64


def preempted(seed, ns=4 * MS, whom=None):
    """ns without a core of a rank, a step and a phase: in one phase of a step, now and then."""
    random = Random(seed)
    drawn = {
        (rank, step): (random.choice(list(PHASES)), round(random.uniform(0, ns)))
        for rank in range(COUNT) for step in range(STEPS)
        if random.random() < (0.5 if whom is None else 1)
    }  # fmt: skip

    def of(rank, step, name):
        phase, lasts = drawn.get((rank, step), ("", 0))
        return lasts if phase == name and whom in (None, rank) else 0

    return of


def time_in(found, name):
    return {row["range"]: row for row in found.imbalance}[name]


def test_the_rank_that_has_no_core_is_named_and_none_of_its_ranges(tmp_path):
    starved = preempted(1, whom=1)
    files = write_job(tmp_path, COUNT, steps=STEPS, starved=starved)
    found = ranks(*files)
    verdict = found.verdict
    assert (verdict.kind, verdict.rank, verdict.range) == ("culprit", 1, WITHOUT)
    assert verdict.text.startswith("rank 1 had no core for 2.")
    assert " more of a step than the others, though it was ready to run" in verdict.text
    assert verdict.next == (
        "look at what else runs on the cores of rank 1 (host0): other programs, other ranks, "
        "workers of loaders, more threads than cores"
    )
    assert verdict.delay.ns.value == pytest.approx(2 * MS, rel=0.2)
    # The first collective has none before it to compare with.
    whole = sum(starved(1, step, name) for step in range(1, STEPS) for name in PHASES)
    row = time_in(found, WITHOUT)
    assert (row["rank"], row["max"]) == (1, pytest.approx(whole, abs=STEPS * len(PHASES)))
    assert next(iter(found.ranks[1].roots)) == WITHOUT
    done = run_nvspan("ranks", "--json", *map(str, files))
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert (document["rank"], document["range"]) == (1, WITHOUT)


@pytest.mark.parametrize("name", PHASES)
@pytest.mark.parametrize("seed", [2, 3])
def test_a_delay_is_found_beneath_the_time_without_a_core(tmp_path, name, seed):
    def slow(rank, step, phase):
        return MS if (rank, phase) == (2, name) else 0

    delays = {}
    for says in (False, True):
        folder = tmp_path / str(says)
        folder.mkdir()
        found = ranks(*write_job(
            folder, COUNT, steps=STEPS, extra=slow, starved=preempted(seed), says=says, seed=seed
        ))  # fmt: skip
        (delay,) = (
            each for each in found.delays.all
            if (each.rank, each.range, each.part) == (2, name, "whole")
        )  # fmt: skip
        delays[says] = delay
        if says:
            assert (found.verdict.rank, found.verdict.range) == (2, name)
    assert delays[True].ns.value == pytest.approx(MS, rel=0.05)
    assert delays[True].error < delays[False].error


@pytest.mark.parametrize("seed", range(6))
def test_nobody_is_named_where_all_ranks_lose_their_cores_alike(tmp_path, seed):
    files = write_job(tmp_path, COUNT, steps=STEPS, starved=preempted(seed), seed=seed)
    assert ranks(*files).verdict.rank is None


def test_what_is_not_of_ranges_is_the_same_with_and_without_the_field(tmp_path):
    documents = []
    for says in (False, True):
        folder = tmp_path / str(says)
        folder.mkdir()
        files = write_job(folder, COUNT, steps=STEPS, starved=preempted(4), says=says)
        found = ranks(*files)
        documents.append(as_dict(found))
        names = {row["range"] for row in found.imbalance}
        assert (WITHOUT in names) == says
        assert sum(row["mean"] for row in found.imbalance) == pytest.approx(
            sum(row["mean"] for row in documents[0]["imbalance"])
        )
    plain, said = documents
    for of in plain, said:
        for rank in of["ranks"]:
            del rank["roots"], rank["path"]
    assert plain["ranks"] == said["ranks"]
    assert plain["collectives"] == said["collectives"]
    assert plain["critical_path"]["duration"] == said["critical_path"]["duration"]


@pytest.mark.parametrize("values", [
    lambda step: 10**12 * step, lambda step: -(10**9) * step, lambda step: 5, lambda step: -1,
    lambda step: (2**63 - 1) * (-1) ** step,
], ids=["longer than the work", "backwards", "none", "negative", "nonsense"])  # fmt: skip
def test_what_the_field_says_is_never_more_than_the_work(tmp_path, monkeypatch, values):
    from helpers import written_ranks

    original = written_ranks.meet

    def meet(all_ranks, name, group, number, *rest):
        for rank in all_ranks:
            rank.without_a_core = values(number)
        original(all_ranks, name, group, number, *rest)

    plain = ranks(*write_job(tmp_path, COUNT))
    monkeypatch.setattr(written_ranks, "meet", meet)
    found = ranks(*write_job(tmp_path, COUNT, starved=lambda rank, step, name: 0))
    sums = [sum(row["mean"] for row in each.imbalance) for each in (plain, found)]
    assert sums[0] == pytest.approx(sums[1])
    assert all(row["mean"] >= 0 for row in found.imbalance)
    assert [rank.waited for rank in plain.ranks] == [rank.waited for rank in found.ranks]
