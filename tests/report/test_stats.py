# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan stats`` on recordings of real programs."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import statistics
import sys

import pytest

import nvspan
from helpers.nsys import unpacked
from helpers.packages import needs
from helpers.recorded import record_command
from helpers.reported import PROGRAM, recording_of, run_nvspan
from helpers.terminal import on_a_terminal
from helpers.traced import needs_library, nvspan_command
from nvspan.recording.time_text import duration
from nvspan.report import render
from nvspan.report.summary import Summary
from nvspan.report.text import parse_duration
from nvspan.writer import Session

pytestmark = needs_library


def as_json(*arguments):
    return json.loads(run_nvspan("stats", "--format", "json", *arguments).stdout)


def durations(path):
    """(domain, name, kind) -> the durations and self times, computed here from the calls."""
    found = {}
    for row in nvspan.read(path).ranges.rows():
        if row["end"] is not None:
            key = (row["domain"], row["name"], ("push_pop", "start_end")[row["kind"]])
            found.setdefault(key, []).append((row["duration"], row["self"]))
    return found


def test_every_figure_is_that_of_the_calls():
    path = recording_of()
    found = as_json(path)
    expected = durations(path)
    rows = {(r["domain"], r["name"], r["kind"]): r for r in found["rows"] if r["calls"]}
    assert set(rows) == set(expected) == {
        ("data", "outer", "push_pop"), (None, "inner", "push_pop"), (None, "span a", "start_end"),
        (None, "span b", "start_end"), ("data", "handed over", "start_end"),
    }  # fmt: skip
    for key, values in expected.items():
        row, ns = rows[key], sorted(duration for duration, _ in values)
        assert row["calls"] == len(ns)
        assert row["total"] == sum(ns)
        assert row["self"] == (sum(s for _, s in values) if key[2] == "push_pop" else None)
        assert (row["min"], row["max"]) == (ns[0], ns[-1])
        assert row["mean"] == pytest.approx(statistics.mean(ns))
        assert row["std"] == pytest.approx(statistics.stdev(ns) if len(ns) > 1 else 0, rel=1e-6)
        for fraction in (0.5, 0.9, 0.99):
            exact = ns[math.ceil(fraction * len(ns)) - 1]
            assert row[f"p{round(100 * fraction)}"] == pytest.approx(exact, rel=0.01)
        assert row["share"] == pytest.approx(row["total"] / found["wall"] / row["threads"])
    assert rows["data", "outer", "push_pop"]["threads"] == 2


def test_self_time_counts_nothing_twice():
    rows = as_json(recording_of())["rows"]
    ranges = nvspan.read(recording_of()).ranges
    outermost = sum(
        end - row["start"]
        for row, end in zip(ranges.rows(), ranges["end"], strict=True)
        if row["kind"] == 0 and row["level"] == 0
    )
    # Clock ticks become ns for each range by itself, which loses less than one.
    whole = sum(row["self"] for row in rows if row["kind"] == "push_pop")
    assert outermost - len(ranges) <= whole <= outermost + len(ranges)


def test_what_is_missing_stands_on_top():
    found = as_json(recording_of())
    assert (found["unclosed"], found["orphans"], found["lost"]) == (1, 1, 0)
    row = next(row for row in found["rows"] if row["name"] == "never closed")
    assert (row["calls"], row["unclosed"], row["total"]) == (0, 1, row["open_time"])
    lines = run_nvspan("stats", "--flat", recording_of()).stdout.splitlines()
    assert lines[:2] == [
        "still open: 1 range; total, self and share have the time until the end",
        "unmatched: 1 range end without an open range",
    ]
    assert lines[2].split()[:5] == ["calls", "total", "self", "p50", "typical"]
    (never,) = (line for line in lines if "never" in line)
    assert never.split()[-5:] == ["never", "closed", "(1", "still", "open)"]


