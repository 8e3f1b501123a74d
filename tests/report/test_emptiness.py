# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands say where there is nothing to show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers.reported import recording_of, run_nvspan
from nvspan.recording.nearest import nearest
from nvspan.report.viewer import ui_folder

CORPUS = Path(__file__).parent.parent / "corpus"
CALLS = CORPUS / "calls.nvspan"
STATS = CORPUS / "stats.nvspan"
PAYLOADS = CORPUS / "payloads.nvspan"
EVENTLESS = (
    f"{STATS}: recorded with --mode stats, which keeps no single events: {{}} shows none of its "
    "ranges; 'nvspan stats' shows their statistics"
)
RANGES = """
import nvspan
for _ in range(3):
    with nvspan.annotate("forward", domain="train"):
        pass
    nvspan.mark("tick", domain="train")
"""
MARKS = "import nvspan\nnvspan.mark('a'); nvspan.mark('b')\n"


def _notes(*arguments, check=0):
    done = run_nvspan(*arguments, check=check)
    assert "Traceback" not in done.stderr
    return done.stdout, [
        line.removeprefix("nvspan: ")
        for line in done.stderr.splitlines()
        if line.startswith("nvspan: ")
    ]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("forwrd", "no range matches --filter 'forwrd'; did you mean 'forward'?"),
        ("train:forwrd", "no range matches --filter 'train:forwrd'; did you mean 'train:forward'?"),
        (
            "trian:*",
            "no range matches --filter 'trian:*': the recording has no domain 'trian'; did you "
            "mean 'train'?",
        ),
        ("zzzz", "no range matches --filter 'zzzz'"),
        ("tick", "--filter matches only marks or counters, no range"),
    ],
)
@pytest.mark.parametrize("command", [["stats"], ["stats", "--format", "csv"], ["stats", "--tree"]])
def test_a_pattern_that_matches_nothing(command, pattern, sentence):
    shown, notes = _notes(*command, "--filter", pattern, recording_of(RANGES))
    assert notes == [sentence]
    rows = [line for line in shown.splitlines() if "forward" in line]
    assert rows == []


def test_one_pattern_of_two_that_matches_nothing():
    shown, notes = _notes("stats", "--filter", "*ward", "--filter", "bckward", recording_of(RANGES))
    assert "train:forward" in shown
    assert notes == ["no range matches --filter 'bckward'; did you mean 'forward'?"]


def test_other_commands_say_it_too(tmp_path):
    path = recording_of(RANGES)
    sentence = "no range matches --filter 'forwrd'; did you mean 'forward'?"
    for format in ("csv", "sqlite", "perfetto"):
        arguments = ("export", "--format", format, "-o", tmp_path / "out", path)
        assert _notes(*arguments, "--filter", "forwrd")[1] == [sentence]
    assert _notes("report", "-o", tmp_path / "a.html", path, "--filter", "forwrd")[1] == [sentence]
    shown, notes = _notes("diff", path, path, "--filter", "forwrd")
    assert notes == [
        sentence, sentence, f"A ({path}) holds no ranges to compare",
        f"B ({path}) holds no ranges to compare",
    ]  # fmt: skip
    said = "one run of each: a change cannot be told from drift of the machine"
    assert shown == f"no ranges\n\nnothing slower by more than 5%\n{said}\n"


def test_times_in_which_nothing_begins():
    _, notes = _notes("stats", "--from", "100s", "--to", "101s", recording_of(RANGES))
    (note,) = notes
    assert note.startswith("no selected range starts between 100 s and 101 s; the last range ")


def test_a_recording_without_ranges(tmp_path):
    path = recording_of(MARKS)
    for command in (["stats"], ["stats", "--format", "json"], ["stats", "--filter", "a"]):
        assert _notes(*command, path)[1] == ["the recording holds no ranges; it has 2 marks"]
    assert _notes("stats", path)[0] == "no ranges\n"
    assert _notes("stats", "--format", "markdown", path)[0] == "no ranges\n"
    assert json.loads(_notes("stats", "--format", "json", path)[0])["rows"] == []
    assert _notes("stats", "--tree", path)[0] == "no ranges\n"


@pytest.mark.parametrize(
    ("arguments", "what", "first"),
    [
        (["stats", "--tree"], "the tree", "no ranges"),
        (["stats", "--compat", "nsys"], "this table", "no ranges"),
        (
            ["stats", "--tree", "--format", "csv"],
            "the tree",
            "parent,domain,name,kind,backward,calls",
        ),
        (["stats", "--compat", "nsys", "--format", "csv"], "this table", "Time (%),Total Time"),
    ],
)
def test_recordings_of_statistics_have_no_events(arguments, what, first):
    shown, notes = _notes(*arguments, STATS)
    assert shown.startswith(first)
    assert notes == [EVENTLESS.format(what)]


def test_recordings_of_statistics_make_empty_files(tmp_path):
    for format in ("csv", "sqlite", "perfetto"):
        output = tmp_path / f"out.{format}"
        shown, notes = _notes("export", "--format", format, "-o", output, STATS)
        assert shown == f"{output}\n"
        assert notes == [EVENTLESS.format("the export")]
    _, notes = _notes("report", "-o", tmp_path / "a.html", STATS)
    assert notes == [EVENTLESS.format("the timeline")]


