# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan steps``: where the time of each step went."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from nvspan.answers import steps
from nvspan.cli.common import many
from nvspan.cli.common.asking import add_question, answer_of
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note, positive
from nvspan.report.narrow import width_of

_DESCRIPTION = """\
Shows where the steps of a program spend their time: each phase on the CPU, the
work of the GPU that it launched, and what the CPU did while the GPU had no
work; what the typical step waits for; and which steps differ, and in what.

Steps are the ranges that nvspan.torch.auto() and nvspan.step() make, or else
the widest range that repeats. Phases are those of auto(), or else the ranges
directly within a step."""


def _names(given: str) -> list[str]:
    names = [name for name in given.split(",") if name]
    if not names:
        raise argparse.ArgumentTypeError("names of ranges, separated by commas, are needed")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("steps", _DESCRIPTION)
    add_question(
        parser, "table (the default) or markdown; csv and json have every step, with times in ns"
    )
    parser.add_argument(
        "--phases", metavar="NAME,NAME", type=_names,
        help="the ranges within a step that its time is shared out to",
    )  # fmt: skip
    parser.add_argument(
        "--each", action="store_true", help="show every step, not only those that differ"
    )
    parser.add_argument("--top", metavar="N", type=positive, help="show only the first N steps")
    many.add_many(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan steps`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    if many.is_many(options):
        return many.show_steps(parser, options)
    found = answer_of(
        parser, options, lambda recording: recording.steps(options.step, options.phases)
    )
    note(steps.notes(found))
    if options.format == "json":
        return emit(steps.as_json(found, options.top))
    if options.format == "csv":
        return emit(steps.csv(found, options.top, options.escape_formulas))
    return emit(
        steps.shown(
            found,
            each=options.each,
            top=options.top,
            form=options.format,
            width=width_of(sys.stdout),
        )
    )
