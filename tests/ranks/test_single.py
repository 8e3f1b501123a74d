# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Single collectives: when each rank came, who was last and how long the others waited."""

from __future__ import annotations

import json
from itertools import count
from random import Random

import pytest

from helpers.reported import run_nvspan
from helpers.written_ranks import MS, WrittenRank, meet, write_job, write_rank
from nvspan.ranks.cause.analysis import ranks

STEPS = 12


def job(count, steps=STEPS):
    """Ranks that meet once a step, all but one of which have more to do than the one before."""
    random = Random(3)
    done = [WrittenRank(i) for i in range(count)]
    for step in range(steps):
        for rank in done:
            begin = rank.now
            rank.work("forward", MS + (rank.rank + step) % count * MS)
            rank.steps.append((begin, rank.now, step))
        meet(done, "all_reduce", 5, step, random)
    return done


def known(done):
    """What the result has to be, where all clocks are one."""
    rows = []
    for number in range(len(done[0].collectives)):
        at = [rank.collectives[number] for rank in done]
        come = [each[1] for each in at]
        last = max(come)
        waited = [last - each for each in come]
        others = sorted(come)[:-1]
        median = others[(len(others) - 1) // 2]
        rows.append({
            "name": "allreduce", "communicator": "5", "number": number, "step": number,
            "bytes": 4096, "compared": True, "enqueued": False, "last": come.index(last),
            "waited": sum(waited), "late": last - median, "uncertainty": 0,
            "ranks": [
                {"rank": rank, "arrived": begin, "left": end, "waited": waits, "uncertainty": 0}
                for rank, (_, begin, end, _), waits in zip(count(), at, waited, strict=False)
            ],
        })  # fmt: skip
    return rows


def written(folder, done, clock=lambda rank, at: at, hosts=1):
    return [
        write_rank(folder / f"run-{rank.rank}.nvspan", rank, f"host{rank.rank % hosts}",
                   lambda at, rank=rank.rank: clock(rank, at))
        for rank in done
    ]  # fmt: skip


def longest(rows):
    return sorted(rows, key=lambda row: -row["waited"])


@pytest.mark.parametrize("count", [2, 3, 5])
def test_arrivals_are_exact_on_one_host(tmp_path, count):
    done = job(count)
    found = ranks(*written(tmp_path, done))
    assert list(found.single("all")) == known(done)
    assert found.single_count == STEPS
    assert list(found.single()) == longest(known(done))
    assert list(found.single(3)) == longest(known(done))[:3]
    assert list(found.single(0)) == []
    for each in found.ranks:  # the sums are those of the table of ranks
        waited = [row["ranks"][each.rank]["waited"] for row in found.single("all")]
        assert sum(waited) == each.waited


@pytest.mark.parametrize("most", [-1, "some", ""])
def test_how_many_is_a_number_or_all(tmp_path, most):
    found = ranks(*written(tmp_path, job(2)))
    with pytest.raises(ValueError, match="most must be a number or 'all', not"):
        found.single(most)


def test_arrivals_on_several_clocks_are_within_their_uncertainty(tmp_path):
    done = job(4, steps=200)
    paths = written(tmp_path, done, lambda rank, at: at + rank % 2 * 3_000_000_000, hosts=2)
    found = list(ranks(*paths).single("all"))
    wanted = known(done)
    assert len(found) == len(wanted)
    for row, true in zip(found, wanted, strict=True):
        most = max(each["uncertainty"] for each in row["ranks"])
        assert 0 < most < MS
        for mine, each in zip(row["ranks"], true["ranks"], strict=True):
            assert abs(mine["arrived"] - each["arrived"]) <= mine["uncertainty"]
            assert abs(mine["left"] - each["left"]) <= mine["uncertainty"] + 1
            assert abs(mine["waited"] - each["waited"]) <= 2 * most + 1
        assert row["last"] == true["last"]
        assert abs(row["late"] - true["late"]) <= row["uncertainty"]


def test_who_is_missing_is_not_compared(tmp_path):
    done = job(3)
    del done[1].collectives[4]  # it died there, say
    rows = list(ranks(*written(tmp_path, done)).single("all"))
    (row,) = [row for row in rows if not row["compared"]]
    assert row["number"] == 4
    assert (row["last"], row["waited"], row["late"]) == (None, 0, 0)
    assert [(each["rank"], each["waited"]) for each in row["ranks"]] == [(0, 0), (2, 0)]
    assert row["ranks"][0]["arrived"] == done[0].collectives[4][1]


def test_json_lists_them(tmp_path):
    done = job(3)
    paths = written(tmp_path, done)

    def shown(*options):
        return json.loads(run_nvspan("ranks", "--json", *options, *paths).stdout)[
            "single_collectives"
        ]

    rows = known(done)
    assert shown() == {"count": STEPS, "rows": longest(rows), "shown": STEPS}
    assert shown("--collectives", "all") == {"count": STEPS, "rows": rows, "shown": STEPS}
    few = shown("--collectives", "2")
    assert few.pop("more").endswith("--collectives all lists all, --collectives N that many")
    assert few == {"count": STEPS, "rows": longest(rows)[:2], "shown": 2}
    assert shown("--collectives", "0")["rows"] == []
    done = run_nvspan("ranks", "--collectives", "2", *paths, check=2)
    assert "--collectives needs --json" in done.stderr
    done = run_nvspan("ranks", "--json", "--collectives", "few", *paths, check=2)
    assert "must be a number or 'all', not 'few'" in done.stderr


def test_many_collectives_are_written_in_pieces_and_without_a_number_are_few(tmp_path):
    paths = write_job(tmp_path, 2, steps=300)
    whole = run_nvspan("ranks", "--json", "--collectives", "all", *paths).stdout
    rows = json.loads(whole)["single_collectives"]["rows"]
    assert [row["number"] for row in rows] == list(range(300))
    assert "\n\n" not in whole
    some = json.loads(run_nvspan("ranks", "--json", *paths).stdout)["single_collectives"]
    assert (some["count"], some["shown"]) == (300, 100)
    assert some["rows"] == longest(rows)[:100]
    # Of many ranks they are fewer.
    many = tmp_path / "many"
    many.mkdir()
    found = ranks(*write_job(many, 300, steps=80))
    listed = list(found.single())
    assert len(listed) == 66
    assert sum(len(row["ranks"]) for row in listed) == 19_800
