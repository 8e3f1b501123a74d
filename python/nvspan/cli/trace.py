# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan trace``: runs a program under nvspan's injection library.

This process becomes the program (exec), so that its exit code, its terminal, its standard streams
and the signals that it gets are its own.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from nvspan import launch
from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import Parser
from nvspan.cli.program.launching import (
    cannot_run,
    command_of,
    domain_names,
    how_to_profile,
    other_tool,
    program_parser,
    split_program,
)
from nvspan.cli.program.untraced import ask_for

_DESCRIPTION = """\
Runs a program and prints the NVTX calls of the program and its libraries as they happen: ranges
with their nesting and duration, marks, counters, names. Child processes are included. A Python
program that makes no NVTX call ends with a line about it: --profile makes every function call
a range. Arguments after the script, module or command belong to the program. The exit code is the
program's."""


def _parser() -> Parser:
    parser = program_parser("trace", _DESCRIPTION)
    parser.add_argument(
        "--format",
        choices=launch.FORMATS,
        default="text",
        help="text: one line for each event (the default); jsonl: every field of every call",
    )
    parser.option(
        "-o, --output FILE",
        "write to FILE instead of standard error; it is emptied first, and all processes of the "
        "program share it",
    )
    parser.option(
        "--domains NAME[,NAME]",
        "show only these domains; NVTX is the default domain; may be repeated",
        action="append",
    )
    return parser


def _environment(parser: Parser, options: argparse.Namespace) -> dict[str, str]:
    file = None if options.output in (None, "-") else options.output
    try:
        environment = launch.child_environment(
            options.format, file, domain_names(options.domains), origin=time.monotonic_ns()
        )
        if file is not None:
            os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
            launch.empty_file(file)
    except OSError as error:
        parser.error(f"cannot write {file!r}: {error.strerror}")
    except ValueError as error:
        parser.error(str(error))
    return environment


def _can_say_so(options: argparse.Namespace, program: Sequence[str]) -> bool:
    """Whether the program can end with the line that it made no NVTX call: where nvspan can be in
    it, and standard error is for people."""
    is_for_people = options.format == "text" or options.output not in (None, "-")
    is_python = bool(program) and program[0] not in ("--", "-")
    return is_for_people and is_python and not options.profile and not launch.attached_tool()


def _become(command: list[str], environment: dict[str, str]) -> int:
    """Replaces this process by `command`; returns an exit code only when that fails."""
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":
        return subprocess.call(command, env=environment)
    # Python ignores these, and exec would hand that down to the program.
    for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        return cannot_run("nvspan trace", command, error)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan trace`` with the arguments `argv`."""
    parser = _parser()
    own, _, program = split_program(parser, argv)
    options = parser.parse_args(own)
    says_so = _can_say_so(options, program)
    command = command_of(parser, options, program, by_nvspan=says_so)
    if other_tool(parser.prog, "tracing", "trace"):
        return _become(command, dict(os.environ))
    try:
        environment = _environment(parser, options)
    except RuntimeError as error:
        parser.fail(str(error))
    if says_so:
        how = plain_text(how_to_profile("trace", options, program))
        ask_for(f"nvspan trace: the program made no NVTX call; {how}", environment)
    return _become(command, environment)
