# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks`` on jobs of other shapes: pipelines, groups, several collectives and asynchronous
ones, ranks that are missing, and noise of all kinds. Who is late is known."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from helpers.length import length
from helpers.written_ranks import MS, PHASES, WrittenRank, meet, write_job, write_rank
from nvspan.ranks.cause.analysis import ranks

STEPS = 48


class Job:
    """Ranks that do what a test says, step by step, with some jitter."""

    def __init__(self, count, late, seed=0):
        self.random = Random(seed)
        self.ranks = [WrittenRank(i) for i in range(count)]
        self.late = late  # rank, name, ns
        self.numbers = {}

    def number(self, group):
        self.numbers[group] = self.numbers.get(group, -1) + 1
        return self.numbers[group]

    def work(self, name, ns, of=None):
        for rank in self.ranks if of is None else [self.ranks[of]]:
            more = self.late[2] if self.late[:2] == (rank.rank, name) else 0
            rank.work(name, round(ns * self.random.gauss(1, 0.02)) + more)

    def meet(self, group, members=None, sizes=()):
        of = self.ranks if members is None else [self.ranks[i] for i in members]
        meet(of, "all_reduce", group, self.number(group), self.random, sizes)

    def send(self, sender, receiver, group=5):
        """The sender goes on at once, the receiver when it has it."""
        one, other = self.ranks[sender], self.ranks[receiver]
        number, size = (1 << 40) + self.number((group, "sent")), len(self.ranks)
        gone, came = one.now, other.now
        one.now += 5_000
        other.now = max(came, gone + 10_000) + 5_000
        sent = (group, number, size, sender, 4096, 0, receiver)
        received = (group, number, size, receiver, 4096, 0, sender)
        one.collectives.append(("send", gone, one.now, sent))
        other.collectives.append(("recv", came, other.now, received))

    def found(self, folder, step, steps=STEPS, files=None):
        for number in range(steps):
            begins = [rank.now for rank in self.ranks]
            step(number)
            for rank, begin in zip(self.ranks, begins, strict=True):
                rank.steps.append((begin, rank.now, number))
                rank.now += 5_000
        paths = [
            write_rank(folder / f"run-{rank.rank}.nvspan", rank, "host", lambda at: at)
            for rank in self.ranks
            if files is None or rank.rank in files
        ]
        return ranks(*paths)


def culprit(found):
    return found.verdict.kind, found.verdict.rank, found.verdict.range


def test_a_delay_over_two_hops(tmp_path):
    # 0 makes 1 wait, which makes 2 wait, which makes 3 wait: each knows its neighbour alone.
    job = Job(4, (0, "forward", 3 * MS))

    def step(number):
        job.work("forward", 4 * MS)
        for low in range(3):
            job.meet(10 + low, (low, low + 1))
            job.work("backward", MS)
        job.meet(5)

    found = job.found(tmp_path, step)
    assert culprit(found) == ("culprit", 0, "forward")
    assert found.ranks[3].waited == pytest.approx(STEPS * 3 * MS, rel=0.2)
    of_last = [rank.roots.get("forward", 0) for rank in found.ranks]
    assert of_last[0] > 5 * max(of_last[1:])


@pytest.mark.parametrize("late", [0, 1, 2])
def test_a_stage_of_a_pipeline(tmp_path, late):
    job = Job(3, (late, "forward", MS))

    def step(number):
        for _ in range(4):
            job.work("forward", 3 * MS, of=0)
            for stage in (1, 2):
                job.send(stage - 1, stage)
                job.work("forward", 3 * MS, of=stage)
        for _ in range(4):
            job.work("backward", 5 * MS, of=2)
            for stage in (1, 0):
                job.send(stage + 1, stage)
                job.work("backward", 5 * MS, of=stage)
        job.meet(5)

    found = job.found(tmp_path, step)
    assert culprit(found) == ("culprit", late, "forward")
    assert found.counts["incomplete"] == found.counts["unmatched"] == 0
    assert found.verdict.delay.ns.value == pytest.approx(4 * MS, rel=0.1)


@pytest.mark.parametrize("late", range(4))
def test_groups_of_tensors_and_of_data(tmp_path, late):
    job = Job(4, (late, "forward", 2 * MS))

    def step(number):
        for _ in range(2):
            job.work("forward", 3 * MS)
            job.meet(7, (0, 1))
            job.meet(8, (2, 3))
        job.work("backward", 6 * MS)
        job.meet(17, (0, 2))
        job.meet(18, (1, 3))

    assert culprit(job.found(tmp_path, step)) == ("culprit", late, "forward")


def test_several_collectives_of_a_step(tmp_path):
    # Late before the third, early before the first: the first makes nobody wait less.
    job = Job(3, (2, "norm", 2 * MS))

    def step(number):
        for name in ("embed", "attention", "norm"):
            job.work(name, 3 * MS)
            job.ranks[2].now -= MS if name == "embed" else 0
            job.meet(5)

    assert culprit(job.found(tmp_path, step)) == ("culprit", 2, "norm")


