# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan steps``: where the time of each step went."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from nvspan.answers import steps
from nvspan.cli.common import many
from nvspan.cli.common.options import MANY, QUESTION, names, positive
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import answer_of, emit, note
from nvspan.report.narrow import width_of
from nvspan.report.render import as_csv

_DESCRIPTION = """\
Divides the steps of a program among their phases: the time on the CPU, the GPU
work that each phase launched, and the time in which the GPU had no work. Names
what the typical step waits for, and the steps that differ.

Steps are the ranges that nvspan.torch.auto() and nvspan.step() make, or else
ranges with numbered or common names, or the range that repeats and holds
different parts. The first lines name the choice and the next best. Phases are
those of auto(), or else the ranges directly within a step."""


def _show_job(parser: Parser, options: argparse.Namespace) -> int:
    """A line for each rank, the slowest first; JSON has all that is known of each."""
    from nvspan.ranks.tables import steps_csv, steps_table

    many.refuse(parser, options, "phases", "each")
    job = many.read_files(parser, options.files, options.executor, steps=True, step=options.step)
    try:
        found = job.steps()
    except ValueError:
        parser.fail("no file has steps")
    if options.format == "json":
        rows = [row.as_dict() for row in found.ranks[: options.top]]
        return emit(json.dumps(rows, indent=1))
    if options.format == "csv":
        columns, rows = steps_csv(found)
        return emit(as_csv(rows[: options.top], columns, options.escape_formulas))
    return emit(steps_table(found, options.top, options.format))


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan steps`` with the arguments `argv`."""
    parser = parser_of("steps", _DESCRIPTION, QUESTION, MANY)
    parser.option("--phases NAME,NAME", "the ranges that are a step's phases", type=names)
    parser.option("--each", "show every step, not only those that differ")
    parser.option("--top N", "show only the first N steps", type=positive)
    options = parser.parse_args(argv)
    if many.is_many(options, options.files):
        return _show_job(parser, options)
    found = answer_of(
        parser, options, lambda recording: recording.steps(options.step, options.phases)
    )
    note(steps.notes(found))
    if options.format == "json":
        return emit(steps.as_json(found, options.top))
    if options.format == "csv":
        return emit(steps.csv(found, options.top, options.escape_formulas))
    width = width_of(sys.stdout)
    return emit(
        steps.render(found, each=options.each, top=options.top, form=options.format, width=width)
    )
