# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Modules and collectives of many files: sums that are the same bytes however they are made."""

from __future__ import annotations

import json
import random
from concurrent import futures

import pytest

import nvspan
from helpers.packages import needs
from helpers.reported import run_nvspan
from helpers.traced import nvspan_command
from helpers.written import written
from helpers.written_ranks import MS, write_job
from nvspan import _reader
from nvspan.ranks import beside, mapping, traced
from nvspan.recording.modules import TIMES


def loop(slow, steps=9):
    """A slow first step and `steps` more, each with a model of two blocks and a head."""
    calls, backward, gpu, at = [], [], [], 0
    for number in range(steps + 1):
        unit = slow * (9 if number == 0 else 1)
        inner = at + 1
        for block in range(2):
            calls += [(inner, inner + 32 * unit, f"h.{block}"),
                      (inner + 1, inner + 1 + 10 * unit, f"h.{block}.a")]  # fmt: skip
            backward.append((inner + 300 * unit, inner + 320 * unit, f"h.{block}"))
            gpu.append((inner + 5, inner + 5 + 7 * unit, f"h.{block}"))
            inner += 40 * unit
        calls += [(inner, inner + 5, "head"), (at, inner + 500 * unit, "step"),
                  (at, inner + 6, "Net")]  # fmt: skip
        at = inner + 600 * unit
    return calls, backward, gpu


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    paths = [folder / f"rank{rank}.nvspan" for rank in range(6)]
    for rank, path in enumerate(paths):
        written(path, *loop(rank + 1))
    return paths


def test_modules_are_the_sums_of_what_each_file_says(models):
    found = nvspan.read_many(models, modules=True).modules()
    alone = [nvspan.read(path).modules() for path in models]
    assert (found.steps, found.warm_up) == (54, 6)
    assert found.span == sum(each.span for each in alone)
    assert (found.has_backward, found.has_gpu, found.ambiguous) == (True, True, [])
    rows = found.rows(fold=False)
    of_files = [each.rows(fold=False) for each in alone]
    assert [row["path"] for row in rows] == [row["path"] for row in of_files[0]]
    for at, row in enumerate(rows):
        assert row["calls"] == sum(each[at]["calls"] for each in of_files)
        for time in TIMES:
            parts = [each[at][time] for each in of_files if each[at][time] is not None]
            assert row[time] == (sum(parts) if parts else None), (row["path"], time)
    heads = [row for row in found.figures if row["path"] == "head"]
    assert [(row["time"], row["calls"], row["min"], row["max"]) for row in heads] == [
        ("forward_cpu", 54, 5, 5)
    ]
    blocks = next(row for row in found.figures if row["path"] == "h.0")
    assert (blocks["min"], blocks["max"]) == (32, 6 * 32)
    assert 32 <= blocks["p50"] <= 6 * 32


def test_modules_of_many_files_go_by_calls_in_the_steps_of_steps(tmp_path):
    """Two ranks: a module that two call, the class of a number, an outlier, a call outside."""
    for rank in range(2):
        calls, at = [], 0
        for number in range(9):
            unit = 10 if number == 5 else 1
            calls += [
                (at, at + 100 * unit, "step"),
                (at + 1, at + 90 * unit, "Net"),
                (at + 2, at + 30, "a"),
                (at + 3, at + 13, "b.x"),
                (at + 40, at + 80, "b"),
                (at + 41, at + 61, "b.x"),
            ]
            at += 100 * unit
        written(tmp_path / f"{rank}.nvspan", [*calls, (at + 5, at + 50, "Net")])
    files = sorted(tmp_path.glob("*.nvspan"))
    job = nvspan.read_many(files, modules=True, steps=True)
    found, alone = job.modules(), nvspan.read(files[0]).modules()
    rows = [(row["path"], row["level"], row["calls"], row["forward_cpu"]) for row in found.rows()]
    assert rows == [
        ("Net", 0, 16, 16 * 89),
        ("a", 1, 16, 16 * 28),
        ("b.x", 2, 16, 160),
        ("b", 1, 16, 16 * 40),
        ("b.x", 2, 16, 320),
    ]
    assert (found.steps, found.outliers, found.span) == (16, 2, 1600)
    assert [row["share"] for row in found.rows()] == [row["share"] for row in alone.rows()]
    assert {rank.mean for rank in job.steps().ranks} == {found.span / found.steps}
    shared = [(row.path, row.caller, row.total) for row in found.figures if row.path == "b.x"]
    assert shared == [("b.x", "a", 160), ("b.x", None, 320)]
    table = run_nvspan("steps", "--many", *files).stdout.splitlines()
    assert [line.split()[4:6] for line in table[1:]] == [["100", "ns"], ["100", "ns"]]
    assert run_nvspan("modules", "--many", *files).stdout.startswith(
        "means of 16 steps, without 2 outliers; share: time of the CPU, of a step of 100 ns\n"
    )


