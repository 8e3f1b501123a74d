# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The words of ``nvspan ncu``: its options, ranges, and the program, which may begin without
``--``."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nvspan.cli.common.parser import Parser
from nvspan.cli.program.launching import command_of, split_program
from nvspan.nsight.compute.dry_run import DryRun, DryRunError
from nvspan.nsight.lines.ncu_options import FLAGS, SHORT, VALUES
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX
from nvspan.nsight.ranges.names import known_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

_SCRIPT = re.compile(r".*\.py[cwz]?$")
# They run the program that follows: it has the same ranges with them and without.
_STARTERS = re.compile(r"(python[\d.]*|torchrun|srun|mpirun|mpiexec|orterun|accelerate|deepspeed)$")
# ncu's own spellings of what nvspan has other options for, too.
_NCU_WORDS = {
    *("--nvtx", "--nvtx-include", "--nvtx-exclude", "--kernel-name", "-k", "-s", "-f", "--export"),
    *("--force-overwrite", "--target-processes", "--replay-mode", "--section", "--page", "--csv"),
    "--log-file",
    *(f"--{name}" for name in (*FLAGS, *VALUES)),
    *SHORT.values(),
}
_READING = {"--read", "--import", "-i"}


@dataclass(frozen=True)
class Line:
    """The arguments of ``nvspan ncu``.

    Attributes:
        own: its options.
        ranges: words that are ranges, or reports.
        program: the program with its arguments; ``--`` is first where it is no Python program.
        options: what `own` says.
        is_inferred: whether the program begins with a word that could be a range as well.
    """

    own: list[str]
    ranges: list[str]
    program: list[str]
    options: argparse.Namespace
    is_inferred: bool = False


def split(parser: Parser, arguments: Sequence[str]) -> Line:
    """The arguments, with a program that is a word on PATH as if ``--`` were before it."""
    line = _split(parser, arguments, _is_range)
    if not (line.program and _is_command(line.program[0])):
        return line
    after = split_program(parser, line.program[1:], _is_range)[0]
    flags = {word.partition("=")[0] for word in after}
    if flags & _READING and any(COMPUTE_SUFFIX in word for word in after):
        return split_reports(parser, arguments)
    return replace(line, program=["--", *line.program], is_inferred=True)


def split_reports(parser: Parser, arguments: Sequence[str]) -> Line:
    """The arguments of --read, where every word is a range or a report."""
    return _split(parser, arguments, lambda word: True)


def _split(parser: Parser, arguments: Sequence[str], is_own: Callable[[str], bool]) -> Line:
    own, ranges, program = split_program(parser, arguments, is_own)
    # Python's -c has code, ncu's a number and a program after it.
    while program[:1] == ["-c"] and "".join(program[1:2]).isdecimal():
        more, further, rest = split_program(parser, program[2:], is_own)
        if not rest:
            break
        own = [*own, "--launch-count", program[1], *more]
        ranges, program = ranges + further, rest
    return Line(own, ranges, program, parser.parse_args(own))


def _is_range(word: str) -> bool:
    """Whether a word is no program: a range, or a report."""
    is_file = os.path.isfile(word) and not word.endswith(COMPUTE_SUFFIX)
    return not (_SCRIPT.match(word) or is_file or _is_command(word))


def _is_command(word: str) -> bool:
    """Whether a word names a program of the system, or a launcher."""
    if word.startswith("-") or _SCRIPT.match(word):
        return False
    return bool(_STARTERS.match(word)) or shutil.which(word) is not None


def range_or_program(
    parser: Parser, line: Line, record: Callable[[list[str], Sequence[str]], DryRun]
) -> Line:
    """The same arguments, where the word that begins the program is a range of a recording.

    Args:
        record: makes a dry recording of a command that has these ranges.
    """
    while line.is_inferred:
        word, *arguments = line.program[1:]
        flags = {option.partition("=")[0] for option in line.own}
        if flags & _NCU_WORDS and not line.ranges:  # a line of ncu has no such ranges
            break
        if not _are_options(
            parser, split_program(parser, arguments, _is_range)[0]
        ):  # they are the program's
            break
        rest = split(parser, arguments)
        if not rest.program or not _has_range(parser, line, rest, record):
            break
        own = [*line.own, *rest.own]
        ranges = [*line.ranges, word, *rest.ranges]
        line = replace(rest, own=own, ranges=ranges, options=parser.parse_args(own))
    return line


def _are_options(parser: Parser, words: Sequence[str]) -> bool:
    """Whether options, with their values, are ours."""
    known = {flag for action in parser._actions for flag in action.option_strings}
    return all(word.partition("=")[0] in known for word in words if word.startswith("-"))


def _has_range(
    parser: Parser, line: Line, rest: Line, record: Callable[[list[str], Sequence[str]], DryRun]
) -> bool:
    """Whether the word between `line` and `rest` is the name of a range."""
    word = line.program[1]
    starts = _STARTERS.match(os.path.basename(word))
    program, ranges = (line.program, []) if starts else (rest.program, [word])
    try:
        found = record(command_of(parser, line.options, program), [*line.ranges, *ranges])
    except (DryRunError, RuntimeError):
        return False
    return _is_name(word, found.recording)


def _is_name(word: str, recording: Recording) -> bool:
    return any(word in names for names in known_ranges(recording).values())


def without_option(words: Sequence[str], flag: str, value: str | None = None) -> list[str]:
    """Options without one that has a value: without each that has `value`, or any."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        name, equals, given = words[at].partition("=")
        size = 1 if equals else 2
        if name != flag or (
            value is not None and value != (given or "".join(words[at + 1 : at + 2]))
        ):
            kept.append(words[at])
            size = 1
        at += size
    return kept
