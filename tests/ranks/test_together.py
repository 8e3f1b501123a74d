# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks`` of files that are not of one run, or whose collectives do not synchronise."""

from __future__ import annotations

import os
from array import array

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.written_ranks import MS, WrittenRank, write_job, write_rank
from nvspan._reader import ExternalWriter
from nvspan.ranks.cause.analysis import ranks
from nvspan.ranks.cause.text import as_dict, render

MINUTES = 60_000_000_000


def run(folder, name, *, later=0, **options):
    (folder / name).mkdir()
    return write_job(folder / name, 2, clock=lambda _, at: at + later, **options)


def own_pace(folder, slowness, *, hosts=1):
    """Ranks that never wait: rank 1 takes `slowness` ms for a step, the other 1 ms."""
    files = []
    for number in range(2):
        rank = WrittenRank(number)
        for step in range(40):
            begin = rank.now
            rank.work("forward", MS * (slowness if number == 1 else 1))
            rank.collectives.append(
                ("all_reduce", rank.now, rank.now + 50_000, (5, step, 2, number, 4096, 0, -1))
            )
            rank.now += 50_000
            rank.steps.append((begin, rank.now, step))
        path = folder / f"run-{number}.nvspan"
        files.append(write_rank(path, rank, f"host{number % hosts}", lambda at: at))
    return files


@pytest.mark.parametrize("hosts", [1, 2])
def test_files_of_two_runs_are_not_compared(tmp_path, hosts):
    first = run(tmp_path, "first", hosts=hosts)[0]
    second = run(tmp_path, "second", hosts=hosts, later=10 * MINUTES, seed=1)[1]
    found = ranks(first, second)
    assert (found.verdict.kind, found.costs) == ("cannot tell", [])
    assert found.verdict.text == (
        f"cannot tell: the files were not recorded together: {second} starts 10 min after {first} "
        "ended"
    )
    assert render(found).split("\n\n")[1].count("\n") == 1  # no table
    assert run_nvspan("ranks", first, second).stdout == render(found)
    assert "%" not in str(as_dict(found)["evidence"])


def test_two_runs_in_one_folder_are_not_compared(tmp_path):
    first = run(tmp_path, "first")
    second = run(tmp_path, "second", later=10 * MINUTES, seed=1)
    write_another(second[0])
    text = ranks(*first, *second).verdict.text
    assert text == (
        f"cannot tell: the files were not recorded together: {first[0]} and {second[0]} are of two "
        "processes of rank 0"
    )


def write_another(path):
    """A recording of rank 0 in another process."""
    with ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(7777, host="host0", boot_id="boot of host0", rank=0)
        thread = writer.thread(process, 1, "main")
        domain = writer.domain(process, "MPI")
        name = memoryview(writer.strings(["MPI_Barrier"])).tolist()[0]
        writer.ranges(thread, domain, 10 * MINUTES, 10 * MINUTES + MS, name=name)


@pytest.mark.parametrize("slowness", [2, 50])
@pytest.mark.parametrize("hosts", [1, 2])
def test_ranks_that_do_not_wait_are_not_compared(tmp_path, slowness, hosts):
    found = ranks(*own_pace(tmp_path, slowness, hosts=hosts))
    assert (found.verdict.kind, found.costs) == ("cannot tell", [])
    assert found.verdict.text.startswith(
        "cannot tell: the collectives do not synchronize the ranks: in "
    )
    assert found.verdict.text.endswith(
        " of 40 collectives a rank leaves before another arrives, or calls another operation"
    )
    assert found.verdict.limits == []


def nccl_calls(folder, slowness):
    """The same with what a CPU asks NCCL for, which shows no waiting."""
    files = []
    for number in range(2):
        files.append(folder / f"run-{number}.nvspan")
        with ExternalWriter(os.fsencode(files[-1])) as writer:
            process = writer.process(100 + number, host="host0", boot_id="boot", rank=number)
            thread = writer.thread(process, 1, "main")
            torch, nccl = writer.domain(process, "torch"), writer.domain(process, "NCCL")
            step, call = memoryview(writer.strings(["step", "ncclAllReduce"])).tolist()
            length = MS * (slowness if number == 1 else 1)
            for at in range(40):
                begin = 1_000_000_000 + at * length
                writer.ranges(
                    thread, torch, begin, begin + length, name=step, payload=array("q", [at])
                )
                end = begin + length - 10_000
                writer.ranges(thread, nccl, end - 10_000, end, name=call)
    return files


