# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan trace``: what it runs, and what stays the program's own."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

import nvspan
from helpers.traced import (
    clean_environment,
    needs_library,
    nvspan_command,
    python,
    read_events,
)
from nvspan import launch

SHOW = "import sys; print(sys.argv[1:])"


def untraced(program):
    """The last line of a program without a call."""
    how = f"to trace every function: nvspan trace --profile {program}"
    return f"nvspan trace: the program made no NVTX call; {how}\n"


def trace(*arguments, **options):
    return nvspan_command("trace", *arguments, **options)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import sys, nvspan\n"
        "import sibling\n"
        "with nvspan.annotate('program', domain='d'): print(sys.argv[1:], sibling.VALUE)\n"
    )
    (tmp_path / "sibling.py").write_text("VALUE = 'sibling'\n")
    return path


@needs_library
def test_a_script_has_its_options_and_its_folder(script, tmp_path):
    out = tmp_path / "trace.jsonl"
    done = trace("--format", "jsonl", "-o", out, script, "--format", "x", "-o", "y", "--", "-m")
    assert done.stdout == "['--format', 'x', '-o', 'y', '--', '-m'] sibling\n"
    assert (done.returncode, done.stderr) == (0, "")
    calls = [(event["kind"], event.get("message")) for event in read_events(out)]
    assert calls[-2:] == [("push", "program"), ("pop", "program")]


@needs_library
def test_a_module(script, tmp_path):
    done = trace("-m", "program", "-x", cwd=tmp_path)
    assert done.stdout == "['-x'] sibling\n"
    assert "program" in done.stderr


@needs_library
def test_code():
    done = trace("--format=jsonl", "-c", SHOW, "-c", "x")
    assert (done.stdout, done.stderr, done.returncode) == ("['-c', 'x']\n", "", 0)


@needs_library
def test_a_command(tmp_path):
    done = trace("--", sys.executable, "-c", "import nvspan; nvspan.mark('m')", "--", "a")
    assert "m" in done.stderr
    assert done.stdout == ""


@needs_library
def test_the_interpreters_own_options_are_kept():
    command = [sys.executable, "-X", "dev", "-O", "-m", "nvspan", "trace", "-c",
               "import sys; print(sys.flags.dev_mode, sys.flags.optimize)"]  # fmt: skip
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True)
    assert done.stdout == "True 1\n"


@needs_library
@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_the_exit_code_is_the_programs(code):
    assert trace("-c", f"import sys; sys.exit({code})").returncode == code


@needs_library
def test_a_signal_kills_the_program_itself():
    done = trace("--", "sh", "-c", "kill -TERM $$")
    assert done.returncode == -signal.SIGTERM
    shell = f"{sys.executable} -m nvspan trace -- sh -c 'kill -KILL $$'; echo $?"
    done = subprocess.run(["sh", "-c", shell], env=clean_environment(), capture_output=True)
    assert done.stdout == b"137\n"


@needs_library
def test_the_process_is_the_programs_own():
    command = [sys.executable, "-m", "nvspan", "trace", "-c", "import os; print(os.getpid())"]
    process = subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(timeout=60)
    assert int(output) == process.pid


@needs_library
def test_standard_input_and_output_are_the_programs():
    code = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    done = trace("-c", code, stdin=None, input="text\n")
    assert (done.stdout, done.stderr) == ("TEXT\n", untraced(f"-c '{code}'"))


@needs_library
def test_signals_that_python_ignores_are_not_ignored_in_the_program():
    done = trace("--", "sh", "-c", "grep SigIgn /proc/self/status")
    ignored = int(done.stdout.split()[1], 16)
    assert not ignored & 1 << signal.SIGPIPE - 1
    assert not ignored & 1 << signal.SIGXFSZ - 1


@needs_library
def test_the_output_file_is_emptied_first_and_shared(tmp_path):
    out = tmp_path / "trace.jsonl"
    out.write_text("old\n")
    code = ("import nvspan, subprocess, sys; nvspan.mark('parent'); subprocess.run("
            "[sys.executable, '-c', 'import nvspan; nvspan.mark(\"child\")'])")  # fmt: skip
    for _ in range(2):
        done = trace("--format", "jsonl", "-o", out.name, "-c", code, cwd=tmp_path)
        assert (done.stdout, done.stderr) == ("", "")
        marks = [event for event in read_events(out) if event["kind"] == "mark"]
        assert [event["message"] for event in marks] == ["parent", "child"]
        assert len({event["pid"] for event in marks}) == 2


@needs_library
def test_a_program_without_calls_ends_with_what_to_do(tmp_path):
    (tmp_path / "plain.py").write_text(
        "import atexit, os, sys\n"
        "atexit.register(print, 'end', file=sys.stderr)\n"
        "print('NVSPAN_UNTRACED' in os.environ)\n"
        "sys.exit(3)\n"
    )
    for program in (("plain.py", "--flag"), ("-m", "plain"), ("-c", "import plain")):
        done = trace(*program, cwd=tmp_path)
        last = untraced(shlex.join(program))
        assert (done.stdout, done.stderr, done.returncode) == ("False\n", f"end\n{last}", 3)
    done = trace("--format", "jsonl", "-o", "trace.jsonl", "plain.py", cwd=tmp_path)
    assert done.stderr == f"end\n{untraced('plain.py')}"
    assert (tmp_path / "trace.jsonl").read_text() == ""