def test_modules_are_the_same_bytes_in_any_order(models):
    wanted = nvspan.read_many(models, modules=True, by_rank=True)
    shuffled = list(models)
    random.Random(2).shuffle(shuffled)
    with futures.ThreadPoolExecutor(3) as executor:
        found = nvspan.read_many(shuffled, executor, modules=True, by_rank=True)
    assert found.to_bytes() == wanted.to_bytes()
    assert found.modules().rows() == nvspan.read_many(models, modules=True).modules().rows()


def test_modules_are_kept_in_summaries_beside_the_files(models):
    wanted = nvspan.read_many(models, modules=True, summaries="write")
    asked = mapping.Job(modules="torch").asked()
    assert all(beside.load(str(path), asked) is not None for path in models)
    assert nvspan.read_many(models, modules=True).to_bytes() == wanted.to_bytes()
    assert beside.load(str(models[0]), mapping.Job().asked()) is None
    for path in models:
        (path.parent / f"{path.name}.summary").unlink()


def test_modules_have_to_be_asked_for(models):
    with pytest.raises(ValueError, match=r"read_many\(..., modules=True\) looks for them"):
        nvspan.read_many(models).modules()


def test_the_command_modules_of_many_files(models, tmp_path):
    found = nvspan.read_many(models, modules=True).modules()
    document = json.loads(run_nvspan("modules", "--many", "--format", "json", *models).stdout)
    assert document["rows"] == found.rows()
    assert (document["steps"], document["span"]) == (54, found.span)
    bad = tmp_path / "bad.nvspan"
    bad.write_text("bad")
    done = run_nvspan("modules", models[0].parent, bad)
    assert f"cannot read '{bad}': not an nvspan recording" in done.stderr
    assert done.stdout.startswith(
        "means of 54 steps, without 6 warm-up steps; share: time of the GPU"
    )
    done = run_nvspan("modules", "--many", "--from", "1s", *models, check=2)
    assert "--from cannot be used with many files" in done.stderr


def test_collectives_are_added_up_by_communicator(tmp_path):
    paths = write_job(tmp_path, 4, pairs=True)
    many = nvspan.read_many(paths, by_rank=True)
    rows = many.collectives()
    assert [(row["name"], row["ranks"], row["count"], row["timed"]) for row in rows] == [
        ("allreduce", 4, 160, 160), ("barrier", 2, 80, 80),
    ]  # fmt: skip
    assert all(row["bytes"] == row["count"] * 4096 for row in rows)
    assert len({row["communicator"] for row in rows}) == 2
    times = [
        int(end - start)
        for path in paths
        for start, end, name in zip(
            *(nvspan.read(path).ranges[key].tolist() for key in ("start", "end")),
            nvspan.read(path).ranges.text("name"), strict=True,
        )
        if name in ("all_reduce", "barrier")
    ]  # fmt: skip
    assert sum(row["total"] for row in rows) == sum(times)
    assert min(row["min"] for row in rows) == min(times)
    assert max(row["max"] for row in rows) == max(times)
    by_rank = many.collectives("rank")
    assert sum(row["count"] for row in by_rank) == 240
    assert {row["rank"] for row in by_rank} == {0, 1, 2, 3}
    assert nvspan.read_many(paths).collectives() == rows
    with pytest.raises(ValueError, match="by='rank' needs read_many"):
        nvspan.read_many(paths).collectives("rank")


def test_collectives_that_are_only_asked_for_have_no_time(tmp_path):
    (row,) = nvspan.read_many(write_job(tmp_path, 2, gpu=True)).collectives()
    assert (row["name"], row["ranks"], row["count"], row["timed"]) == ("allreduce", 2, 80, 80)
    assert row["min"] >= 10_000
    (tmp_path / "plain").mkdir()
    rows = nvspan.read_many(write_job(tmp_path / "plain", 2, plain=True)).collectives()
    assert [(row["communicator"], row["ranks"], row["bytes"]) for row in rows] == [(None, None, 0)]