def test_nobody_waits_longer_than_it_was_recorded(tmp_path):
    found = ranks(*nccl_calls(tmp_path, 50))
    assert (found.verdict.kind, found.costs) == ("cannot tell", [])
    assert found.verdict.text == (
        "cannot tell: the collectives do not synchronize the ranks: a rank would have waited 2.0 s "
        "for rank 1, and none of the others was recorded for more than 40 ms"
    )


def test_files_of_one_run_are_compared(tmp_path):
    found = ranks(*run(tmp_path, "first", extra=lambda rank, step, name: 2 * MS * (rank == 1)))
    assert (found.unrelated, found.unsynchronised) == (None, None)
    assert (found.verdict.kind, found.verdict.rank) == ("culprit", 1)
    assert render(found).split("\n\n")[1] == "2 ranks, 1 clock, 40 collectives, 37 steps"


def test_one_rank_and_one_step_have_a_singular(tmp_path):
    files = run(tmp_path, "first", steps=2)
    assert "\n1 rank, 1 clock\n" in render(ranks(files[0]))
    assert ranks(*files).verdict.text == "cannot tell: there is 1 step after warm-up"


def with_steps(folder, ranges):
    """A job whose rank 1 is slower by 2 ms in each step, which `ranges` shows in its way."""
    slow = {"extra": lambda rank, step, name: 2 * MS * ((rank, name) == (1, "forward"))}
    files = []
    for number, path in enumerate(write_job(folder, 3, plain=True, **slow)):
        table = nvspan.read(path).ranges
        rows = [(row["domain"], row["name"], row["start"], row["end"]) for row in table.rows()]
        files.append(folder / f"steps-{number}.nvspan")
        with ExternalWriter(os.fsencode(files[-1])) as writer:
            process = writer.process(100 + number, host="host0", boot_id="boot", rank=number)
            thread = writer.thread(process, 1, "main")
            domains = {name: writer.domain(process, name) for name in ("torch", "MPI", "mine")}
            count = 0
            for domain, name, start, end in rows:
                made = [(domain, name, start, end, None)]
                if name == "step":
                    made = ranges(count, start, end)
                    count += 1
                for of, text, first, last, payload in made:
                    known = memoryview(writer.strings([text])).tolist()[0]
                    payload = None if payload is None else array("q", [payload])
                    writer.ranges(thread, domains[of], first, last, name=known, payload=payload)
    return files


@pytest.mark.parametrize(
    "ranges",
    [
        lambda n, a, b: [("torch", "step", a, b, n), ("mine", "step", a + 1000, b - 1000, None)],
        lambda n, a, b: [("mine", "step", a, b, None), ("torch", "step", a + 1000, b - 1000, n)],
        lambda n, a, b: [("mine", "step", a, b, None)],
        lambda n, a, b: [("mine", "step", a, b, 32)],
    ],
    ids=["within auto's", "around auto's", "without a number", "its payload is a size"],
)
def test_steps_are_counted_once_and_nested_ones_do_no_harm(tmp_path, ranges):
    found = ranks(*with_steps(tmp_path, ranges))
    assert (found.verdict.kind, found.verdict.rank, found.verdict.range) == (
        "culprit",
        1,
        "forward",
    )
    assert found.steps == list(range(3, 40))


def test_steps_are_those_that_nvspan_steps_chooses(tmp_path):
    files = with_steps(tmp_path, lambda n, a, b: [("mine", "train_batch", a, b, None)])
    found = ranks(*files)
    assert found.step == nvspan.read(files[0]).steps().step == "mine:train_batch"
    assert (found.verdict.kind, found.verdict.rank, found.steps) == (
        "culprit",
        1,
        list(range(3, 40)),
    )
    assert render(found).split("\n\n")[1] == (
        "3 ranks, 1 clock, 40 collectives, 37 steps of mine:train_batch"
    )
    with pytest.raises(ValueError, match="no collectives"):
        ranks(*with_steps(tmp_path, lambda *_: []), step="train_batch", domains=())


def test_a_file_in_which_other_steps_are_chosen_has_those_of_most(tmp_path):
    begun = []

    def ranges(number, start, end):
        begun.append(number == 0)
        made = ("mine", "train_batch", start + 1000, end - 1000, None)
        return [("torch", "step", start, end, number), made] if sum(begun) == 3 else [made]

    files = with_steps(tmp_path, ranges)
    assert nvspan.read(files[2]).steps().step == "torch:step"
    found = ranks(*files)
    assert (found.step, found.problems) == ("mine:train_batch", [])
    assert (found.verdict.kind, found.verdict.rank) == ("culprit", 1)
    assert found.steps == list(range(3, 40))
