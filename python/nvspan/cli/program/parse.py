# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a command line that says which Python program to run, and how."""

from __future__ import annotations

# Options for a program: the attribute of `Program` that each sets, and what its help says.
FLAGS = {
    "--profile": ("profile", "make every Python function call a range"),
    "--as-nvtx": ("as_nvtx", "give nvspan to whatever in the program imports nvtx"),
}
# Options for --profile that take a value, and the one that takes none: the same.
PATTERNS = {
    "--include": ("include", "with --profile: show only code that PATTERN matches, also of the "
                  "standard library; may be repeated"),
    "--exclude": ("exclude", "with --profile: leave out code that PATTERN matches; may be "
                  "repeated"),
}  # fmt: skip
SHOW_STDLIB = "--show-stdlib"
SHOW_STDLIB_TEXT = "with --profile: show the standard library and the import machinery, too"
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
    options = options_of(flags)
    program = _program(words)
    program.profile, program.as_nvtx = options["profile"], options["as_nvtx"]
    program.profile_options = profile_options(options)
    return program


def options_of(flags: list[str]) -> dict[str, Any]:
    """The values of options for a program, by their attributes."""
    found: dict[str, Any] = {name: False for name, _ in FLAGS.values()}
    found.update(include=[], exclude=[], show_stdlib=False)
    words = iter(flags)
    for word in words:
        name, equals, value = word.partition("=")
        if word in FLAGS:
            found[FLAGS[word][0]] = True
        elif word == SHOW_STDLIB:
            found["show_stdlib"] = True
        else:
            pattern = value if equals else next(words, None)
            if pattern is None:
                raise UsageError(f"argument {name}: expected one argument")
            found[PATTERNS[name][0]].append(pattern)
    if not found["profile"] and (unused := unused_without_profile(found)):
        raise UsageError(f"{' and '.join(unused)} can be used only with --profile")
    return found


def unused_without_profile(options: Mapping[str, Any]) -> list[str]:
    """The options that are given and say what --profile shows."""
    named = {**{name: flag for flag, (name, _) in PATTERNS.items()}, "show_stdlib": SHOW_STDLIB}
    return [flag for name, flag in named.items() if options.get(name)]


def profile_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `nvspan.Profile` is called with."""
    found: dict[str, Any] = {"hide_stdlib": not options.get("show_stdlib")}
    for name, _ in PATTERNS.values():
        if options.get(name):
            found[name] = options[name]
    return found


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """The options for a program as words: what `options_of` reads."""
    words = [flag for flag, (name, _) in FLAGS.items() if options.get(name)]
    for flag, (name, _) in PATTERNS.items():
        words += [f"{flag}={pattern}" for pattern in options.get(name) or ()]
    return words + [SHOW_STDLIB] * bool(options.get("show_stdlib"))


def split_flags(words: list[str]) -> tuple[list[str], list[str]]:
    """The options for a program that `words` begins with, and what follows them."""
    at = 0
    while at < len(words):
        if words[at] in PATTERNS:
            at += 2
        elif (
            words[at] in FLAGS
            or words[at] == SHOW_STDLIB
            or (words[at].partition("=")[0] in PATTERNS)
        ):
            at += 1
        else:
            break
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

        known = [*FLAGS, *PATTERNS, SHOW_STDLIB, "--version", "--help"]
        raise UsageError(f"unknown option: {word}{hint(word, known)}")
    if len(word) > 2:
        return Program(kind, word[2:], words[1:])
    if len(words) == 1:
        raise UsageError(f"argument {word}: expected one argument")
    return Program(kind, words[1], words[2:])
