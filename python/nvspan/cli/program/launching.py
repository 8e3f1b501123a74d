# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Running a program under a tool: its command line, its process, how it ended."""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from nvspan import launch
from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.program.parse import OF_PROFILE, OPTIONS, flags_of, unused_without_profile

_PYTHON_OPTIONS = ("-m", "-c")
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def program_parser(command: str, description: str, *parents: Parser) -> Parser:
    """The parser of a command that runs a program, which has the options of `nvspan script.py`."""
    forms = ("script.py", "-m module", "-c code", "-- command")
    usage = "\n       ".join(f"nvspan {command} [options] {form} [arguments ...]" for form in forms)
    parser = parser_of(command, description, *parents, usage=usage)
    add_program_options(parser)
    return parser


def parse_program(parser: Parser, arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our own options, and the command line of the program, to which all that follows belongs."""
    own, _, program = split_program(parser, arguments)
    options = parser.parse_args(own)
    return options, command_of(parser, options, program)


def split_program(
    parser: Parser, arguments: Sequence[str], is_own: Callable[[str], bool] = lambda word: False
) -> tuple[list[str], list[str], list[str]]:
    """Our own options, the words that `is_own` takes among them, and the program with all that
    belongs to it."""
    takes_value = {name for a in parser._actions if a.nargs is None for name in a.option_strings}
    own: list[str] = []
    words: list[str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word in takes_value:
            own += arguments[at : at + 2]
            at += 2
            continue
        if word in ("--", "-") or word[:2] in _PYTHON_OPTIONS:
            break
        if not word.startswith("-") and not is_own(word):
            break
        (own if word.startswith("-") else words).append(word)
        at += 1
    return own, words, list(arguments[at:])


def add_program_options(parser: argparse.ArgumentParser, *, patterns: bool = True) -> None:
    """Adds the options for a Python program, which `nvspan script.py` has too.

    With `patterns` those that say what --profile shows are among them.
    """
    add = parser.add_argument_group("options for a Python program").add_argument
    for flag, (name, metavar, text) in OPTIONS.items():
        if metavar and patterns:
            add(flag, dest=name, metavar=metavar, action="append", help=text)
        elif patterns or flag not in OF_PROFILE:
            add(flag, dest=name, action="store_true", help=text)


def command_of(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    program: Sequence[str],
    *,
    by_nvspan: bool = False,
) -> list[str]:
    """The command line of the program that is asked for, with the program `options` in it.

    `nvspan script.py` runs it where one of them is chosen, or `by_nvspan` says so.
    """
    has_patterns = hasattr(options, "show_stdlib")
    known = [flag for flag in OPTIONS if has_patterns or flag not in OF_PROFILE]
    chosen = {OPTIONS[flag][0]: getattr(options, OPTIONS[flag][0]) for flag in known}
    if unused := unused_without_profile(chosen):
        parser.error(f"{' and '.join(unused)} can be used only with --profile")
    flags = flags_of(chosen)
    if not program or program == ["--"]:
        parser.error("no program to run")
    if program[0] == "--":
        if flags:
            parser.error(
                f"{' and '.join(flags)} cannot be used with a command after '--', only with a "
                f"Python program: {parser.prog} {' '.join(flags)} script.py, -m module or -c code"
            )
        return list(program[1:])
    # The interpreter's own options (-X, -W, -O, ...) reach the program as well.
    interpreter = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    if program[0] in _PYTHON_OPTIONS and len(program) == 1:
        parser.error(f"argument {program[0]}: expected one argument")
    script = program[0]
    if script[:2] not in _PYTHON_OPTIONS and script != "-" and not os.path.exists(script):
        hint = ""
        if shutil.which(script):
            hint = f" (to run a command, write: {parser.prog} -- {' '.join(program)})"
        parser.error(f"no such file: {script!r}{hint}")
    if not flags and not by_nvspan:
        return [*interpreter, *program]
    # After '--' a script may have the name of one of our commands.
    is_script = not script.startswith("-")
    return [*interpreter, "-m", "nvspan", *flags, *(["--"] if is_script else []), *program]


def how_to_profile(command: str, options: argparse.Namespace, program: Sequence[str]) -> str:
    """What to type, after `nvspan` and `command`, for a program that has no ranges."""
    verb = "trace" if command == "trace" else "record"
    if options.profile:
        return f"--show-stdlib {verb}s the functions of the standard library, too"
    whose, words = "", shlex.join(program)
    if program[0] == "--":
        whose, words = " of a Python program", "script.py"
    return f"to {verb} every function{whose}: nvspan {command} --profile {words}"


def domain_names(given: Sequence[str] | None) -> list[str] | None:
    """The names in what --domains was given, each time several with commas; None for all."""
    if given is None:
        return None
    return [name for names in given for name in names.split(",") if name]


def other_tool(prog: str, doing: str, verb: str) -> bool:
    """Whether NVTX loads another tool, so that ours cannot be; then it is said."""
    if (tool := launch.attached_tool()) is None:
        return False
    variable = launch.INJECTION_VARIABLE
    reason = f"NVTX loads another tool ({variable}={plain_text(tool)})"
    print(f"{prog}: not {doing}: {reason}; unset the variable to {verb}", file=sys.stderr)
    return True


def cannot_run(prog: str, command: Sequence[str], error: OSError) -> int:
    """Says so, and returns the exit code that a shell would give."""
    print(f"{prog}: cannot run {command[0]!r}: {error.strerror}", file=sys.stderr)
    return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE


def why_not_started(prog: str, command: Sequence[str]) -> int:
    """Whether the system finds a command, which a tool is to start: 0, or it is said what is wrong,
    and the result is the exit code that a shell would give."""
    name = command[0]
    if shutil.which(name):
        return 0
    folders = [""] if os.path.dirname(name) else os.get_exec_path()
    places = [os.path.join(folder, name) for folder in folders]
    number = errno.EACCES if any(map(os.path.exists, places)) else errno.ENOENT
    return cannot_run(prog, command, OSError(number, os.strerror(number)))


def run_to_end(prog: str, command: list[str], environment: dict[str, str]) -> int:
    """Runs `command` to its end: its exit code, or minus the signal that ended it."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        return cannot_run(prog, command, error)

    def pass_on(number: int, _frame: object) -> None:
        process.send_signal(number)

    # The terminal sends the first two to the program as well; the others are for us alone.
    before = []
    for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
        if hasattr(signal, name):
            number = getattr(signal, name)
            is_sent_to_both = name in ("SIGINT", "SIGQUIT")
            before.append(
                (number, signal.signal(number, signal.SIG_IGN if is_sent_to_both else pass_on))
            )
    try:
        return process.wait()
    finally:
        for number, handler in before:
            if handler is not None:  # one that Python did not set cannot be set again
                signal.signal(number, handler)


def ended_as(code: int) -> int:
    """Ends this process as the program ended: by its signal, or with its exit code."""
    if code >= 0:
        return code
    sys.stderr.flush()
    if -code not in (9, 19):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code
