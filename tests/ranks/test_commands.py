# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The commands on the files of many ranks."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from pathlib import Path

import pytest

import nvspan
from helpers.job import write_job
from helpers.packages import needs
from helpers.reported import nvspan_done
from helpers.traced import needs_library
from nvspan.cli import record
from nvspan.ranks import beside, mapping

PROGRAM = """
import nvspan
for _ in range(3):
    with nvspan.annotate("step"):
        pass
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs") / "job"
    folder.mkdir()
    return write_job(folder, 12, slow={3: 1.5, 9: 1.2})


def run(*words, cwd, code=0):
    done = nvspan_done(*words, cwd=cwd, COLUMNS="200")
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_stats_of_a_folder_are_those_of_its_files(job):
    folder = job[0].parent
    found = json.loads(run("stats", "--format", "json", folder, cwd=folder).stdout)
    wanted = json.loads(run("stats", "--format", "json", *job, cwd=folder).stdout)
    for rows in (found["rows"], wanted["rows"]):
        for row in rows:
            row["std"] = round(row["std"])
        rows.sort(key=lambda row: row["name"])
    assert found["rows"] == wanted["rows"]
    assert found["wall"] == wanted["wall"]


def test_stats_by_rank_have_a_row_for_each(job):
    done = run("stats", "--many", "--by", "rank", "--filter", "step", "--format", "csv", *job,
               cwd=job[0].parent)  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert sorted(int(row["rank"]) for row in rows) == list(range(12))
    assert {row["name"] for row in rows} == {"step"}
    assert [row["rank"] for row in rows[:2]] == ["3", "9"]


def test_what_cannot_be_read_is_named(job, tmp_path):
    bad = tmp_path / "bad.nvspan"
    bad.write_text("bad")
    done = run("stats", "--many", *job, bad, tmp_path / "none.nvspan", cwd=tmp_path)
    assert done.stderr == (
        f"nvspan: cannot read '{bad}': not an nvspan recording\n"
        f"nvspan: cannot read '{tmp_path}/none.nvspan': No such file or directory\n"
    )
    done = run("stats", "--many", bad, cwd=tmp_path, code=1)
    assert done.stderr == (
        f"nvspan stats: none of 1 files can be read: {bad}: not an nvspan recording\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("stats", "--many", "--tree"), "--tree cannot be used with many files"),
        (("stats", "--many", "--by", "thread"), "of many files it is rank, not 'thread'"),
        (("steps", "--many", "--each"), "--each cannot be used with many files"),
        (("export", "--partition"), "--partition is for parquet, not perfetto"),
    ],
)
def test_options_that_many_files_do_not_have(job, words, said):
    assert said in run(*words, job[0], cwd=job[0].parent, code=2).stderr


def test_steps_have_a_line_for_each_rank_the_slowest_first(job):
    lines = run("steps", job[0].parent, cwd=job[0].parent).stdout.splitlines()
    assert lines[0].split() == [
        "rank", "steps", "median", "mean", "max", "forward", "optimizer", "backward", "data",
        "wait", "other", "host",
    ] or set(lines[0].split()) >= {"rank", "forward", "backward", "optimizer", "host"}  # fmt: skip
    assert [line.split()[0] for line in lines[1:3]] == ["3", "9"]
    assert len(lines) == 13
    found = json.loads(run("steps", "--format", "json", job[0].parent, cwd=job[0].parent).stdout)
    assert [row["rank"] for row in found] == list(range(12))


def test_jobs_are_compared(job, tmp_path):
    jobs = {"after": 2.0, "after again": 2.01, "before again": 1.01}
    for name, slow in jobs.items():
        (tmp_path / name).mkdir()
        write_job(tmp_path / name, 12, slow=dict.fromkeys(range(12), slow))
    before, after = job[0].parent, tmp_path / "after"
    done = run("diff", "--format", "json", before, "--", after, cwd=tmp_path)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert (rows["forward"]["verdict"], rows["forward"]["runs_after"]) == ("unsure", 1)
    assert len(rows) == 5
    sides = [before, tmp_path / "before again", "--", after, tmp_path / "after again"]
    done = run("diff", "--format", "json", "--repeats", *sides, cwd=tmp_path)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert (rows["forward"]["verdict"], rows["forward"]["runs_after"]) == ("slower", 2)
    done = run("diff", "--format", "json", "--filter", "step", before, "--", after, cwd=tmp_path)
    assert [row["name"] for row in json.loads(done.stdout)] == ["step"]


def test_a_report_of_chosen_ranks(job, tmp_path):
    done = run("report", "--ranks", "slowest:2,7", "-o", tmp_path / "page.html", job[0].parent,
               cwd=tmp_path)  # fmt: skip
    assert done.stderr == "nvspan: ranks 3, 9, 7 of 12 processes\n"
    assert (tmp_path / "page.html").stat().st_size > 10_000
    done = run("report", "--ranks", "12", job[0].parent, cwd=tmp_path, code=1)
    assert done.stderr == "nvspan report: no file is of rank 12; there are 0 to 11\n"


@needs("pyarrow")
def test_a_dataset_of_parquet_files_by_rank(job, tmp_path):
    from pyarrow import dataset as parquet

    bad = tmp_path / "bad.nvspan"
    bad.write_text("bad")
    done = run("export", "--format", "parquet", "--partition", "-o", "out", *job, bad, cwd=tmp_path)
    assert done.stdout == "out\n"
    assert f"cannot read '{bad}'" in done.stderr
    folder = tmp_path / "out" / "ranges"
    assert sorted(os.listdir(folder)) == sorted(f"rank={rank}" for rank in range(12))
    table = parquet.dataset(folder, partitioning="hive").to_table()
    rows = table.group_by("rank").aggregate([("duration", "sum"), ("duration", "count")])
    found = {row["rank"]: row for row in rows.to_pylist()}
    for rank, path in enumerate(job):
        durations = nvspan.read(path).ranges["duration"].tolist()
        assert found[rank]["duration_sum"] == sum(durations)
        assert found[rank]["duration_count"] == len(durations)


@needs_library
def test_recording_writes_summaries_where_asked(tmp_path):
    """A killed process has none."""
    (tmp_path / "program.py").write_text(PROGRAM)
    run("record", "--summaries", "--no-report", "-o", "run.nvspan", "program.py", cwd=tmp_path)
    path = tmp_path / "run.nvspan"
    assert beside.load(str(path), mapping.Job().asked()) is not None
    assert nvspan.read_many(path).to_bytes() == (
        nvspan.read_many(path, summaries="ignore").to_bytes()
    )
    run("record", "--summaries", "--no-report", "-o", "killed.nvspan", "-c",
        "import nvspan, os, signal; nvspan.mark('m'); os.kill(os.getpid(), signal.SIGKILL)",
        cwd=tmp_path, code=-signal.SIGKILL)  # fmt: skip
    assert nvspan.read_many(tmp_path / "killed.nvspan").stats().marks[0].calls == 1
    assert not Path(f"{tmp_path}/killed.nvspan.summary").exists()
    run("record", "--no-report", "-o", "plain.nvspan", "program.py", cwd=tmp_path)
    assert not Path(f"{tmp_path}/plain.nvspan.summary").exists()


RANKS = """
import os, signal, subprocess, sys
code = 'import nvspan, os, signal, sys; nvspan.mark("m"); sys.argv[1:] and os.kill(os.getpid(), 9)'
for rank in "012":
    subprocess.run([sys.executable, "-c", code, *sys.argv[1:][: rank == "1"]],
                   env={**os.environ, "RANK": rank})