def test_lost_events_are_shown_with_thread_and_window(tmp_path):
    code = "import nvspan\nfor i in range(60000):\n    nvspan.push_range('r'); nvspan.pop_range()\n"
    made = record_command([sys.executable, "-c", code], mode="ring=0.1", folder=tmp_path)
    stats = Summary(made.recording).stats
    assert stats.gaps == len(stats.losses) == 1
    assert stats.losses[0].reason == "overwritten"
    assert stats.losses[0].begin < stats.losses[0].end
    shown = run_nvspan("stats", made.files[0]).stdout.splitlines()
    count = 120_000 - 2 * len(made.recording.ranges)
    assert as_json(made.files[0])["overwritten"] == count
    assert shown[0] == f"overwritten: {count:,} older events (a ring keeps only the newest)"
    assert shown[1].startswith(f"  {count:,} events of MainThread, ")
    assert shown[1].endswith(": overwritten")


@pytest.mark.parametrize("by", ["thread", "process", "category", "payload"])
def test_groups_add_up(by):
    whole = {(r["domain"], r["name"], r["kind"]): r for r in as_json(recording_of())["rows"]}
    calls, totals = {}, {}
    for row in as_json(recording_of(), "--by", by)["rows"]:
        key = (row["domain"], row["name"], row["kind"])
        calls[key] = calls.get(key, 0) + row["calls"]
        totals[key] = totals.get(key, 0) + row["total"]
    assert calls == {key: row["calls"] for key, row in whole.items()}
    assert totals == {key: row["total"] for key, row in whole.items()}


def test_groups_have_names():
    def of(by, name):
        rows = as_json(recording_of(), "--by", by, "--filter", name)["rows"]
        return sorted((row[by], row["calls"]) for row in rows)

    assert of("category", "outer") == [("io", 8)]
    assert of("payload", "outer") == [("0", 2), ("1", 2), ("2", 2), ("3", 1), ("4", 1)]
    assert of("payload", "inner") == [("0", 2), ("0.5", 2), ("1", 2), ("1.5", 1), ("2", 1)]
    assert [calls for _, calls in of("thread", "outer")] in ([3, 5], [5, 3])


def test_filter_sort_and_top():
    def names(*arguments):
        return [row["name"] for row in as_json(recording_of(), *arguments)["rows"]]

    assert sorted(names("--filter", "data:*")) == ["handed over", "outer"]
    assert set(names("--filter", "span ?", "--filter", "in*")) == {"inner", "span a", "span b"}
    assert names("--sort", "name") == sorted(
        names(), key=lambda name: f"data:{name}" if name in ("outer", "handed over") else name
    )
    assert names("--sort", "calls", "--top", 2) == names("--sort", "calls")[:2]
    run_nvspan("stats", recording_of(), "--sort", "colour", check=2)


def test_a_window_takes_what_begins_in_it():
    recording = nvspan.read(recording_of())
    origin = recording.processes[0].start
    starts = sorted(row["start"] - origin for row in recording.ranges.rows())
    middle = starts[len(starts) // 2]
    before = as_json(recording_of(), "--to", f"{middle}ns")["rows"]
    after = as_json(recording_of(), "--from", f"{middle}ns")["rows"]
    assert sum(row["calls"] + row["unclosed"] for row in before) == len(starts) // 2
    assert sum(row["calls"] + row["unclosed"] for row in after) == len(starts) - len(starts) // 2
    run_nvspan("stats", recording_of(), "--from", "soon", check=2)


def test_the_tree_has_every_path_once():
    shown = json.loads(run_nvspan("stats", "--tree", "--format", "json", recording_of()).stdout)
    rows = [(row["level"], row["label"], row["calls"], row["unclosed"]) for row in shown["rows"]]
    assert sorted(rows) == sorted([
        (0, "data:outer", 8, 0), (1, "inner", 8, 0), (0, "span a (start/end)", 1, 0),
        (0, "span b (start/end)", 1, 0), (0, "data:handed over (start/end)", 1, 0),
        (0, "never closed", 0, 1),
    ])  # fmt: skip
    at = rows.index((0, "data:outer", 8, 0))
    assert rows[at + 1] == (1, "inner", 8, 0)
    outer, inner = shown["rows"][at], shown["rows"][at + 1]
    assert outer["self"] == pytest.approx(outer["total"] - inner["total"], abs=16)
    lines = run_nvspan("stats", "--tree", recording_of()).stdout.splitlines()
    assert any(line.endswith("  inner") for line in lines)
    only = run_nvspan("stats", "--tree", "--filter", "inner", recording_of()).stdout.splitlines()
    assert [line.split()[-1] for line in only[2:3]] == ["inner"]
    assert only[3].startswith("share: of the ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tree", "--by", "thread"], "--by cannot be used with --tree"),
        (
            ["--gpu", "--sort", "self", "--by", "thread"],
            "--by and --sort cannot be used with --gpu",
        ),
        (["--compat", "nsys", "--sort", "name"], "--sort cannot be used with --compat"),
        (["--tree", "--gpu"], "--tree and --gpu cannot be used together"),
        (["--tree", "--flat"], "--tree and --flat cannot be used together"),
        (
            ["--tree", "--sort", "p99"],
            "a tree is sorted by total, self, calls, name, first, not p99",
        ),
        (["--ancestors"], "--ancestors is for the tree of what --filter takes"),
        (
            ["--flat", "--filter", "a", "--ancestors"],
            "--ancestors is for the tree of what --filter takes",
        ),
    ],
)
def test_an_option_without_effect_beside_another_is_an_error(options, said):
    done = run_nvspan("stats", *options, recording_of(), check=2)
    assert done.stderr.splitlines()[-1] == f"nvspan stats: error: {said}"