def test_asynchronous_collectives_wait_on_the_handle(tmp_path):
    job = Job(3, (1, "forward", 3 * MS))

    def step(number):
        job.work("forward", 4 * MS)
        number = job.number(5)
        released = max(rank.now for rank in job.ranks) + 20_000
        for place, rank in enumerate(job.ranks):
            fields = (5, number, 3, place, 4096, 1, -1)
            rank.collectives.append(("all_reduce", rank.now, rank.now + 5_000, fields))
            rank.now += 5_000
        job.work("backward", MS)
        for place, rank in enumerate(job.ranks):
            end = max(rank.now, released) + 5_000
            fields = (5, number, 3, place, 4096, 1, -1)
            rank.collectives.append(("all_reduce.wait", rank.now, end, fields))
            rank.now = end

    found = job.found(tmp_path, step)
    assert culprit(found) == ("culprit", 1, "forward")
    assert found.counts["collectives"] == STEPS
    assert found.verdict.cost.ns.value == pytest.approx(3 * MS, rel=0.1)


def test_a_rank_with_more_data(tmp_path):
    job = Job(4, (2, "forward", 2 * MS))

    def step(number):
        job.work("forward", 5 * MS)
        job.meet(5, sizes=(4096, 4096, 6144, 4096))

    found = job.found(tmp_path, step)
    assert culprit(found) == ("culprit", 2, "forward")
    assert any("its share of the data differs" in line for line in found.verdict.evidence)


@pytest.mark.parametrize("missing", [1, 3])
def test_a_rank_that_has_no_file(tmp_path, missing):
    job = Job(4, (3, "forward", 2 * MS))

    def step(number):
        job.work("forward", 5 * MS)
        job.meet(5)

    found = job.found(tmp_path, step, files={0, 1, 2, 3} - {missing})
    assert found.verdict.rank == (3 if missing == 1 else None)
    assert any(line.startswith("1 rank of the largest group") for line in found.verdict.limits)


def test_a_rank_that_dies_midway(tmp_path):
    job = Job(4, (3, "forward", 2 * MS))
    dead = job.ranks[1]

    def step(number):
        job.work("forward", 5 * MS)
        if number < 30:
            job.meet(5)
            return
        if number == 30:
            job.ranks = [rank for rank in job.ranks if rank is not dead]

    found = job.found(tmp_path, step, steps=30)
    late = [rank for rank in job.ranks if rank is not dead]
    assert culprit(found) == ("culprit", 3, "forward")
    other = tmp_path / "other"
    other.mkdir()
    for number in range(30, 40):  # the others begin one more that never ends well
        for rank in late:
            rank.work("forward", 5 * MS)
            fields = (5, number, 4, rank.rank, 4096, 0, -1)
            rank.collectives.append(("all_reduce", rank.now, rank.now + 20 * MS, fields))
            rank.now += 20 * MS
    paths = [
        write_rank(other / f"run-{rank.rank}.nvspan", rank, "host", lambda at: at)
        for rank in job.ranks
    ]
    found = ranks(*paths)
    assert culprit(found) == ("culprit", 3, "forward")
    assert found.counts["incomplete"] == 10


def noisy(count, seed, late=None, ns=0):
    """Heavy tails, jitter of each rank's own, alike neighbours, and a rank that is slow by nature
    in one range and as much faster in another."""
    random = np.random.default_rng(seed)
    nature = int(random.integers(count))
    noise = random.standard_t(3, (count, len(PHASES), 64)) * 0.03 * MS
    noise *= 1 + np.arange(count)[:, None, None] / count
    for step in range(1, 64):
        noise[:, :, step] += 0.4 * noise[:, :, step - 1]
    names = list(PHASES)

    def extra(rank, step, name):
        more = int(noise[rank, names.index(name), step])
        if rank == nature and name != "dataloader.next":
            more += MS // 2 if name == "forward" else -MS // 2
        more = max(more, MS // 2 - PHASES[name])
        return more + (ns if (rank, name) == (late, "forward") else 0)

    return extra


def test_noise_names_nobody(tmp_path):
    false = []
    for seed in range(length(45, 6)):
        found = ranks(*write_job(tmp_path, 3 + seed % 3, steps=64, extra=noisy(3 + seed % 3, seed)))
        false += [found.verdict.text] if found.verdict.rank is not None else []
    assert false == []


def test_a_delay_above_the_stated_one_is_named(tmp_path):
    count = length(12, 3)
    right = 0
    for seed in range(count):
        members, late = 3 + seed % 3, seed % 3
        quiet = ranks(*write_job(tmp_path, members, steps=64, extra=noisy(members, seed)))
        ns = round(quiet.verdict.smallest[None])
        assert ns < 2 * MS
        extra = noisy(members, seed, late, ns)
        right += ranks(*write_job(tmp_path, members, steps=64, extra=extra)).verdict.rank == late
    assert right == count
