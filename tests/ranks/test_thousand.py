# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A job of 1,000 files, of which some are damaged, in whatever way, and some workers die."""

from __future__ import annotations

import functools
import json
import os
import random

import pytest

import nvspan
from helpers.dying import die_of
from helpers.job import write_rank
from helpers.reported import run_nvspan
from helpers.traced import nvspan_command
from nvspan.ranks import beside, pool

COUNT = 1000


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """1,000 ranks: every tenth file is no recording, each in one of five ways; the files."""
    folder = tmp_path_factory.mktemp("thousand")
    files = [folder / f"rank{rank:04}.nvspan" for rank in range(COUNT)]
    whole = write_rank(files[0], 0, steps=3).read_bytes()
    for rank, path in enumerate(files[1:], 1):
        if rank % 10:
            write_rank(path, rank, steps=3)
        elif rank % 50 == 0:
            path.write_bytes(b"")
        elif rank % 50 == 10:
            os.mkfifo(path)
        elif rank % 50 == 20:
            path.write_bytes(whole[:100])
        elif rank % 50 == 30:
            path.mkdir()
        else:
            path.write_bytes(random.Random(rank).randbytes(5000))
    return files


def mutated(whole, chance):
    """A summary with some damage, or none at all."""
    kind = chance.randrange(5)
    if kind == 0:
        return whole[: chance.randrange(len(whole))]
    if kind == 1:
        return b""
    if kind == 2:
        return whole + chance.randbytes(100)
    out = bytearray(whole)
    for _ in range(chance.choice((1, 10, 200))):
        out[chance.randrange(len(out))] = chance.choice((0, 255, chance.randrange(256)))
    return bytes(out)


REASONS = {0: "empty: not an nvspan recording", 10: "not a regular file",
           20: "cut off in its header: nothing is left", 30: "Is a directory",
           40: "not an nvspan recording"}  # fmt: skip


def unread(job):
    """The files that are no recordings, and why."""
    return {str(job[rank]): REASONS[rank % 50] for rank in range(10, COUNT, 10)}


def test_all_that_cannot_be_read_is_named_and_summaries_do_not_lie(job):
    found = nvspan.read_many(job, summaries="write")
    assert found.unread == unread(job)
    wanted = found.to_bytes()
    (step,) = (row for row in found.stats().rows if row.name == "step")
    assert step.calls == 3 * (COUNT - len(unread(job)))
    chance = random.Random(1)
    kept = [path.with_name(path.name + beside.SUFFIX) for path in job if path.is_file()]
    kept = [path for path in kept if path.exists()]
    assert len(kept) == COUNT - len(unread(job))
    for at, path in enumerate(kept):
        if at % 50 == 7:
            path.unlink()
            os.mkfifo(path)
        elif at % 2:
            path.write_bytes(mutated(path.read_bytes(), chance))
    for executor in ("threads", "processes"):
        again = nvspan.read_many(job, executor)
        assert again.unread == unread(job)
        assert again.to_bytes() == wanted


def test_the_commands_name_or_count_them(job):
    folder, bad = job[0].parent, unread(job)
    done = run_nvspan("stats", "--many", "--format", "json", folder)
    first = [f"nvspan: cannot read '{path}': {why}" for path, why in list(bad.items())[:10]]
    assert done.stderr.splitlines() == [
        *first, f"nvspan: cannot read {len(bad) - 10} more files",
    ]  # fmt: skip
    rows = {row["name"]: row["calls"] for row in json.loads(done.stdout)["rows"]}
    assert rows["step"] == 3 * (COUNT - len(bad))
    lines = run_nvspan("ranks", folder).stdout.splitlines()
    assert [line for line in lines if line.startswith("left out: ")] == [
        f"left out: {path}: {why}" for path, why in bad.items()
    ]
    done = nvspan_command("where", folder)
    named = {line.partition(": ")[0] for line in done.stdout.splitlines()}
    assert (done.returncode, done.stderr, named) == (1, "", set(map(str, job)))


def test_workers_that_die_lose_their_own_file_alone(job):
    names = [str(path) for path in job]
    lost, done = {}, []
    workers = pool.Pool("processes")
    try:
        work = functools.partial(die_of, bad=names[333])
        parts = list(pool.run(workers, work, names, lost.__setitem__, done.append))
    finally:
        workers.close()
    assert lost == {names[333]: "the worker that read it died, twice"}
    found = sorted(name for part in parts for name in part)
    assert found == sorted(name for name in names if name != names[333])
    assert sum(done) == COUNT
