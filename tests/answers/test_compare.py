# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff A... -- B...``: sets of files, steps by phase, and how often it is wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from random import Random

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.terminal import on_a_terminal
from helpers.written_loops import MS, write_loop
from nvspan.answers.compare import compare, compare_steps, read_runs
from nvspan.recording.statistics import confidence, error_of_calls, error_of_runs

SECOND = 10**9
PHASES = {"h2d": 2 * MS, "forward": 5 * MS, "backward": 3 * MS}


def repeats(
    folder: Path, name: str, factors: list[float], changed: dict[str, float] | None = None
) -> list[Path]:
    """A file for each run, one after the other, each with all of its times multiplied."""
    phases = {**PHASES, **(changed or {})}
    return [
        write_loop(
            folder / f"{name}-{i}.nvspan", {k: v * factor for k, v in phases.items()},
            begin=i * SECOND, jitter=0.01,
        )
        for i, factor in enumerate(factors)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    spread = [0.98, 1.01, 1.02, 0.99]
    return (
        repeats(folder, "old", spread),
        repeats(folder, "new", spread[::-1], {"forward": 6 * MS}),
        repeats(folder, "same", [1.02, 0.99, 1.0, 0.97]),
    )


def diff(before, after, *options, check=0):
    done = run_nvspan("diff", "--format", "json", *options, *before, "--", *after, check=check)
    return {(row["kind"], row["name"]): row for row in json.loads(done.stdout)}


def test_two_sets_by_phase_and_by_range(sets):
    old, new, _ = sets
    rows = diff(old, new, "--fail", check=1)
    verdicts = {key: row["verdict"] for key, row in rows.items()}
    assert verdicts == {
        ("step_cpu", "step"): "slower", ("step_cpu", "h2d"): "same",
        ("step_cpu", "forward"): "slower", ("step_cpu", "backward"): "same",
        ("push_pop", "step"): "slower", ("push_pop", "h2d"): "same",
        ("push_pop", "forward"): "slower", ("push_pop", "backward"): "same",
    }  # fmt: skip
    forward = rows["step_cpu", "forward"]
    assert forward["change"] == pytest.approx(0.2, abs=0.02)
    assert forward["of_step"] == pytest.approx(0.1, abs=0.01)
    assert forward["low"] < 0.2 < forward["high"]
    assert (forward["runs_before"], forward["runs_after"]) == (4, 4)
    assert (forward["calls_before"], forward["calls_after"]) == (80, 80)
    step = rows["step_cpu", "step"]
    parts = [row["of_step"] for key, row in rows.items() if key[0] == "step_cpu"]
    assert sum(parts) - step["of_step"] == pytest.approx(step["of_step"], abs=1e-4)


def test_runs_that_differ_by_chance_are_no_change(sets):
    """Of single calls, which vary less than runs, some 2 % would be certain."""
    old, _, same = sets
    rows = diff(old, same, "--threshold", "0", "--fail")
    assert {row["verdict"] for row in rows.values()} == {"unsure"}
    single = diff(old[:1], same[:1], "--threshold", "0")
    assert single["push_pop", "step"]["verdict"] == "slower"


def test_one_new_run_is_judged_by_how_the_old_ones_vary(sets):
    old, new, same = sets
    rows = diff(old, new[:1])
    assert rows["step_cpu", "forward"]["verdict"] == "slower"
    assert rows["step_cpu", "h2d"]["verdict"] == "same"
    rows = diff(old, same[:1], "--threshold", "0")
    assert {row["verdict"] for row in rows.values()} == {"unsure"}


def test_files_of_one_time_are_one_run(tmp_path):
    """Eight ranks of two runs: ranks are no repeats, however much they differ."""
    paths = [
        write_loop(tmp_path / f"{run}-{rank}.nvspan", {"work": (10 + rank) * MS},
                   begin=run * SECOND, rank=rank)
        for run in range(2) for rank in range(8)
    ]  # fmt: skip
    runs = read_runs(*reversed(paths))
    assert [len(run.processes) for run in runs] == [8, 8]
    assert [run.processes[0].start for run in runs] == [0, SECOND]
    assert len(read_runs(*paths, each=True)) == 16
    (row,) = [row for row in compare(runs[:1], runs[1:]) if row["name"] == "work"]
    assert (row["verdict"], row["before"]["runs"], row["before"]["calls"]) == ("same", 1, 160)
    assert row["before"]["mean"] == pytest.approx(13.5 * MS)


def test_phases_that_one_side_lacks(tmp_path):
    old = nvspan.read(write_loop(tmp_path / "old.nvspan", {"load": 9 * MS, "train": 9 * MS}))
    new = nvspan.read(write_loop(tmp_path / "new.nvspan", {"train": 9 * MS, "save": 9 * MS}))
    found = {row["name"]: row["verdict"] for row in compare_steps(old, new)}
    assert found == {"step": "same", "load": "gone", "train": "same", "save": "new"}
    other = nvspan.read(write_loop(tmp_path / "few.nvspan", {"train": 9 * MS}, steps=8))
    with pytest.raises(ValueError, match="no range is called 'epoch'"):
        compare_steps(old, other, step="epoch")


def test_names_and_formats(sets):
    old, new, _ = sets
    shown = run_nvspan("diff", *old, "--", *new).stdout.splitlines()
    assert shown[0].split()[:8] == ["calls", "old", "calls", "new", "mean", "old", "mean", "new"]
    assert shown[-1] == (
        "4 runs of old and 4 runs of new: the noise is what varies from run to run (Welch's test)"
    )
    shown = run_nvspan("diff", "--names", "main,branch", old[0], new[0]).stdout.splitlines()
    assert shown[0].split()[:4] == ["calls", "main", "calls", "branch"]
    marked = run_nvspan("diff", "--format", "markdown", *old, "--", *new).stdout
    assert "| verdict | step |" in marked
    text = run_nvspan("diff", *old, "--", *new, "--format", "csv").stdout
    rows = {(row["kind"], row["name"]): row for row in csv.DictReader(io.StringIO(text))}
    found = diff(old, new)
    assert rows.keys() == found.keys()
    assert float(rows["step_cpu", "forward"]["change"]) == found["step_cpu", "forward"]["change"]


def test_of_a_filter_there_are_no_steps_unless_they_are_named(sets):
    old, new, _ = sets
    assert set(diff(old, new, "--filter", "h2d")) == {("push_pop", "h2d")}
    rows = diff(old, new, "--filter", "h2d", "--step", "step", "--phases", "forward")
    assert ("step_cpu", "forward") in rows
    assert ("push_pop", "forward") not in rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "b", "c"], "put -- between the files of the two sides"),
        (["a"], "two recordings are needed"),
        (["--", "a"], "there is no recording before --"),
        (["a", "--"], "there is no recording after --"),
        (["a", "--", "b", "--", "c"], "more than once"),
        (["--names", "one", "a", "b"], "must be two names"),
        (["--confidence", "1", "a", "b"], "must lie between 0 % and 100 %"),
        (["--threshold", "nan", "a", "b"], "must be a percentage"),
    ],
)
def test_what_is_no_comparison(words, said):
    done = run_nvspan("diff", *words, check=2)
    assert said in done.stderr


