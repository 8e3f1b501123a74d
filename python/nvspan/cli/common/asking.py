# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The options that these commands share, and what they do before they print."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from nvspan.cli.common.reading import (
    add_escape_formulas,
    add_span,
    note,
    open_recording,
    selected,
)
from nvspan.recording import Recording
from nvspan.recording.losses import has_events
from nvspan.report import emptiness
from nvspan.report.progress import Progress
from nvspan.report.render import FORMATS

Answer = TypeVar("Answer")


def add_question(parser: argparse.ArgumentParser, format_help: str) -> None:
    """The recordings, the step, the time that is meant, and how to print the answer."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recordings, or reports of Nsight Systems"
    )
    parser.add_argument(
        "--step", metavar="NAME",
        help="the range that is a step: its name or domain:name (* and ?)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, default="table", help=format_help)
    add_span(parser)
    add_escape_formulas(parser)


def answer_of(
    parser: argparse.ArgumentParser, options: argparse.Namespace,
    ask: Callable[[Recording], Answer],
) -> Answer:  # fmt: skip
    """What `ask` says of the recordings; a ValueError of it ends the command with one line."""
    recording = selected(open_recording(parser, options.files), options)
    try:
        with Progress("counting"):
            answer = ask(recording)
    except ValueError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    if has_events(recording):
        note(emptiness.events(recording, "this answer"))
    return answer