"""


def summaries(folder):
    return sorted(path.name for path in folder.glob("*.summary"))


@needs_library
def test_recording_a_job_writes_summaries(tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    run("record", "--no-report", "-o", "{rank}.nvspan", "ranks.py", cwd=tmp_path)
    names = [f"{rank}.nvspan" for rank in range(3)]
    assert summaries(tmp_path) == [f"{name}.summary" for name in names]
    for name in names:
        assert beside.load(str(tmp_path / name), mapping.Job().asked()) is not None
    found = nvspan.read_many(tmp_path)
    assert found.to_bytes() == nvspan.read_many(tmp_path, summaries="ignore").to_bytes()
    assert found.stats().marks[0].calls == 3
    # One that was killed has none, and is read itself; it may have been recorded anew.
    run("record", "--force", "--no-report", "-o", "{rank}.nvspan", "ranks.py", "kill", cwd=tmp_path)
    assert summaries(tmp_path) == ["0.nvspan.summary", "2.nvspan.summary"]
    assert nvspan.read_many(tmp_path).stats().marks[0].calls == 3
    run("record", "--force", "--no-report", "--no-summaries", "-o", "{rank}.nvspan", "ranks.py",
        cwd=tmp_path)  # fmt: skip
    assert summaries(tmp_path) == []
    run("record", "--no-report", "--mode", "armed", "-o", "armed-{rank}.nvspan", "ranks.py",
        cwd=tmp_path)  # fmt: skip
    assert summaries(tmp_path) == []


def test_recordings_that_take_long_to_summarize_are_left_alone(tmp_path, capsys, monkeypatch):
    path = tmp_path / "0.nvspan"
    write_job(tmp_path, 1)[0].rename(path)
    monkeypatch.setattr(record, "_MOST_SUMMARIZED", path.stat().st_size - 1)
    monkeypatch.setattr(record, "_MB", 1)
    record._write_summaries(None, "{rank}.nvspan", "full", [str(path)])
    assert summaries(tmp_path) == []
    assert capsys.readouterr().err == (
        f"nvspan record: {path.stat().st_size:,} MB were recorded: without --summaries no "
        "summaries are written next to the files\n"
    )
    record._write_summaries(True, "{rank}.nvspan", "full", [str(path)])
    assert summaries(tmp_path) == ["0.nvspan.summary"]