def test_a_terminal_shows_colors_unless_it_is_told_not_to(sets):
    old, new, _ = sets
    words = ["diff", *old, "--", *new]
    lines = on_a_terminal(*words, TERM="xterm", NO_COLOR="", COLUMNS="200").splitlines()
    red = [line for line in lines if line.startswith("\x1b[31m")]
    assert len(red) == 4
    assert all("slower" in line and line.endswith("\x1b[0m") for line in red)
    for quiet in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_a_terminal(*words, **quiet)
    assert "\x1b" not in run_nvspan(*words).stdout


@pytest.mark.parametrize(
    ("old", "new", "least", "most"),
    [(1, 3, 0.03, 0.07), (2, 2, 0.03, 0.07), (3, 1, 0.03, 0.07), (3, 3, 0.02, 0.07),
     (5, 5, 0.03, 0.07), (3, 10, 0.03, 0.08)],
)  # fmt: skip
def test_false_alarms_of_repeated_runs_are_as_rare_as_said(old, new, least, most):
    """Runs that vary by 3 %, of 50 calls that vary by 10 %; 95 % is asked for, so 5 % are wrong."""
    random = Random(f"{old} {new}")

    def run() -> tuple[float, float]:
        usual = random.gauss(1, 0.03)
        calls = [random.gauss(usual, 0.1) for _ in range(50)]
        mean = sum(calls) / 50
        return mean, (sum((call - mean) ** 2 for call in calls) / 49) ** 0.5

    trials = 1500
    by_runs = by_calls = 0
    for _ in range(trials):
        before, after = ([run() for _ in range(count)] for count in (old, new))
        error, freedom = error_of_runs([m for m, _ in before], [m for m, _ in after])
        difference = sum(m for m, _ in after) / new - sum(m for m, _ in before) / old
        by_runs += confidence(difference / error, freedom) > 0.95
        error, freedom = error_of_calls((before[0][1], after[0][1]), (50, 50))
        by_calls += confidence((after[0][0] - before[0][0]) / error, freedom) > 0.95
    assert least < by_runs / trials < most
    assert by_calls / trials > 0.2  # what the spread of calls alone would call certain


@pytest.mark.parametrize("counts", [(2, 2), (1, 4), (4, 4)])
def test_a_real_change_is_within_the_limits_as_often_as_said(counts):
    random = Random(7)
    trials = hits = 0
    for _ in range(1500):
        old, new = (
            [random.gauss(mean, 0.03) for _ in range(count)]
            for mean, count in zip((1, 1.2), counts, strict=True)
        )
        error, freedom = error_of_runs(old, new)
        difference = sum(new) / len(new) - sum(old) / len(old)
        trials += 1
        hits += confidence((difference - 0.2) / error, freedom) <= 0.95
    assert 0.93 < hits / trials < 0.985
