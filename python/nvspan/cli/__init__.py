# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ``nvspan`` command: finds the subcommand in a table, or runs a Python program.

Only what is needed is imported: a program that is run must find what plain python would give it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvspan.cli.program.parse import Program

_RUN, _READ, _LIVE, _CHECK = GROUPS = (
    "Run a program:",
    "Read a recording (.nvspan, .nsys-rep, .sqlite, Chrome .json):",
    "Inspect running programs and jobs:",
    "Check the installation:",
)
#: Name: (module:function below nvspan.cli, help, group).
COMMANDS = {
    "record": ("record:main", "record ranges, lines and kernels; print where the time went", _RUN),
    "trace": ("trace:main", "print NVTX events as they happen", _RUN),
    "nsys": ("nsys:main", "run under Nsight Systems and summarize the ranges", _RUN),
    "ncu": ("ncu:main", "profile the kernels of one range with Nsight Compute", _RUN),
    "explain": (
        "explain:main",
        "list what to fix first, with evidence and the next command",
        _READ,
    ),
    "steps": ("steps:main", "break each step down into phases, on CPU and GPU", _READ),
    "modules": (
        "modules:main",
        "show the time of each PyTorch module, forward and backward",
        _READ,
    ),
    "kernels": ("kernels:main", "rank GPU kernels, with the ranges that launched them", _READ),
    "stats": ("stats:main", "tabulate ranges, or the hottest lines with --lines", _READ),
    "diff": ("diff:main", "compare runs; --fail exits with 1 on a regression", _READ),
    "report": ("report:main", "write one HTML page to keep or send", _READ),
    "view": ("view:main", "open the timeline in a browser", _READ),
    "export": (
        "export:main",
        "convert to Perfetto, SQLite, Parquet, CSV or flame graph stacks",
        _READ,
    ),
    "mcp": ("mcp:main", "answer questions of an AI assistant about recordings", _READ),
    "where": (
        "where:main",
        "show what every process is doing and which rank blocks the job",
        _LIVE,
    ),
    "top": ("top:main", "watch ranges and lines live", _LIVE),
    "attach": ("attach:attach", "start recording in an armed process (NVSPAN_RECORD=armed)", _LIVE),
    "detach": ("attach:detach", "stop recording in a process; it stays armed", _LIVE),
    "trigger": ("trigger:main", "save a job's last seconds, now or when a condition is met", _LIVE),
    "metrics": ("metrics:main", "serve range durations to Prometheus", _LIVE),
    "ranks": ("ranks:main", "find the rank that makes the others wait, and what it costs", _LIVE),
    "doctor": ("doctor:main", "find out why nothing is recorded, and how to fix it", _CHECK),
}
_MOVED = {
    "start": "renamed to 'nvspan attach'",
    "stop": "renamed to 'nvspan detach'",
    "blackbox": 'removed; use nvspan trigger DIRECTORY --when "..."',
    "clock": "removed; 'nvspan ranks --clocks FILE' reads measured offsets",
    "import": "removed; every reading command opens a Chrome .json file itself",
    "mark": "removed; call nvspan.mark() in the program",
    "otlp": "removed; use the OpenTelemetry SDK in the program, or 'nvspan metrics'",
}

_USAGE = """\
usage: nvspan COMMAND [options] ...
       nvspan [--profile] [--as-nvtx] script.py [arguments ...]
"""
_HELP = """
Find out which phase, which line and which kernel takes a program's time.
{commands}
Options for a Python program (script.py, -m module or -c code), here and after
'record', 'trace' and 'nsys':
{flags}

'nvspan COMMAND --help' shows a command's options, 'nvspan --version' the
version. A script that has the name of a command runs as ./NAME.
"""


def _help() -> str:
    from textwrap import fill

    from nvspan.cli.program.parse import OPTIONS

    commands = ""
    for group in GROUPS:
        commands += f"{group}\n"
        for name, (_, text, of) in COMMANDS.items():
            commands += f"  {name:<8}  {text}\n" if of == group else ""
    flags = "\n".join(
        fill(text, 80, initial_indent=f"  {f'{flag} {metavar}':<17}  ", subsequent_indent=" " * 21)
        for flag, (_, metavar, text) in OPTIONS.items()
    )
    return _USAGE + _HELP.format(commands=commands, flags=flags)


def _command(name: str) -> Callable[[Sequence[str]], int]:
    """The function that runs a command: no other command is imported for it."""
    from importlib import import_module

    module, _, function = COMMANDS[name][0].partition(":")
    run: Callable[[Sequence[str]], int] = getattr(import_module(f"nvspan.cli.{module}"), function)
    return run


def _refuse_misspelled(program: Program) -> None:
    """Raises a `UsageError` where no file has the program's name, but a command nearly has."""
    import os

    from nvspan.cli.program.parse import UsageError
    from nvspan.recording.nearest import nearest

    word = program.target
    if program.kind != "script" or not word.isalpha() or os.path.exists(word):
        return
    if close := nearest(word, COMMANDS):
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
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help(), end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from nvspan import _core

        print(f"nvspan {_core.__version__}")
        return 0
    from nvspan.cli.program.parse import UsageError, parse, split_flags

    flags, words = split_flags(arguments)
    command = words[0] if words else ""
    if command in _MOVED:
        print(f"nvspan {command}: {_MOVED[command]}", file=sys.stderr)
        return 2
    try:
        if command not in COMMANDS:
            program = parse(arguments)
            _refuse_misspelled(program)
            return run(program)
        if flags and COMMANDS[command][2] != _RUN:
            given = " and ".join(word for word in flags if word.startswith("--"))
            raise UsageError(f"{given} cannot be used with {command!r}, which runs no program")
    except UsageError as error:
        print(f"nvspan: error: {error}", file=sys.stderr)
        return 2
    return _command(command)([*flags, *words[1:]])