def test_the_command_stats_shows_collectives(tmp_path):
    paths = write_job(tmp_path, 3)
    wanted = nvspan.read_many(paths).collectives()
    found = json.loads(run_nvspan("stats", "--many", "--format", "json", *paths).stdout)
    assert found["collectives"] == [row.as_dict() for row in wanted]
    lines = run_nvspan("stats", "--many", *paths).stdout.splitlines()
    assert lines[-2].split() == [
        *("count", "bytes", "total", "p50", "p99", "min", "max", "ranks"),
        *("communicator", "collective"),
    ]
    assert lines[-1].split()[:2] == ["120", "491,520"]
    assert lines[-1].split()[-1] == "allreduce"
    lines = run_nvspan("stats", "--many", "--by", "rank", *paths).stdout.splitlines()
    assert len([line for line in lines if line.endswith("  allreduce")]) == 3


@pytest.mark.parametrize("executor", [None, "processes"])
def test_who_made_whom_wait_is_the_same_by_any_executor_and_order(tmp_path, executor):
    paths = write_job(
        tmp_path, 5, extra=lambda rank, _, name: 2 * MS if (rank, name) == (3, "forward") else 0
    )
    wanted = nvspan.analyze_ranks(paths)
    shuffled = list(paths)
    random.Random(3).shuffle(shuffled)
    parts = []
    from nvspan.ranks.cause.text import as_dict

    found = nvspan.analyze_ranks(shuffled, executor, progress=parts.append)
    assert as_dict(found) == as_dict(wanted)
    assert (found.verdict.rank, found.verdict.range) == (3, "forward")
    assert (parts, parts[-1]) == (sorted(parts), 1)
    assert as_dict(nvspan.analyze_ranks(tmp_path, executor)) == as_dict(wanted)


def test_damaged_files_of_a_job_are_named_and_the_rest_goes_on(tmp_path):
    paths = write_job(
        tmp_path,
        4,
        steps=400,
        extra=lambda rank, _, name: 2 * MS if (rank, name) == (1, "forward") else 0,
    )
    with open(paths[3], "ab") as file:
        file.write(b"damage" * 1000)
    missing = tmp_path / "run-8.nvspan"
    empty = tmp_path / "run-9.nvspan"
    empty.write_bytes(b"")
    done = run_nvspan("ranks", *paths, missing, empty)
    assert f"left out: {missing}: No such file or directory" in done.stdout
    assert f"left out: {empty}: empty: not an nvspan recording" in done.stdout
    assert done.stdout.splitlines()[1].startswith("| rank 1's forward costs the job ")
    assert f"nvspan: {paths[3]}: " in done.stderr


@needs("fsspec")
def test_files_of_fsspec_say_who_made_whom_wait(tmp_path):
    import fsspec

    memory = fsspec.filesystem("memory")
    for path in write_job(tmp_path, 3):
        memory.pipe(f"/waits/{path.name}", path.read_bytes())
    found = nvspan.analyze_ranks("memory://waits/*.nvspan")
    assert [rank.path for rank in found.ranks] == [
        f"memory:///waits/run-{rank}.nvspan" for rank in range(3)
    ]


def test_urls_without_what_they_need_end_the_command(tmp_path):
    (tmp_path / "fsspec.py").write_text("raise ModuleNotFoundError('none', name='fsspec')")
    hidden = {"PYTHONPATH": str(tmp_path)}
    done = nvspan_command("ranks", "s3://bucket/*.nvspan", cwd=tmp_path, env=hidden)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nvspan ranks: URLs need fsspec: pip install 'nvspan[remote]'\n"


def test_damaged_traces_of_a_worker_are_an_error(tmp_path):
    (path, _) = write_job(tmp_path, 2, steps=3)
    found = traced.trace([str(path)])
    whole = found.files[0].traces
    assert _reader.RankJob().add_traces(whole) == 1
    assert _reader.RankJob().add_traces(b"\0\0") == 0
    refused = 0
    for at in range(len(whole)):
        with pytest.raises(ValueError, match="damaged"):
            _reader.RankJob().add_traces(whole[:at])
    numbers = random.Random(5)
    for _ in range(3000):
        other = bytearray(whole)
        other[numbers.randrange(len(other))] = numbers.randrange(256)
        job = _reader.RankJob()
        try:
            job.add_traces(bytes(other))
        except ValueError:
            refused += 1
    assert refused > 300