@needs_library
@pytest.mark.parametrize(
    "code",
    [
        "import nvspan; nvspan.mark('m')",
        "import os; os._exit(0)",
        "import os; os.kill(os.getpid(), 15)",
        "import os; os.execlp('true', 'true')",
        "import os, sys; sys.stderr = None",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import nvspan; "
        "nvspan.mark(1)'])",
    ],
)
def test_what_may_have_been_traced_is_not_denied(code):
    assert "no NVTX call" not in trace("-c", code).stderr


@needs_library
def test_a_program_without_calls_is_told_once():
    code = "import os, sys; os.fork() or sys.exit()"
    assert trace("-c", code).stderr == untraced(shlex.join(["-c", code]))


@needs_library
def test_what_is_read_by_programs_has_no_such_line():
    assert trace("--format", "jsonl", "-c", "pass").stderr == ""
    assert trace("--", sys.executable, "-c", "pass").stderr == ""
    assert "no NVTX call" not in trace("--profile", "--exclude", "*", "-c", "pass").stderr


@needs_library
def test_a_minus_sign_is_standard_error(tmp_path):
    done = trace("-o", "-", "-c", "import nvspan; nvspan.mark('m')", cwd=tmp_path)
    assert "m" in done.stderr
    assert list(tmp_path.iterdir()) == []


@needs_library
def test_domains(tmp_path):
    code = ("import nvspan\nfor d in (None, 'a', 'b', 'c, d', 'NVTX '):\n"
            "  with nvspan.annotate('x', domain=d): pass")  # fmt: skip
    out = tmp_path / "trace.jsonl"

    def shown(*options):
        trace("--format", "jsonl", "-o", out, *options, "-c", code)
        return [event["domain"] for event in read_events(out) if event["kind"] == "push"]

    assert shown() == [None, "a", "b", "c, d", "NVTX "]
    assert shown("--domains", "a,b") == ["a", "b"]
    assert shown("--domains", "NVTX", "--domains=b") == [None, "b"]
    assert shown("--domains", "nothing") == []


@needs_library
def test_another_tool_is_left_alone():
    code = ("import os, nvspan; nvspan.mark('m'); print(os.environ['NVTX_INJECTION64_PATH'], "
            "'NVSPAN_TRACE' in os.environ)")  # fmt: skip
    done = trace("-c", code, env={launch.INJECTION_VARIABLE: "/some/tool.so"})
    assert done.stdout == "/some/tool.so False\n"
    assert done.stderr == (
        "nvspan trace: not tracing: NVTX loads another tool (NVTX_INJECTION64_PATH=/some/tool.so); "
        "unset the variable to trace\n"
    )


def test_without_the_library_it_says_so():
    code = "import nvspan, nvspan.launch, nvspan.cli.trace as trace\n"
    code += "nvspan.__path__, nvspan._core.__file__ = [], '/nowhere/_core.so'\n"
    code += "raise SystemExit(trace.main(['-c', '']))"
    done = python("-c", code, env={launch.LIBRARY_VARIABLE: None})
    assert done.returncode == 1
    assert done.stderr == (
        "nvspan trace: nvspan was built without NVTX here, so it has no injection library "
        "(libnvspan_inject.so) and cannot trace; every annotation works and does nothing\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no program to run"),
        (["--"], "no program to run"),
        (["--format", "xml", "x.py"], "'xml' is not one of text, jsonl"),
        (["-o"], "expected one argument"),
        (["-m"], "argument -m: expected one argument"),
        (["--form", "text", "x.py"], "unrecognized arguments: --form"),
        (["no_such.py"], "no such file: 'no_such.py'"),
        (["sh", "-c", "x"], "to run a command, write: nvspan trace -- sh -c x"),
    ],
)
def test_usage_errors(arguments, message):
    done = trace(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@needs_library
def test_what_cannot_be_run_or_written(tmp_path):
    missing = trace("--", "no-such-command")
    assert missing.returncode == 127
    assert missing.stderr == (
        "nvspan trace: cannot run 'no-such-command': No such file or directory\n"
    )
    plain = tmp_path / "plain"
    plain.write_text("")
    refused = trace("--", plain)
    assert refused.returncode == 126
    unwritable = trace("-o", plain / "trace.txt", "-c", "print('ran')")
    assert unwritable.returncode == 2
    assert "cannot write" in unwritable.stderr
    assert unwritable.stdout == ""


def test_help_and_version():
    assert nvspan_command("--version").stdout == f"nvspan {nvspan.__version__}\n"
    done = nvspan_command("--help")
    assert done.returncode == 0
    assert "trace" in done.stdout
    done = trace("--help")
    assert done.returncode == 0
    assert "--domains" in done.stdout
    nothing = nvspan_command()
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "Run a program:" in nothing.stderr
    unknown = nvspan_command("tarce")
    assert unknown.returncode == 2
    assert "no command or file is called 'tarce'; the nearest is 'trace'" in unknown.stderr


def test_the_installed_command():
    command = shutil.which("nvspan", path=os.path.dirname(sys.executable))
    if command is None:
        pytest.skip("nvspan is not installed beside this interpreter")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"nvspan {nvspan.__version__}\n"
