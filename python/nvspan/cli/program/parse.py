# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a command line that says which Python program to run, and how."""

from __future__ import annotations

# Options for a program: the attribute of `Program` that each sets, and what its help says.
FLAGS = {
    "--profile": ("profile", "make every Python function call a range"),
    "--as-nvtx": ("as_nvtx", "give nvspan to whatever in the program imports nvtx"),
}
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = {"-m": "module", "-c": "code"}


class UsageError(Exception):
    """A command line that makes no sense."""


class Program:
    """What to run: the `target` of a `kind`, which has the `arguments`.

    `kind` is "script" (`target` is a file), "module", "code" or "stdin".
    """

    __slots__ = ("arguments", "as_nvtx", "kind", "profile", "profile_options", "target")

    def __init__(self, kind: str, target: str, arguments: list[str]) -> None:
        self.kind = kind
        self.target = target
        self.arguments = arguments
        self.profile = False
        self.profile_options: dict[str, Any] = {}  # what Profile is called with
        self.as_nvtx = False


def parse(words: list[str]) -> Program:
    """Reads ``[--profile] [--as-nvtx] script.py args...`` and its other forms.

    All that follows the script, the module or the code belongs to the program.
    """
    flags, words = split_flags(words)
    program = _program(words)
    for flag in flags:
        setattr(program, FLAGS[flag][0], True)
    return program


def split_flags(words: list[str]) -> tuple[list[str], list[str]]:
    """The options for a program that `words` begins with, and what follows them."""
    at = 0
    while at < len(words) and words[at] in FLAGS:
        at += 1
    return words[:at], words[at:]


def _program(words: list[str]) -> Program:
    if words and words[0] == "--":
        words = words[1:]
        if words:
            return Program("script", words[0], words[1:])
    if not words:
        raise UsageError("no program to run")
    word = words[0]
    if word == "-":
        return Program("stdin", word, words[1:])
    if not word.startswith("-"):
        return Program("script", word, words[1:])
    kind = _KINDS.get(word[:2])
    if kind is None:
        raise UsageError(f"unknown option: {word}")
    if len(word) > 2:
        return Program(kind, word[2:], words[1:])
    if len(words) == 1:
        raise UsageError(f"argument {word}: expected one argument")
    return Program(kind, words[1], words[2:])
