# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""--help of every command at 80 columns, and errors that name the nearest right spelling."""

from __future__ import annotations

import importlib
from itertools import pairwise
from pathlib import Path

import pytest

from helpers.reported import run_nvspan
from nvspan.cli import _MOVED, COMMANDS, GROUPS, _command, _help

CALLS = Path(__file__).parent.parent / "corpus" / "calls.nvspan"


@pytest.fixture(autouse=True)
def _columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_into_80_columns(command, capsys):
    with pytest.raises(SystemExit) as ended:
        _command(command)(["--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"usage: nvspan {command}")
    assert [line for line in lines if len(line) > 80] == []
    # A paragraph of the description fills its lines: the next line's first word had no room.
    prose = [line for line in lines if line and not line.startswith((" ", "usage:"))]
    short = [
        (line, after) for line, after in pairwise(lines)
        if line in prose and after in prose and len(line) + 1 + len(after.split()[0]) <= 78
    ]  # fmt: skip
    assert short == []


def test_help_of_nvspan_fits_into_80_columns():
    assert [line for line in _help().splitlines() if len(line) > 80] == []
    assert all(name in _help() for name in (*COMMANDS, "--include PATTERN", "--show-stdlib"))


def test_help_of_nvspan_shows_the_commands_in_groups():
    found = {}
    for line in _help().splitlines():
        if line in GROUPS:
            named = found[line] = []
        elif found and line.startswith("  ") and line[2].islower():
            named.append(line.split()[0])
    assert list(found.values()) == [
        ["record", "trace", "nsys", "ncu"],
        [
            "explain",
            "steps",
            "modules",
            "kernels",
            "stats",
            "diff",
            "report",
            "view",
            "export",
            "mcp",
        ],
        ["where", "top", "attach", "detach", "trigger", "metrics", "ranks"],
        ["doctor"],
    ]


@pytest.mark.parametrize("name", _MOVED)
def test_a_command_that_moved_answers_with_one_line(name):
    done = run_nvspan(name, "x", "--option", check=2)
    assert (done.stdout, done.stderr) == ("", f"nvspan {name}: {_MOVED[name]}\n")
    assert {"start", "stop", "blackbox", "clock", "import", "mark", "otlp"} == set(_MOVED)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sats", "x.nvspan"], "no command or file is called 'sats'; the nearest is 'stats'"),
        (["recrod", "x.py"], "no command or file is called 'recrod'; the nearest is 'record'"),
        (["--profil", "x.py"], "unknown option: --profil; the nearest is '--profile'"),
        (["stats", "--tre", CALLS], "unrecognized arguments: --tre; the nearest is '--tree'"),
        (["record", "--mod", "x.py"], "unrecognized arguments: --mod; the nearest is '--mode'"),
        (["diff", "--thresold=5%", CALLS, CALLS], "the nearest is '--threshold'"),
        (["stats", "--format", "tabel", CALLS],
         "argument --format: 'tabel' is not one of table, csv, json, markdown; the nearest is "
         "'table'"),
        (["export", "--format", "perfeto", CALLS], "the nearest is 'perfetto'"),
        (["trace", "--format", "jsnl", "x.py"], "the nearest is 'jsonl'"),
        (["stats", "--compat", "nsyss", CALLS], "the nearest is 'nsys'"),
        (["stats", "--sort", "totl", CALLS], "the nearest is 'total'"),
        (["stats", "--by", "thred", CALLS], "the nearest is 'thread'"),
    ],
)  # fmt: skip
def test_the_nearest_spelling(words, said):
    done = run_nvspan(*words, check=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_format_of_chrome_answers_with_what_to_write():
    assert run_nvspan("export", "--format", "chrome", CALLS, check=2).stderr == (
        "nvspan export: Chrome's JSON is not written: export with --format perfetto, and convert "
        "that with Perfetto's traceconv (traceconv json run.pftrace run.json)\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["modules", "--domain", "dat", CALLS], "no domain is called 'dat'"),
        (["steps", "--step", "oute", CALLS], "no range is called 'oute'; the nearest"),
        (["steps", "--phases", "inne", CALLS], "no range is called 'inne'; the nearest"),
    ],
)
def test_the_nearest_name_of_the_recording(words, said):
    from helpers.reported import recording_of

    words = [recording_of() if word is CALLS else word for word in words]
    done = run_nvspan(*words, check=1)
    assert said in done.stderr


def test_a_program_that_is_not_there_gets_pythons_message_unless_it_is_nearly_a_command():
    assert "can't open file" in run_nvspan("sats.py", check=2).stderr
    assert "can't open file" in run_nvspan("zzzz", check=2).stderr


def test_every_command_has_the_parser_that_all_have():
    for name in COMMANDS:
        module = importlib.import_module(_command(name).__module__)
        assert "argparse.ArgumentParser(" not in Path(module.__file__).read_text()


@pytest.mark.parametrize(
    ("words", "use"),
    [
        (["stats", "x.ncu-rep"], "--read x.ncu-rep"),
        (["stats", "--many", "a.nvspan", "x.ncu-rep"], "--read a.nvspan --read x.ncu-rep"),
        (["diff", "x.ncu-rep", "y.ncu-rep"], "--read y.ncu-rep --against x.ncu-rep"),
    ],
)
def test_reports_of_nsight_compute_have_a_command_of_their_own(words, use):
    assert run_nvspan(*words, check=2).stderr == (
        f"nvspan {words[0]}: for reports of Nsight Compute use nvspan ncu {use}\n"
    )
