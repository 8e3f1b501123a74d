# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a command line that says which Python program to run, and how."""

from __future__ import annotations

#: Options for a program: the attribute that each sets, its metavar if it has a value, its help.
OPTIONS = {
    "--profile": ("profile", "", "make every Python function call a range"),
    "--as-nvtx": ("as_nvtx", "", "give nvspan to whatever in the program imports nvtx"),
    "--include": (
        "include",
        "PATTERN",
        "with --profile: show only matching code, also of the standard library; may be repeated",
    ),
    "--exclude": ("exclude", "PATTERN", "with --profile: hide matching code; may be repeated"),
    "--show-stdlib": (
        "show_stdlib",
        "",
        "with --profile: show the standard library and the import machinery, too",
    ),
}
OF_PROFILE = ("--include", "--exclude", "--show-stdlib")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KINDS = {"-m": "module", "-c": "code"}


class UsageError(Exception):
    """A command line that makes no sense."""


class Program:
    """What to run: the `target` of a `kind`, which has the `arguments`.

    `kind` is "script" (`target` is a file), "module", "code" or "stdin".
    """

    __slots__ = ("arguments", "as_nvtx", "kind", "profile", "target")

    def __init__(self, kind: str, target: str, arguments: list[str]) -> None:
        self.kind = kind
        self.target = target
        self.arguments = arguments
        self.profile: dict[str, Any] | None = None  # what Profile is called with
        self.as_nvtx = False


def parse(words: list[str]) -> Program:
    """Reads ``[--profile] [--as-nvtx] script.py args...`` and its other forms.

    All that follows the script, the module or the code belongs to the program.
    """
    flags, words = split_flags(words)
    options = options_of(flags)
    program = _program(words)
    program.as_nvtx = options["as_nvtx"]
    if options["profile"]:
        given = {name: options[name] for name in ("include", "exclude") if options[name]}
        program.profile = {"hide_stdlib": not options["show_stdlib"], **given}
    return program


def options_of(flags: list[str]) -> dict[str, Any]:
    """The values of options for a program, by their attributes."""
    found: dict[str, Any] = {
        name: [] if metavar else False for name, metavar, _ in OPTIONS.values()
    }
    words = iter(flags)
    for word in words:
        flag, equals, value = word.partition("=")
        name, metavar, _ = OPTIONS[flag]
        if not metavar:
            found[name] = True
            continue
        pattern = value if equals else next(words, None)
        if pattern is None:
            raise UsageError(f"argument {flag}: expected one argument")
        found[name].append(pattern)
    if unused := unused_without_profile(found):
        raise UsageError(f"{' and '.join(unused)} can be used only with --profile")
    return found


def unused_without_profile(options: Mapping[str, Any]) -> list[str]:
    """The options that are given and have no effect without --profile, which is not."""
    given = [flag for flag in OF_PROFILE if options.get(OPTIONS[flag][0])]
    return [] if options["profile"] else given


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """The options for a program as words: what `options_of` reads."""
    words = []
    for flag, (name, metavar, _) in OPTIONS.items():
        value = options.get(name)
        if metavar:
            words += [f"{flag}={pattern}" for pattern in value or ()]
        elif value:
            words.append(flag)
    return words


def split_flags(words: list[str]) -> tuple[list[str], list[str]]:
    """The options for a program that `words` begins with, and what follows them."""
    at = 0
    while at < len(words):
        flag, equals, _ = words[at].partition("=")
        if flag not in OPTIONS or (equals and not OPTIONS[flag][1]):
            break
        at += 2 if OPTIONS[flag][1] and not equals else 1
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
        from nvspan.recording.nearest import hint

        known = [*OPTIONS, "--version", "--help"]
        raise UsageError(f"unknown option: {word}{hint(word, known)}")
    if len(word) > 2:
        return Program(kind, word[2:], words[1:])
    if len(words) == 1:
        raise UsageError(f"argument {word}: expected one argument")
    return Program(kind, words[1], words[2:])
