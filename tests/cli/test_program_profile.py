# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan --profile program``: the calls of the program as ranges, and nothing of our own."""

from __future__ import annotations

import sys

import pytest

from helpers.like_python import assert_same
from helpers.traced import needs_library, run_command

pytest.importorskip("nvspan.profiler")
pytestmark = needs_library

PROGRAM = """\
import sys
def outer(n):
    inner(n)
def inner(n):
    if n: raise SystemExit(n)
outer(0)
outer(int(sys.argv[1]))
"""
FORMS = ["script", "module", "code", "stdin", "folder"]


def command_of(form, tmp_path, text=PROGRAM):
    for path in (tmp_path / "program.py", tmp_path / "app" / "__main__.py"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return {"script": [tmp_path / "program.py"], "module": ["-m", "app"], "code": ["-c", text],
            "stdin": ["-"], "folder": [tmp_path / "app"]}[form]  # fmt: skip


def profiled(form, tmp_path, *arguments, text=PROGRAM):
    command = [sys.executable, "-m", "nvspan", "--profile", *command_of(form, tmp_path, text)]
    return run_command(
        [str(word) for word in (*command, *arguments)], check=False,
        stdin=text if form == "stdin" else None, env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip


def ranges(done):
    return [(e["kind"], e["message"].partition(":")[2]) for e in done.of_kind("push", "pop")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [0, 3])
def test_the_calls_of_the_program_and_no_others(tmp_path, form, status):
    done = profiled(form, tmp_path, status)
    assert done.returncode == status, done.stderr
    calls = [
        ("push", "2(outer)"), ("push", "4(inner)"), ("pop", "4(inner)"), ("pop", "2(outer)"),
    ] * 2  # fmt: skip
    assert ranges(done) == [("push", "1(<module>)"), *calls, ("pop", "1(<module>)")]
    assert done.of_kind("unclosed") == []


def test_it_changes_nothing_else(tmp_path):
    for ending in ("1/0", "raise KeyboardInterrupt", "import sys; sys.exit('text')"):
        text = f"def f():\n    {ending}\nf()\n"
        for form in FORMS:
            arguments = command_of(form, tmp_path, text)
            assert_same(
                "python -m nvspan", arguments, nvspan_options=["--profile"], cwd=tmp_path,
                stdin=text if form == "stdin" else "",
            )  # fmt: skip


def test_threads_that_outlive_the_main_one_are_shown(tmp_path):
    text = (
        "import threading, time\n"
        "def late(): pass\n"
        "def work():\n    time.sleep(.3); late()\n"
        "threading.Thread(target=work).start()\n"
    )
    done = profiled("script", tmp_path, text=text)
    assert done.returncode == 0, done.stderr
    own = [pair for pair in ranges(done) if pair[1] in ("3(work)", "2(late)")]
    assert own == [("push", "3(work)"), ("push", "2(late)"), ("pop", "2(late)"),
                   ("pop", "3(work)")]  # fmt: skip
    assert not [event for event in done.of_kind("push") if "run.py" in event["message"]]
    assert len(done.of_kind("push")) == len(done.of_kind("pop"))
    assert done.of_kind("unclosed") == []