def test_csv_and_markdown_hold_the_same():
    expected = as_json(recording_of())["rows"]
    done = run_nvspan("stats", "--format", "csv", recording_of())
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(r["name"], int(r["calls"]), float(r["total"])) for r in rows] == [
        (r["name"], r["calls"], r["total"]) for r in expected
    ]
    assert "still open: 1" in done.stderr
    shown = run_nvspan("stats", "--format", "markdown", recording_of()).stdout
    lines = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(expected)
    assert len({line.count(" | ") for line in lines}) == 1


def test_several_files_are_read_together():
    single = as_json(recording_of())
    other = recording_of(PROGRAM)
    both = as_json(recording_of(), other)
    assert len(both["processes"]) == 2
    assert {row["name"]: row["calls"] for row in both["rows"]} == {
        row["name"]: row["calls"] * (2 if row["calls"] else 1) for row in single["rows"]
    }
    groups = as_json(recording_of(), other, "--by", "process", "--filter", "inner")["rows"]
    assert [row["calls"] for row in groups] == [8, 8]


def test_rows_that_are_mostly_overhead_are_flagged():
    path = recording_of("import nvspan\nfor i in range(999):\n    nvspan.push_range('tiny')\n"
                        "    nvspan.pop_range()\n")  # fmt: skip
    row = as_json(path)["rows"][0]
    header = nvspan.read(path).processes[0]
    assert row["overhead"] == pytest.approx(999 * header.inner_cost)
    assert row["overhead_share"] == pytest.approx(row["overhead"] / row["total"])
    flagged = row["overhead_share"] > 0.1
    assert (" ns for each event" in run_nvspan("stats", path).stdout) == flagged


def test_overhead_inside_a_range_counts():
    path = recording_of(
        "import nvspan\nwith nvspan.annotate('all'):\n    for i in range(50):\n"
        "        with nvspan.annotate('one'):\n            nvspan.mark('m')\n"
    )
    rows = {row["name"]: row for row in as_json(path)["rows"]}
    header = nvspan.read(path).processes[0]
    event, inner = header.event_cost, header.inner_cost
    assert rows["one"]["overhead"] == pytest.approx(50 * (inner + event))
    assert rows["all"]["overhead"] == pytest.approx(inner + 150 * event)


def test_statistics_without_events_are_shown_as_well(tmp_path):
    code = "import nvspan\nfor i in range(1000):\n    nvspan.push_range('s'); nvspan.pop_range()\n"
    made = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    (row,) = as_json(made.files[0])["rows"]
    assert (row["name"], row["calls"]) == ("s", 1000)


