# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff A... -- B...``: sets of files, steps by phase, and the gate of a CI job."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.terminal import on_a_terminal
from helpers.written_loops import MS, write_loop
from nvspan.answers.compare import compare, compare_all, compare_steps, read_runs

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
    spread = [0.995, 1.0025, 1.005, 0.9975]
    return (
        repeats(folder, "old", spread),
        repeats(folder, "new", spread[::-1], {"forward": 6 * MS}),
        repeats(folder, "same", [1.005, 0.9975, 1.0, 0.9925]),
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
    old, _, same = sets
    rows = diff(old, same, "--threshold", "0", "--fail")
    assert {row["verdict"] for row in rows.values()} == {"unsure"}
    rows = diff(old, same, "--fail", "--strict")
    assert {row["verdict"] for row in rows.values()} == {"same"}


def test_one_run_a_side_says_so(sets):
    old, new, _ = sets
    done = run_nvspan("diff", "--fail", old[0], new[0], check=2)
    said = "a change cannot be told from drift of the machine"
    assert done.stdout.splitlines()[-1] == f"one run of each: {said}"
    assert done.stderr == f"nvspan: --fail needs three runs of each side or more: {said}\n"
    rows = diff(old[:1], new[:1])
    assert {row["verdict"] for row in rows.values()} == {"unsure"}
    forward = rows["step_cpu", "forward"]
    assert forward["change"] == pytest.approx(0.2, abs=0.02)
    assert forward["low"] is forward["high"] is forward["confidence"] is None


def test_one_new_run_is_judged_by_how_the_old_ones_vary(sets):
    old, new, same = sets
    rows = diff(old, new[:1], "--fail", check=1)
    assert rows["step_cpu", "forward"]["verdict"] == "slower"
    assert rows["step_cpu", "h2d"]["verdict"] == "same"
    rows = diff(old, same[:1], "--threshold", "0")
    assert {row["verdict"] for row in rows.values()} == {"unsure"}


def test_what_is_gone_or_new_fails_unless_it_is_allowed(sets, tmp_path):
    old, _, _ = sets
    new = repeats(tmp_path, "new", [1.0, 1.0, 1.0], {"loss": 0.1 * MS})
    rows = diff(old, new, "--fail", check=1)
    assert rows["step_cpu", "loss"]["verdict"] == rows["push_pop", "loss"]["verdict"] == "new"
    assert {row["verdict"] for row in rows.values()} == {"new", "same"}
    assert diff(new, old, "--fail", check=1)["push_pop", "loss"]["verdict"] == "gone"
    diff(old, new, "--fail", "--allow", "l*ss")
    diff(new, old, "--fail", "--allow", "other", "--allow", "torch:loss")
    diff(old, new, "--fail", "--allow", "NVTX:loss", check=1)
    mixed = diff([*old, *repeats(tmp_path, "some", [1.0], {"loss": 0.1 * MS})], old, "--fail")
    assert mixed["push_pop", "loss"]["verdict"] == "unsure"


def test_what_is_unsure_is_said_and_fails_only_if_asked(sets, tmp_path):
    old, _, _ = sets
    noisy = repeats(tmp_path, "noisy", [0.9, 1.0, 1.1])
    done = run_nvspan("diff", "--fail", "--filter", "h2d", *old, "--", *noisy)
    assert done.stderr == "nvspan: unsure: torch:h2d; more runs of each side tell\n"
    run_nvspan("diff", "--fail", "--strict", "--filter", "h2d", *old, "--", *noisy, check=1)
    shown = run_nvspan("diff", "--fail", *old, "--", *noisy).stderr
    assert shown == "nvspan: unsure: step, h2d, forward and 5 more; more runs of each side tell\n"


def test_a_phase_and_its_range_do_not_contradict_each_other(tmp_path):
    """Outside of the steps the range became as much faster as it became slower within."""

    def run(i: int, within: float, outside: float) -> nvspan.Recording:
        path, at = tmp_path / f"{within}-{i}.nvspan", i * SECOND
        with (
            nvspan.writer.Session("loop", output=path) as session,
            session.create_stream("main", domain="torch") as stream,
        ):
            for _ in range(20):
                inner, outer = (round(time * (1 + 0.001 * i)) for time in (within, outside))
                stream.write_push(at, message="step")
                stream.write_pushpop(at, at + inner, message="forward")
                stream.write_pop(at + inner + MS)
                at += inner + 2 * MS
                stream.write_pushpop(at, at + outer, message="forward")
                at += outer + MS
        return nvspan.read(path)

    times = (5 * MS, 9 * MS), (8 * MS, 6 * MS)
    old, new = ([run(i, *pair) for i in range(3)] for pair in times)
    phase = {row["name"]: row["verdict"] for row in compare_steps(old, new)}["forward"]
    ranged = {row["name"]: row["verdict"] for row in compare(old, new)}["forward"]
    assert (phase, ranged) == ("slower", "same")
    steps, ranges = compare_all(old, new)
    assert {row["name"]: row["verdict"] for row in steps}["forward"] == "slower"
    assert {row["name"]: row["verdict"] for row in ranges}["forward"] == "unsure"


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
    assert (row["verdict"], row["before"]["runs"], row["before"]["calls"]) == ("unsure", 1, 160)
    assert row["change"] == pytest.approx(0, abs=1e-3)
    assert row["before"]["mean"] == pytest.approx(13.5 * MS)


def test_phases_that_one_side_lacks(tmp_path):
    old = nvspan.read(write_loop(tmp_path / "old.nvspan", {"load": 9 * MS, "train": 9 * MS}))
    new = nvspan.read(write_loop(tmp_path / "new.nvspan", {"train": 9 * MS, "save": 9 * MS}))
    found = {row["name"]: row["verdict"] for row in compare_steps(old, new)}
    assert found == {"step": "unsure", "load": "gone", "train": "unsure", "save": "new"}
    other = nvspan.read(write_loop(tmp_path / "few.nvspan", {"train": 9 * MS}, steps=8))
    with pytest.raises(ValueError, match="no range is called 'epoch'"):
        compare_steps(old, other, step="epoch")


def test_names_and_formats(sets):
    old, new, _ = sets
    shown = run_nvspan("diff", *old, "--", *new).stdout.splitlines()
    assert shown[0].split()[:8] == ["calls", "old", "calls", "new", "mean", "old", "mean", "new"]
    assert shown[-1] == "4 runs of old and 4 runs of new; all limits hold at once with 95%"
    shown = run_nvspan("diff", "--names", "main,branch", old[0], new[0]).stdout.splitlines()
    heads = "calls main  calls branch  mean main  mean branch  change  verdict  step"
    assert shown[0].split() == heads.split()  # no limits of one run a side
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
        (["--confidence", "1", "a", "b"], "must lie between 0% and 100%"),
        (["--strict", "a", "b"], "--strict and --allow go with --fail"),
        (["--allow", "load", "a", "b"], "--strict and --allow go with --fail"),
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
