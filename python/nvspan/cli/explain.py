# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: what to fix first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from nvspan.answers import explain
from nvspan.answers.baseline import slower_than
from nvspan.answers.compare import read_runs
from nvspan.answers.explain import explanation
from nvspan.answers.finding import Finding
from nvspan.answers.findings import analyze
from nvspan.answers.overview import overview
from nvspan.cli.common.options import QUESTION
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import answer_of, emit, opened, selected_runs
from nvspan.report.narrow import width_of

_DESCRIPTION = """\
Lists what to fix first in a recording, with evidence and the next command. It
looks at the largest phase, waits, steps that differ or slow down, time between
steps, stages of the run and slow requests; also at what the GPU waits for, slow
ranks, imports and the cost of recording. --baseline adds what became slower
since earlier runs."""


def _baseline(parser: Parser, options: argparse.Namespace) -> list[Finding]:
    """Changes since the runs of --baseline."""
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
    parser.option("--baseline OLD", "list what became slower since these runs", nargs="+")
    options = parser.parse_args(argv)
    analysis = answer_of(parser, options, lambda recording: analyze(recording, options.step))
    said = explanation(analysis, _baseline(parser, options) if options.baseline else ())
    if options.format == "json":
        return emit(explain.as_json(said))
    if options.format == "csv":
        return emit(explain.csv(said, options.escape_formulas))
    # Of a program without ranges, its functions are the answer.
    has_functions = analysis.lines is not None and not analysis.stats.rows
    table = overview(analysis, width_of(sys.stdout)) if has_functions else ""
    return emit(explain.render(said, options.format, table=table))
