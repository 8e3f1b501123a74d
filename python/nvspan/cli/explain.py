# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: what stands out in a recording."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from nvspan.answers import explain, findings
from nvspan.answers.baseline import slower_than
from nvspan.answers.compare import read_runs
from nvspan.answers.finding import Finding
from nvspan.cli.common.options import QUESTION
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import answer_of, emit, opened, selected_runs

_DESCRIPTION = """\
Says in plain words what stands out in a recording: what the steps wait for,
warm-up, steps that differ, steps that become slower, slow ranks, imports, large
and odd modules, and what the recording cannot tell; with --baseline also what
became slower since earlier runs. Each finding has its evidence."""


def _baseline(parser: Parser, options: argparse.Namespace) -> list[Finding]:
    """What became slower since the runs of --baseline."""
    sides = []
    for files in (options.baseline, options.files):
        runs = opened(parser, partial(read_runs, *files))
        sides.append(selected_runs(runs, options))
    try:
        return slower_than(sides[0], sides[1], options.step)
    except ValueError as error:
        parser.fail(str(error))


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan explain`` with the arguments `argv`."""
    parser = parser_of("explain", _DESCRIPTION, QUESTION)
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    parser.option("--baseline OLD", "say what became slower since these runs", nargs="+")
    options = parser.parse_args(argv)
    found = answer_of(parser, options, lambda recording: findings.find(recording, options.step))
    if options.baseline:
        found = [*_baseline(parser, options), *found]
    if options.format == "json":
        return emit(explain.as_json(found))
    if options.format == "csv":
        return emit(explain.csv(found, options.escape_formulas))
    return emit(explain.render(found, options.format))
