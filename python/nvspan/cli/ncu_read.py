# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ncu --read``: shows reports of Nsight Compute, and compares them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from nvspan.cli.common.options import percentage
from nvspan.cli.common.parser import Parser
from nvspan.cli.common.reading import emit, note, opened
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX
from nvspan.nsight.results import details, tables
from nvspan.nsight.results.result import NcuResult, range_names, read_reports, within
from nvspan.nsight.results.rows import ComparedRow, KernelRow, RangeRow
from nvspan.recording.nearest import hint
from nvspan.report import render, text

_THRESHOLD = 0.05
_ONLY_READING = ("against", "threshold", "fail", "page", "section", "escape-formulas")
_ALLOWED = ("read", "range", "kernels", "metrics", "format", "ncu", *_ONLY_READING)  # with --read


def add_reading(parser: Parser) -> None:
    """Adds the options for reports that exist."""
    option = parser.section("reports that exist")
    option(
        "--read FILE",
        "show a report, and run no program: a row for each RANGE (default: all ranges); further "
        "reports may follow",
        action="append",
    )
    option(
        "--against FILE",
        "compare the report with this earlier one; may be repeated",
        action="append",
    )
    option(
        "--threshold PERCENT",
        "with --fail: ignore changes of the mean up to this (default: 5%%)",
        type=percentage,
    )
    option("--fail", "with --against: exit with 1 if a range became slower")
    option(
        "--page",
        "show ncu's sections and rules for each kernel in the ranges",
        choices=("details",),
    )
    option("--section NAME", "with --page: only this section, as LaunchStats or sol")


def refuse(parser: Parser, options: argparse.Namespace) -> None:
    """Ends the command where options have no effect together."""
    if not options.read:
        return parser.refuse(options, _ONLY_READING, "cannot be used without --read")
    actions = (action for action in parser._actions if action.dest in vars(options))
    flags = (action.option_strings[-1][2:] for action in actions if action.option_strings)
    others = [flag for flag in flags if flag not in _ALLOWED]
    parser.refuse(options, others, "cannot be used with --read, which runs no program")
    if options.against:
        parser.refuse(options, ("kernels", "metrics", "page"), "cannot be used with --against")
    else:
        parser.refuse(options, ("threshold", "fail"), "cannot be used without --against")
    if options.page:
        parser.refuse(options, ("kernels", "metrics"), "cannot be used with --page")
    else:
        parser.refuse(options, ("section",), "cannot be used without --page")


def show(parser: Parser, options: argparse.Namespace, words: Sequence[str]) -> int:
    """Shows the reports of --read and among `words`, the rest of which are ranges."""
    files = [*options.read, *(word for word in words if word.endswith(COMPUTE_SUFFIX))]
    ranges = [*(word for word in words if not word.endswith(COMPUTE_SUFFIX)), *options.range]
    result = _read(parser, options, files)
    before = _read(parser, options, options.against) if options.against else NcuResult([])
    if ranges:
        try:
            filters = range_names([*result.results, *before.results]).filters(ranges)
        except ValueError as error:
            parser.exit(2, f"{parser.prog}: error: {error}\n")
        result, before = within(result, filters), within(before, filters)
    if options.against:
        return _compare(options, before, result)
    if options.page:
        return _details(parser, options, result)
    columns = (KernelRow if options.kernels else RangeRow).columns()
    note(_absent_metrics(result, options.metrics, columns))
    table = result.table(kernels=options.kernels, metrics=options.metrics)
    return emit(tables.formatted(table, options.format, escape=options.escape_formulas))


def _read(parser: Parser, options: argparse.Namespace, files: Sequence[str]) -> NcuResult:
    return opened(parser, lambda: read_reports(files, ncu=options.ncu))


def _absent_metrics(result: NcuResult, metrics: Sequence[str], columns: Sequence[str]) -> list[str]:
    """A sentence about each metric that the reports do not have."""
    known = result.metric_names()
    said = []
    foreign = ": --metrics takes ncu's names here"
    for name in metrics:
        if name in known or name in columns or not known:
            continue
        close = hint(name, known) if "__" in name else ""
        said.append(f"no result has a metric {name!r}" + (close or foreign))
    return said


def _compare(options: argparse.Namespace, before: NcuResult, after: NcuResult) -> int:
    rows = tables.compare(before.ranges(), after.ranges())
    records = [row.as_dict() for row in rows]
    if options.format == "json":
        failed = emit(json.dumps(records, indent=1))
    elif options.format == "csv":
        failed = emit(render.as_csv(records, ComparedRow.columns(), options.escape_formulas))
    else:
        headings, cells = tables.compared(rows)
        layout = text.markdown if options.format == "markdown" else text.aligned
        failed = emit(layout(headings, cells, tables.LEFT) if rows else "no ranges")
    threshold = _THRESHOLD if options.threshold is None else options.threshold
    slower = any((row.change or 0) > threshold for row in rows)
    return 1 if failed or (options.fail and slower) else 0


def _details(parser: Parser, options: argparse.Namespace, result: NcuResult) -> int:
    rows = opened(parser, lambda: details.detail_rows(result, options.ncu))
    if options.section:
        sections = list(dict.fromkeys(str(row.section) for row in rows if row.metric))
        rows = [row for row in rows if details.is_section(row.section, options.section)]
        if sections and not rows:
            note([f"no result has a section {options.section!r}; there are {', '.join(sections)}"])
    return emit(details.formatted(rows, options.format, escape=options.escape_formulas))
