# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands that read recordings have in common."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import nvspan
from nvspan.report.progress import Progress
from nvspan.report.summary import zero
from nvspan.report.text import parse_duration


def parser_of(command: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"nvspan {command}", description=description, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip


def _time(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that say which part of a recording is meant."""
    parser.add_argument(
        "--filter", metavar="PATTERN", action="append",
        help="only ranges whose name, or domain:name, is like this (with * and ?); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--from", metavar="TIME", dest="start", type=_time,
        help="only ranges that begin so long after the recording did, or later: 1.5s, 20ms, ...",
    )  # fmt: skip
    parser.add_argument(
        "--to", metavar="TIME", dest="stop", type=_time, help="only ranges that begin before this"
    )


def selected(recording: nvspan.Recording, options: argparse.Namespace) -> nvspan.Recording:
    """The part of a recording that --filter, --from and --to ask for."""
    origin = zero(recording)
    return recording.filter(
        match=options.filter,
        start=None if options.start is None else origin + options.start,
        stop=None if options.stop is None else origin + options.stop,
    )


def open_recording(parser: argparse.ArgumentParser, files: Sequence[str]) -> nvspan.Recording:
    """Reads the files; what cannot be read ends the command with one line that says so."""
    try:
        with Progress("reading"):
            return nvspan.read(*files)
    except OSError as error:
        parser.exit(1, f"{parser.prog}: cannot read {error.filename!r}: {error.strerror}\n")
    except ValueError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def emit(text: str) -> int:
    """Prints the result; a reader of the pipe that has seen enough is no error."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UnicodeEncodeError:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    return 0
