# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``--profile`` and ``--as-nvtx`` with ``nvspan trace`` and ``nvspan record``."""

from __future__ import annotations

import pytest

import nvspan
from helpers.events import plain
from helpers.traced import needs_library, nvspan_command, python, read_events
from nvspan import launch

PROGRAM = """\
import sys
import nvtx
def work(text):
    with nvtx.annotate(text, domain="third"):
        nvtx.mark(nvtx.annotate.__module__)
if __name__ == "__main__":
    work(" ".join(sys.argv[1:]))
"""
WITH_CHILDREN = """\
import multiprocessing, subprocess, sys
from program import work
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.map(work, ["spawned"])
        pool.close(); pool.join()
    subprocess.run([sys.executable, "-c", "import program; program.work('started')"], check=True)
"""
CALLS = """\
def outer(): inner()
def inner(): pass
outer()
"""
FORMS = {
    "script": ["program.py"],
    "module": ["-m", "program"],
    "code": ["-c", PROGRAM],
    "stdin": ["-"],
    "folder": ["app"],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    for name, text in {
        "program.py": PROGRAM, "record": PROGRAM, "app/__main__.py": PROGRAM, "calls.py": CALLS,
        "children.py": WITH_CHILDREN,
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    return tmp_path


def command(folder, *words, stdin="", env=None):
    environment = {"PYTHONPATH": str(folder), **(env or {})}
    return nvspan_command(*words, env=environment, cwd=folder, input=stdin)


def traced(folder, *words, **options):
    """The events that ``nvspan trace`` with these words wrote into a file."""
    words = [word if word != "OUT" else folder / "trace.jsonl" for word in words]
    done = command(folder, *words, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return read_events(folder / "trace.jsonl")


def recorded(folder, *words, **options):
    """The ranges and marks that ``nvspan record`` with these words wrote, in their order."""
    words = [word if word != "OUT" else folder / "run-{pid}.nvspan" for word in words]
    done = command(folder, *words, **options)
    assert done.returncode == 0, done.stderr
    files = list(folder.glob("run-*.nvspan"))
    assert sum(line.startswith("saved  ") for line in done.stderr.splitlines()) == len(files)
    return list(nvspan.read(*files).calls())


def annotated(text):
    return [f"push [third] '{text}' depth=0", "mark [] 'nvspan'", f"pop [third] '{text}' depth=0"]


TRACE = ["trace", "--format", "jsonl", "-o", "OUT"]
RECORD = ["record", "-o", "OUT", "--domains", "third,NVTX"]


@needs_library
@pytest.mark.parametrize("form", FORMS)
def test_as_nvtx_with_every_form_of_a_program(folder, form):
    stdin = PROGRAM if form == "stdin" else ""
    words = ["--as-nvtx", *FORMS[form], "a", "--as-nvtx", "-o"]
    expected = annotated("a --as-nvtx -o")
    assert plain(traced(folder, *TRACE, *words, stdin=stdin)) == expected
    assert plain(recorded(folder, *RECORD, *words, stdin=stdin)) == expected


@needs_library
@pytest.mark.parametrize(
    "words",
    [
        ["--as-nvtx", "trace", "--format", "jsonl", "-o", "OUT"],
        ["trace", "--as-nvtx", "--format=jsonl", "-o", "OUT"],
        ["trace", "--format", "jsonl", "--as-nvtx", "-o", "OUT"],
        ["trace", "--format", "jsonl", "-o", "OUT", "--as-nvtx", "--as-nvtx"],
    ],
    ids=" ".join,
)
def test_options_may_stand_anywhere_before_the_program(folder, words):
    assert plain(traced(folder, *words, "program.py", "x")) == annotated("x")


@needs_library
def test_a_script_may_be_called_as_a_command_is(folder):
    assert plain(recorded(folder, *RECORD, "--as-nvtx", "record", "x")) == annotated("x")


@needs_library
@pytest.mark.parametrize("form", ["script", "module", "code"])
@pytest.mark.parametrize("options", [["--profile"], ["--profile", "--as-nvtx"]], ids=" ".join)
def test_profile_shows_the_calls_of_the_program_and_no_others(folder, form, options):
    program = {"script": ["calls.py"], "module": ["-m", "calls"], "code": ["-c", CALLS]}[form]
    names = ["1(<module>)", "1(outer)", "2(inner)"]
    expected = [("push", name) for name in names] + [("pop", name) for name in reversed(names)]
    for events in (
        traced(folder, *TRACE, *options, *program),
        recorded(folder, "record", "-o", "OUT", *options, *program),
    ):
        shown = [event for event in events if event["kind"] in ("push", "pop", "unclosed")]
        found = [(event["kind"], event["message"].partition(":")[2]) for event in shown]
        assert found == expected


@needs_library
def test_processes_below_have_nvspan_as_nvtx(folder):
    expected = annotated("spawned") + annotated("started")
    assert plain(traced(folder, *TRACE, "--as-nvtx", "children.py")) == expected
    assert plain(recorded(folder, *RECORD, "--as-nvtx", "children.py")) == expected


@needs_library
def test_the_options_of_the_interpreter_and_the_exit_code_are_kept(folder):
    code = "import sys; print(sys.flags.dev_mode, sys.argv, sys.path[0]); sys.exit(7)"
    for name in ("trace", "record"):
        words = (name, "--as-nvtx", "-c", code, "x")
        done = python("-X", "dev", "-m", "nvspan", *words, cwd=folder)
        assert done.returncode == 7
        assert done.stdout.startswith("True ['-c', 'x'] ")


@needs_library
def test_another_tool_is_left_alone_and_the_options_hold(folder):
    code = "import nvtx; print(nvtx.annotate.__module__)"
    for name in ("trace", "record"):
        tool = {launch.INJECTION_VARIABLE: "/some/tool.so"}
        done = command(folder, name, "--as-nvtx", "-c", code, env=tool)
        assert (done.returncode, done.stdout) == (0, "nvspan\n")
        assert "NVTX loads another tool" in done.stderr


@pytest.mark.parametrize("name", ["trace", "record"])
@pytest.mark.parametrize("options", [["--as-nvtx"], ["--profile"], ["--profile", "--as-nvtx"]])
def test_a_command_that_need_not_be_python_takes_none(folder, name, options):
    done = command(folder, name, *options, "--", "sh", "-c", "echo ran")
    flags = " and ".join(options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        f"nvspan {name}: error: {flags} cannot be used with a command after '--', only with a "
        f"Python program: nvspan {name} {' '.join(options)} script.py, -m module or -c code"
    )


def test_commands_that_run_no_program_take_none(folder):
    done = command(folder, "--as-nvtx", "stats", "run.nvspan")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "nvspan: error: --as-nvtx cannot be used with 'stats', which runs no program"
    )
    assert command(folder, "stats", "--as-nvtx", "run.nvspan").returncode == 2


@pytest.mark.parametrize("name", ["trace", "record"])
def test_help_names_the_options(folder, name):
    text = command(folder, name, "--help").stdout
    assert "--profile" in text
    assert "--as-nvtx" in text
