# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: what stands out in a recording."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nvspan.answers import explain, findings
from nvspan.cli.common.reading import (
    add_escape_formulas,
    add_span,
    emit,
    open_recording,
    parser_of,
    selected,
)
from nvspan.report.progress import Progress
from nvspan.report.render import FORMATS

_DESCRIPTION = """\
Says in plain words what stands out in a recording: what the steps wait for,
warm-up, steps that differ, steps that become slower, large and odd modules,
and what the recording cannot tell. Each finding has its evidence."""


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("explain", _DESCRIPTION)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recordings, or reports of Nsight Systems"
    )
    parser.add_argument(
        "--step", metavar="NAME", help="the range that is a step: its name or domain:name"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="table",
        help="table (numbered paragraphs, the default), or csv, json and markdown",
    )  # fmt: skip
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    add_span(parser)
    add_escape_formulas(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan explain`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    recording = selected(open_recording(parser, options.files), options)
    try:
        with Progress("counting"):
            found = findings.find(recording, options.step)
    except ValueError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    if options.format == "json":
        return emit(explain.as_json(found))
    if options.format == "csv":
        return emit(explain.csv(found, options.escape_formulas))
    return emit(explain.shown(found, options.format))
