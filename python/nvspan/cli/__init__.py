# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ``nvspan`` command. Each subcommand is a module of this package with a ``main(argv)``; what
is no subcommand is a Python program to run.

Only what is needed is imported: a program that is run must find what plain python would give it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvspan.cli.program.parse import Program

COMMANDS = {
    "diff": "compare the ranges of two recordings",
    "doctor": "check whether annotations can be seen here, and what to do if not",
    "explain": "say what stands out in a recording, with the evidence",
    "export": "write a recording as a Perfetto trace, SQLite, Parquet or CSV",
    "metrics": "serve what ranges of running processes take as metrics of Prometheus",
    "modules": "show what each module of a PyTorch model costs",
    "ncu": "profile the kernels in ranges of a program with Nsight Compute",
    "nsys": "run a program under Nsight Systems, and show a table of its ranges",
    "ranks": "find the rank of a job that makes the others wait, and its cost",
    "record": "run a program, record its NVTX events, and show a table of them",
    "report": "write one HTML page about recordings",
    "start": "have a running process record events",
    "stats": "show a table of the ranges of recordings",
    "steps": "show where the steps of a program spend their time",
    "stop": "have a running process record no more events",
    "top": "show what share of the time running processes are in each range",
    "trace": "run a program and show every NVTX call that it makes",
    "trigger": "keep the last seconds of processes, now or when something happens",
    "view": "show a recording's timeline in the browser",
    "where": "say what the threads of running, stopped or dead processes are in",
}

_RUN_A_PROGRAM = ("ncu", "nsys", "record", "trace")
# Commands of before, and what serves instead.
_MOVED = {"blackbox": 'nvspan trigger DIRECTORY --when "..."'}

_USAGE = """\
usage: nvspan [-h] [--version] COMMAND ...
       nvspan [--profile] [--as-nvtx] script.py [arguments ...]
       nvspan [--profile] [--as-nvtx] -m module [arguments ...]
       nvspan [--profile] [--as-nvtx] -c code [arguments ...]
"""

_HELP = """
NVTX annotations for Python.

commands:
{commands}

'nvspan COMMAND --help' describes a command. Anything else is run as a Python
program, just as python runs it. To run a script that has the name of a command,
write ./NAME.

options for a Python program, with 'record' and 'trace' too:
{flags}

  -h, --help  show this help and exit
  --version   show the version and exit
"""


def _help() -> str:
    from textwrap import fill

    from nvspan.cli.program.parse import FLAGS, PATTERNS, SHOW_STDLIB, SHOW_STDLIB_TEXT

    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    described = [(flag, text) for flag, (_, text) in FLAGS.items()]
    described += [(f"{flag} PATTERN", text) for flag, (_, text) in PATTERNS.items()]
    described.append((SHOW_STDLIB, SHOW_STDLIB_TEXT))
    flags = "\n".join(
        fill(text, 80, initial_indent=f"  {flag:<17}   ", subsequent_indent=" " * 22)
        for flag, text in described
    )
    return _USAGE + _HELP.format(commands=commands, flags=flags)


def _command(name: str) -> Callable[[Sequence[str]], int]:
    """The function that runs a command: no other command is imported for it."""
    if name == "diff":
        from nvspan.cli.diff import main as run_diff

        return run_diff
    if name == "doctor":
        from nvspan.cli.doctor import main as run_doctor

        return run_doctor
    if name == "explain":
        from nvspan.cli.answers.explain import main as run_explain

        return run_explain
    if name == "export":
        from nvspan.cli.export import main as run_export

        return run_export
    if name in ("start", "stop"):
        from nvspan.cli.live import control

        return {"start": control.start, "stop": control.stop}[name]
    if name == "metrics":
        from nvspan.cli.watch.metrics import main as run_metrics

        return run_metrics
    if name == "modules":
        from nvspan.cli.answers.modules import main as run_modules

        return run_modules
    if name == "ncu":
        from nvspan.cli.ncu import main as run_ncu

        return run_ncu
    if name == "nsys":
        from nvspan.cli.nsys import main as run_nsys

        return run_nsys
    if name == "ranks":
        from nvspan.cli.ranks import main as run_ranks

        return run_ranks
    if name == "record":
        from nvspan.cli.record import main as run_record

        return run_record
    if name == "report":
        from nvspan.cli.report import main as run_report

        return run_report
    if name == "stats":
        from nvspan.cli.stats import main as run_stats

        return run_stats
    if name == "steps":
        from nvspan.cli.answers.steps import main as run_steps

        return run_steps
    if name == "top":
        from nvspan.cli.live.top import main as run_top

        return run_top
    if name == "trace":
        from nvspan.cli.trace import main as run_trace

        return run_trace
    if name == "trigger":
        from nvspan.cli.live.trigger import main as run_trigger

        return run_trigger
    if name == "where":
        from nvspan.cli.live.where import main as run_where

        return run_where
    from nvspan.cli.view import main as run_view

    return run_view


def _refuse_misspelled(program: Program) -> None:
    """Raises a `UsageError` for what is no file and nearly a command."""
    from nvspan.cli.program.parse import UsageError

    word = program.target
    if program.kind != "script" or not word.isalpha():
        return
    import os

    from nvspan.recording.nearest import nearest

    close = nearest(word, COMMANDS)
    if close and not os.path.exists(word):
        raise UsageError(f"no command or file is called {word!r}; the nearest is {close[0]!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` (`sys.argv` when None) and returns the exit code.

    ``nvspan trace`` replaces this process by the program that it runs, and so does not return.
    Where a program is run, ``SystemExit`` and ``KeyboardInterrupt`` of it come through.
    """
    from nvspan.cli.program.run import own_path_entry, run

    if argv is None and own_path_entry():
        del sys.path[0]  # the current folder, or that of this command: it is not the program's
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else None
    if first is None:
        print(_help(), end="", file=sys.stderr)
        return 2
    if first in ("-h", "--help"):
        print(_help(), end="")
        return 0
    if first == "--version":
        from nvspan import _core

        print(f"nvspan {_core.__version__}")
        return 0
    from nvspan.cli.program.parse import UsageError, parse, split_flags

    flags, words = split_flags(arguments)
    command = words[0] if words else None
    if command in _MOVED:
        print(f"nvspan: {command} is not a command: use {_MOVED[command]}", file=sys.stderr)
        return 2
    if command in COMMANDS and not (flags and command not in _RUN_A_PROGRAM):
        return _command(command)([*flags, *words[1:]])
    try:
        if command in COMMANDS:
            given = [word for word in flags if word.startswith("--")]
            raise UsageError(
                f"{' and '.join(given)} cannot be used with {command!r}, which runs no program"
            )
        program = parse(arguments)
        _refuse_misspelled(program)
    except UsageError as error:
        print(f"{_USAGE}nvspan: error: {error}", file=sys.stderr)
        return 2
    return run(program)
