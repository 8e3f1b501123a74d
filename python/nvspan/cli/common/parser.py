# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The parser of every command: help that wraps, and errors with the nearest right spelling."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
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


class _Parser(argparse.ArgumentParser):
    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
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
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            close = next((found for word in unknown if word.startswith("-")
                          if (found := hint(word.partition("=")[0], known))), "")  # fmt: skip
            self.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
        return options


def parser_of(command: str, description: str, usage: str | None = None) -> argparse.ArgumentParser:
    """The parser of ``nvspan COMMAND``; `usage` has its own lines where the usual ones mislead."""
    return _Parser(
        prog=f"nvspan {command}", usage=usage, description=description, allow_abbrev=False,
        formatter_class=_Formatter,
    )  # fmt: skip
