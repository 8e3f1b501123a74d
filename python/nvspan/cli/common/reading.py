# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Options and file loading shared by the reading commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import nvspan
from nvspan.cli.common.parser import Parser
from nvspan.recording import split_repeated
from nvspan.recording.clock import zero
from nvspan.recording.losses import damage_lines, has_events
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN
from nvspan.report import emptiness
from nvspan.report.progress import Progress
from nvspan.report.text import printable_lines

Read = TypeVar("Read")
_COMPUTE_SUFFIX = ".ncu-rep"


def selected(recording: nvspan.Recording, options: argparse.Namespace) -> nvspan.Recording:
    """The part of a recording that --filter, --from and --to ask for.

    Standard error says why nothing is left, and which pattern is like no name.
    """
    return selected_runs([recording], options)[0]


def selected_runs(
    runs: Sequence[nvspan.Recording], options: argparse.Namespace
) -> list[nvspan.Recording]:
    """The same of several runs; standard error says what holds for all of them."""
    parts, said = [], []
    for recording in runs:
        origin = zero(recording)
        start, stop = (
            None if time is None else origin + time for time in (options.start, options.stop)
        )
        part = recording.filter(match=options.filter, start=start, stop=stop)
        parts.append(part)
        said.append(
            emptiness.selection(recording, part, options.filter, options.start, options.stop)
        )
    note(sentence for sentence in said[0] if all(sentence in other for other in said))
    return parts


def chosen_cuda(recording: nvspan.Recording, options: argparse.Namespace) -> nvspan.Recording:
    """A recording of the program's own ranges, and with --cuda of a report of Nsight Systems all
    that is in it."""
    if options.cuda:
        return recording
    domains = recording.domains.text("domain")
    own = [name for name in domains if name not in (CALL_DOMAIN, WORK_DOMAIN)]
    return recording if len(own) == len(domains) else recording.filter(domains=own)


def note(sentences: Iterable[str]) -> None:
    """Prints what the reader of the result should know, on standard error."""
    for sentence in sentences if sys.stderr is not None else ():
        print(f"nvspan: {printable_lines(sentence)}", file=sys.stderr)


def open_recording(
    parser: Parser, files: Sequence[str], *, show_damage: bool = True
) -> nvspan.Recording:
    """Reads the files; what cannot be read ends the command with one line that says so.

    Standard error says what a recording has otherwise than the file that it was made of, and with
    `show_damage` what is damaged or cut off.
    """
    recording = opened(parser, lambda: nvspan.read(*files), files)
    note(f"{path} is named more than once and is read once" for path in split_repeated(files)[1])
    for source in recording._sources.values():
        note(f"{source.path}: {sentence}" for sentence in source.notes)
    if show_damage:
        note(damage_lines(recording))
    return recording


def opened(
    parser: Parser,
    read: Callable[[], Read],
    files: Sequence[str] = (),
    progress: Progress | None = None,
) -> Read:
    """What `read` returns; a file that it cannot read ends the command with one line.

    The line says what to do with a program among `files`.
    """
    try:
        with progress or Progress("reading"):
            return read()
    except OSError as error:
        parser.fail(f"cannot read {error.filename!r}: {error.strerror}")
    except ImportError as error:  # of what URLs need
        parser.fail(str(error))
    except ValueError as error:
        program = next((file for file in files if file.endswith(".py")), None)
        more = "" if program is None else f"; 'nvspan record {program}' makes a recording"
        parser.fail(f"{error}{more}")


def answer_of(
    parser: Parser, options: argparse.Namespace, ask: Callable[[nvspan.Recording], Read]
) -> Read:
    """What `ask` says of the recordings; a ValueError of it ends the command with one line."""
    recording = selected(open_recording(parser, options.files), options)
    try:
        with Progress("counting"):
            answer = ask(recording)
    except ValueError as error:
        parser.fail(str(error))
    if has_events(recording):
        note(emptiness.events(recording, "this answer"))
    return answer


def refuse_compute(parser: Parser, files: Sequence[str], against: Sequence[str] = ()) -> None:
    """Ends the command where a file is a report of Nsight Compute, with what to type instead."""
    if any(file.endswith(_COMPUTE_SUFFIX) for file in (*files, *against)):
        words = [word for file in files for word in ("--read", file)]
        words += [word for file in against for word in ("--against", file)]
        parser.exit(
            2, f"{parser.prog}: for reports of Nsight Compute use nvspan ncu {' '.join(words)}\n"
        )


def refuse_to_replace(parser: Parser, output: str, files: Sequence[str], what: str) -> None:
    """Ends the command where `output` is one of the files that it is to read."""
    files = [file for file in files if os.path.exists(file) and os.path.exists(output)]
    if any(os.path.samefile(output, file) for file in files):
        parser.error(f"{output!r} is {what}")


def make_directory(output: str) -> None:
    """Makes the directory that the file `output` is to be in."""
    os.makedirs(os.path.dirname(output) or ".", exist_ok=True)


def write_text(parser: Parser, output: str, text: str) -> None:
    """Writes a page; where that cannot be done the command ends with one line."""
    try:
        make_directory(output)
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        parser.fail(f"cannot write {output!r}: {error.strerror}")


def stem_of(path: str) -> str:
    """The name of a file or folder without its suffix."""
    name = path.rstrip(os.sep) or path
    return os.path.splitext(name.removesuffix(".gz"))[0]


def emit(text: str, colors: Mapping[int, str] | None = None) -> int:
    """Prints the result; a reader of the pipe that has seen enough is no error.

    A terminal gets escapes for the characters that it would obey, and lines in `colors`, which has
    SGR codes of lines by their number; files and pipes get the text as it is.
    """
    if sys.stdout is None:
        note(["cannot write to standard output: it is closed"])
        return 1
    if sys.stdout.isatty():
        text = printable_lines(text)
        if colors and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
            lines = text.split("\n")
            for number, code in colors.items():
                lines[number] = f"\x1b[{code}m{lines[number]}\x1b[0m"
            text = "\n".join(lines)
    if not text.endswith("\n"):
        text += "\n"
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        note([f"cannot write to standard output: {error.strerror}"])
        return 1
    except UnicodeEncodeError:
        try:
            written = text.encode("utf-8", "surrogateescape")  # a file's name stays its name
        except UnicodeEncodeError:
            written = text.encode("utf-8", "backslashreplace")
        sys.stdout.buffer.write(written)
    return 0
