# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The parser of every command: help that wraps, and errors with the nearest right spelling."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

from nvspan.recording.nearest import hint
from nvspan.report.text import printable_lines

Namespace = TypeVar("Namespace")


class _Formatter(argparse.HelpFormatter):
    """Wraps each paragraph of a description; lines that begin with a space stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = []
        for paragraph in text.split("\n\n"):
            if any(line.startswith(" ") for line in paragraph.split("\n")):
                paragraphs.append(textwrap.indent(paragraph, indent))
            else:
                paragraphs.append(super()._fill_text(paragraph, width, indent))
        return "\n\n".join(paragraphs)


def add_option(options: argparse._ActionsContainer, spec: str, text: str, **more: Any) -> None:
    """Adds an option to a parser or a group of options; see `Parser.option`."""
    *short, last = spec.split(", ")
    name, _, metavar = last.partition(" ")
    if metavar:
        more["metavar"] = metavar
    elif not more:
        more["action"] = "store_true"
    options.add_argument(*short, name, help=text, **more)


class Parser(argparse.ArgumentParser):
    """Parses the arguments of ``nvspan COMMAND``, and ends the command where they are wrong."""

    def option(self, spec: str, text: str, **more: Any) -> None:
        """Adds an option that is written as help shows it, such as ``-o, --output FILE``; one
        without a value and `more` is a flag. `more` goes to ``add_argument``."""
        add_option(self, spec, text, **more)

    def section(self, title: str) -> Callable[..., None]:
        """`option` for a group of options that help shows under a title."""
        return partial(add_option, self.add_argument_group(title))

    def fail(self, text: str) -> NoReturn:
        """Ends the command with one line and exit code 1."""
        self.exit(1, f"{self.prog}: {text}\n")

    def error(self, message: str) -> NoReturn:
        """Ends the command with one line and exit code 2; --help has the usage."""
        self.exit(2, f"{self.prog}: error: {message}\n")

    def given(self, options: argparse.Namespace, *names: str) -> list[str]:
        """The options among `names` (``--`` left out) that are not at their defaults."""
        flags = [action for action in self._actions if action.option_strings[-1:]]
        found = {action.option_strings[-1]: action.dest for action in flags}
        return [
            f"--{name}"
            for name in names
            if (dest := found.get(f"--{name}")) and getattr(options, dest) != self.get_default(dest)
        ]

    def refuse(self, options: argparse.Namespace, names: Sequence[str], why: str) -> None:
        """Ends the command where one of `names` is given, which `why` says cannot be used."""
        if given := self.given(options, *names):
            self.error(f"{' and '.join(given)} {why}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Ends the command as argparse does; the message is made printable."""
        super().exit(status, None if message is None else printable_lines(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        raise argparse.ArgumentError(
            action, f"{value!r} is not one of {', '.join(known)}{hint(str(value), known)}"
        )

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> argparse.Namespace | Namespace:
        """Parses as argparse does; of an unknown option the message names the nearest known one."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            close = next((found for word in words if (found := hint(word, known))), "")
            self.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
        return options


def parser_of(command: str, description: str, *parents: Parser, usage: str | None = None) -> Parser:
    """The parser of ``nvspan COMMAND``, with the options of `parents` first; `usage` has its own
    lines where the usual ones mislead."""
    return Parser(
        prog=f"nvspan {command}",
        usage=usage,
        description=description,
        parents=parents,
        allow_abbrev=False,
        formatter_class=_Formatter,
    )


def group(*parents: Parser) -> Parser:
    """Options that several commands share, as one of their parents."""
    return Parser(add_help=False, parents=parents)
