# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands that read recordings have in common."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import nvspan
from nvspan.recording.clock import zero
from nvspan.recording.losses import damage_lines
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN
from nvspan.report import emptiness
from nvspan.report.progress import Progress
from nvspan.report.text import parse_duration, printable_lines

Read = TypeVar("Read")


def _time(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that say which part of a recording is meant."""
    parser.add_argument(
        "--filter", metavar="PATTERN", action="append",
        help="only ranges whose name or domain:name matches PATTERN (* and ?); may be repeated",
    )  # fmt: skip
    add_span(parser)


def add_span(parser: argparse.ArgumentParser) -> None:
    """The options that say which stretch of a recording's time is meant."""
    parser.set_defaults(filter=None)
    parser.add_argument(
        "--from", metavar="TIME", dest="start", type=_time,
        help="only ranges that begin this long after the recording did, or later: 1.5s, 20ms, ...",
    )  # fmt: skip
    parser.add_argument(
        "--to",
        metavar="TIME",
        dest="stop",
        type=_time,
        help="only ranges that begin before this time",
    )


def selected(recording: nvspan.Recording, options: argparse.Namespace) -> nvspan.Recording:
    """The part of a recording that --filter, --from and --to ask for.

    Standard error says why nothing is left, and which pattern is like no name.
    """
    return selected_runs([recording], options)[0]


def selected_runs(
    runs: Sequence[nvspan.Recording], options: argparse.Namespace
) -> list[nvspan.Recording]:
    """The same of several runs; standard error says what holds for all of them."""
    parts = []
    said = []
    for recording in runs:
        origin = zero(recording)
        part = recording.filter(
            match=options.filter,
            start=None if options.start is None else origin + options.start,
            stop=None if options.stop is None else origin + options.stop,
        )
        parts.append(part)
        said.append(
            emptiness.selection(recording, part, options.filter, options.start, options.stop)
        )
    note(sentence for sentence in said[0] if all(sentence in other for other in said))
    return parts


def add_cuda(parser: argparse.ArgumentParser) -> None:
    """Adds the option without which `chosen_cuda` leaves out what nsys saw of CUDA."""
    parser.add_argument(
        "--cuda", action="store_true",
        help="of reports of Nsight Systems: also show CUDA's calls, kernels, copies and sets",
    )  # fmt: skip


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


def add_escape_formulas(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--escape-formulas", action="store_true",
        help="with csv: put a ' before each text that a spreadsheet would take for a formula",
    )  # fmt: skip


def positive(text: str) -> int:
    """A number of rows that an option gives."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {value}")
    return value


def open_recording(
    parser: argparse.ArgumentParser, files: Sequence[str], *, show_damage: bool = True
) -> nvspan.Recording:
    """Reads the files; what cannot be read ends the command with one line that says so.

    Standard error says what a recording has otherwise than the file that it was made of, and with
    `show_damage` what is damaged or cut off.
    """
    recording = opened(parser, lambda: nvspan.read(*files), files)
    for source in recording._sources.values():
        note(f"{source.path}: {sentence}" for sentence in source.notes)
    if show_damage:
        note(damage_lines(recording))
    return recording


def opened(
    parser: argparse.ArgumentParser, read: Callable[[], Read], files: Sequence[str] = (),
    progress: Progress | None = None,
) -> Read:  # fmt: skip
    """What `read` returns; a file that it cannot read ends the command with one line.

    The line says what to do with a program among `files`.
    """
    try:
        with progress or Progress("reading"):
            return read()
    except OSError as error:
        parser.exit(1, f"{parser.prog}: cannot read {error.filename!r}: {error.strerror}\n")
    except ImportError as error:  # of what URLs need
        parser.exit(1, f"{parser.prog}: {error}\n")
    except ValueError as error:
        program = next((file for file in files if file.endswith(".py")), None)
        more = "" if program is None else f"; 'nvspan record {program}' makes a recording"
        parser.exit(1, f"{parser.prog}: {error}{more}\n")


def refuse_to_replace(
    parser: argparse.ArgumentParser, output: str, files: Sequence[str], what: str
) -> None:
    """Ends the command where `output` is one of the files that it is to read."""
    if any(os.path.exists(output) and os.path.samefile(output, file)
           for file in files if os.path.exists(file)):  # fmt: skip
        parser.error(f"{output!r} is {what}")


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
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        note([f"cannot write to standard output: {error.strerror}"])
        return 1
    except UnicodeEncodeError:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    return 0