def test_names_of_every_kind_are_one_line_each():
    names = ["", "tab\there", "line\nbreak", "ümläut", "a|b", "x" * 3000]
    path = recording_of(f"import nvspan\nfor n in {names!r}:\n    nvspan.push_range(n)\n"
                        "    nvspan.pop_range()\n")  # fmt: skip
    shown = run_nvspan("stats", path, "--sort", "name").stdout.splitlines()
    notes = ("share: ", "typical: ", "overhead: ")
    assert len([line for line in shown if not line.startswith(notes)]) - 1 == len(names)
    assert any(line.endswith("line\\nbreak") for line in shown)
    assert any(line.endswith("ümläut") for line in shown)
    assert {row["name"] for row in as_json(path)["rows"]} == set(names)


@needs("rich")
def test_on_a_terminal_it_is_a_rich_table():
    output = on_a_terminal("stats", "--flat", recording_of(), COLUMNS="200", TERM="xterm-256color")
    assert "\x1b[" in output
    assert "data:outer" in output


@needs("rich")
def test_a_narrow_terminal_shows_names_beside_the_figures_of_the_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    recording = nvspan.read(unpacked("2025.3.2-nodes", tmp_path))
    summary = Summary(recording.filter(match=["train:*", "side device range"]))
    shown = io.StringIO()
    assert render.rich_table(summary, shown)
    lines = shown.getvalue().splitlines()
    assert lines[0].split() == ["calls", "total", "p50", "share", "gpu_calls", "gpu_total", "name"]
    assert any(line.rstrip().endswith("train:forward") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_result_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        done = nvspan_command("stats", recording_of(), stdout=full)
    assert done.returncode == 1
    assert done.stderr == "nvspan: cannot write to standard output: No space left on device\n"


def test_what_cannot_be_read_is_one_line(tmp_path):
    assert run_nvspan("stats", tmp_path / "none", check=1).stderr == (
        f"nvspan stats: cannot read '{tmp_path / 'none'}': No such file or directory\n"
    )
    (tmp_path / "text").write_text("no recording" * 1000)
    assert run_nvspan("stats", tmp_path / "text", check=1).stderr.count("\n") == 1


def test_times_are_parsed_and_written():
    given = {"1.5": 1_500_000_000, "2s": 2_000_000_000, "20ms": 20_000_000, "7us": 7000, "5ns": 5}
    assert {word: parse_duration(word) for word in given} == given
    assert [duration(ns) for ns in (0, 999, 1000, 1234567, 2.5e9)] == [
        "0 ns", "999 ns", "1.00 us", "1.23 ms", "2.50 s",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def many_names(tmp_path_factory):
    """150 ranges of different names: request N lasts N us; the odd ones begin before the even."""
    path = tmp_path_factory.mktemp("many") / "many.nvspan"
    with (
        Session("many", output=str(path)) as session,
        session.create_stream("core 0", domain="app") as stream,
    ):
        for number in range(1, 151):
            begin = (number if number % 2 else 1000 - number) * 1_000_000
            stream.write_pushpop(begin, begin + number * 1000, message=f"request {number}")
    return path


def names_of(table):
    return [line.split()[-1] for line in table.splitlines() if "app:request" in line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], range(150, 50, -1)),
        (["--top", "3"], (150, 149, 148)),
        (["--top", "all"], range(150, 0, -1)),
        (["--sort", "first", "--top", "3"], (1, 3, 5)),
        (["--sort", "name", "--top", "3"], (1, 10, 100)),
        (["--sort", "share", "--top", "2"], (150, 149)),
        (["--sort", "self"], range(150, 50, -1)),
    ],
)
def test_a_table_of_many_names_has_the_first_100(many_names, words, expected):
    done = run_nvspan("stats", *words, many_names)
    expected = list(expected)
    assert names_of(done.stdout) == [str(number) for number in expected]
    is_limited = "--top" not in words
    said = "nvspan: 100 of 150 rows; '--top all' shows every row\n" if is_limited else ""
    assert done.stderr == said
    more = [line for line in done.stdout.splitlines() if line.startswith("... and ")]
    assert more == ([f"... and {150 - len(expected)} more"] if len(expected) < 150 else [])


def test_csv_and_json_have_every_row(many_names):
    done = run_nvspan("stats", "--format", "csv", many_names)
    assert (done.stdout.count("\n"), done.stderr) == (151, "")
    assert len(as_json(many_names)["rows"]) == 150
    assert len(as_json("--top", "3", many_names)["rows"]) == 3
