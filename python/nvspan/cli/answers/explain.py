# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: what stands out in a recording."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nvspan.answers import explain, findings
from nvspan.cli.answers.asking import add_question, answer_of
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit

_DESCRIPTION = """\
Says in plain words what stands out in a recording: what the steps wait for,
warm-up, steps that differ, steps that become slower, large and odd modules,
and what the recording cannot tell. Each finding has its evidence."""


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("explain", _DESCRIPTION)
    add_question(parser, "table (numbered paragraphs, the default), or csv, json and markdown")
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan explain`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    found = answer_of(parser, options, lambda recording: findings.find(recording, options.step))
    if options.format == "json":
        return emit(explain.as_json(found))
    if options.format == "csv":
        return emit(explain.csv(found, options.escape_formulas))
    return emit(explain.shown(found, options.format))
