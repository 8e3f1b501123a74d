# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ``nvspan`` command. Each subcommand is a module of this package with a ``main(argv)``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from nvspan import __version__

COMMANDS = {
    "record": "run a program, record its NVTX events, and show a table of them",
    "trace": "run a program and show every NVTX call that it makes",
}


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="nvspan",
        usage="nvspan [-h] [--version] COMMAND ...",
        description="NVTX annotations for Python.",
        epilog=f"commands:\n{listed}\n\n'nvspan COMMAND --help' says more about each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"nvspan {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` (`sys.argv` when None) and returns the exit code.

    ``nvspan trace`` replaces this process by the program that it runs, and so does not return.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    parsed = parser.parse_args(arguments[:1])
    if parsed.command is None:
        parser.print_help(sys.stderr)
        return 2
    if parsed.command not in COMMANDS:
        parser.error(f"no such command: {parsed.command!r} (there is {', '.join(COMMANDS)})")
    module = import_module(f"nvspan.cli.{parsed.command}")
    return int(module.main(arguments[1:]))