def test_view_says_that_the_timeline_is_empty(tmp_path):
    if ui_folder() is not None:
        pytest.skip("the viewer is installed, and would serve")
    done = run_nvspan("view", STATS, check=1, cwd=tmp_path)
    assert EVENTLESS.format("the timeline") in done.stderr


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [(["--by", "payload"], "payloads"), (["--by", "stream"], "streams"),
     (["--by", "device"], "streams")],
)  # fmt: skip
def test_groups_that_recordings_of_statistics_do_not_have(arguments, kept):
    shown, notes = _notes("stats", *arguments, "--format", "json", STATS)
    assert notes == [
        f"{STATS}: recorded with --mode stats, which keeps no {kept}: {' '.join(arguments)} does "
        "not apply"
    ]
    if kept == "payloads":
        assert {row["payload"] for row in json.loads(shown)["rows"]} == {"-"}


@pytest.mark.parametrize("what", ["steps", "modules"])
def test_answers_that_recordings_of_statistics_do_not_hold(what, tmp_path):
    other = shutil.copy(STATS, tmp_path)
    done = run_nvspan(what, STATS, other, check=1)
    assert done.stdout == ""
    assert done.stderr == (
        f"nvspan {what}: {STATS} and 1 more have no {what}: --mode stats keeps totals, not "
        "events; record with --mode ring=64 instead\n"
    )


def test_what_else_recordings_of_statistics_do_not_hold():
    shown, notes = _notes("stats", "--gpu", STATS)
    assert (shown, notes) == (
        "no range launched work of a GPU\n", [EVENTLESS.format("this table")],
    )  # fmt: skip
    done = run_nvspan("stats", "--by", "payload.x", STATS, check=1)
    assert done.stderr.splitlines()[-1] == (
        "nvspan stats: --by: no range has a payload field 'x': recorded with --mode stats, which "
        "keeps no payloads"
    )
    shown, notes = _notes("explain", "--json", STATS)
    document = json.loads(shown)
    assert (document["findings"], notes) == ([], [])
    assert " (totals only: --mode stats): " in document["headline"]
    assert document["next"] == (
        "record with --mode ring=64 to see steps; it bounds the file as well"
    )
    shown, notes = _notes("explain", STATS, CALLS)
    assert notes == [EVENTLESS.format("this answer")]
    assert _notes("diff", STATS, STATS)[1] == []  # ranges have statistics to compare
    done = run_nvspan("diff", "--step", "*", STATS, STATS, check=1)
    assert "has no steps: --mode stats keeps totals" in done.stderr


def test_times_do_not_apply_to_recordings_of_statistics():
    shown, notes = _notes("stats", "--from", "1s", STATS)
    assert "range" in shown
    assert notes == [
        f"{STATS}: recorded with --mode stats, which keeps no times: --from and --to do not apply"
    ]


@pytest.mark.parametrize("by", ["device", "stream"])
def test_groups_of_devices_without_device_ranges(by):
    shown, notes = _notes("stats", "--by", by, CALLS)
    assert shown.splitlines()[-1] == "no ranges"
    assert notes == [
        f"--by {by} groups device ranges, and there are none here; annotate(device=True) and "
        "device_range record them"
    ]
    assert _notes("stats", "--by", by, CORPUS / "device.nvspan")[1] == []


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("stpe", "no range has a payload field 'stpe'; the nearest is 'step' (fields: comm, "
         "bytes, op, name, kind, step)"),
        ("zz", "no range has a payload field 'zz' (fields: comm, bytes, op, name, kind, "
         "step)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("format", ["table", "csv", "json", "markdown"])
def test_an_unknown_field_is_named_with_the_nearest(field, sentence, format):
    done = run_nvspan("stats", "--by", f"payload.{field}", "--format", format, PAYLOADS, check=1)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == f"nvspan stats: --by: {sentence}"
    assert _notes("stats", "--by", "payload.step", PAYLOADS)[1] == []


def test_groups_of_what_no_range_has():
    path = recording_of(RANGES)
    assert _notes("stats", "--by", "payload", path)[1] == [
        "--by payload: no range here has a payload"
    ]
    assert _notes("stats", "--by", "category", path)[1] == [
        "--by category: no range here has a category"
    ]
    done = run_nvspan("stats", "--by", "payload.x", path, check=1)
    assert done.stderr.endswith(
        "no range has a payload field 'x'; no range here has a payload with fields\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--sort", "men"], "argument --sort: there is no column 'men'; the nearest is 'mean'"),
        (["--by", "thred"], "argument --by: 'thred' is not one of thread, process, rank, category, "
         "payload, device, stream, payload.FIELD; the nearest is 'thread'"),
    ],
)  # fmt: skip
def test_an_unknown_column_is_named_with_the_nearest(arguments, sentence):
    done = run_nvspan("stats", *arguments, CALLS, check=2)
    assert done.stderr.splitlines()[-1].startswith(f"nvspan stats: error: {sentence}")


@pytest.mark.parametrize("top", ["0", "-3", "x"])
def test_a_number_of_rows_is_one_or_more(top):
    done = run_nvspan("stats", "--top", top, CALLS, check=2)
    assert "argument --top: " in done.stderr


def test_record_says_which_domains_were_asked_for(tmp_path):
    done = run_nvspan(
        "record", "-o", tmp_path / "a.nvspan", "--domains", "trian,other", "-c", RANGES
    )
    assert "no range of the domains trian, other was recorded" in done.stderr
    done = run_nvspan(
        "record", "-o", tmp_path / "b.nvspan", "--min-duration", str(10**12), "-c", RANGES
    )
    assert "no range of 1000 s or longer was recorded" in done.stderr


def test_the_nearest_name():
    assert nearest("stpe", ["loss", "step"]) == ["step"]
    assert nearest("x", []) == []
