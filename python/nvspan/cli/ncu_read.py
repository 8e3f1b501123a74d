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
from nvspan.cli.program.ncu_session import write_table
from nvspan.nsight.lines.ncu_command import chosen_kernels, section_words
from nvspan.nsight.lines.ncu_options import (
    CHOICE_VALUES,
    PAGES,
    PRINT_FLAGS,
    PRINT_VALUES,
    printing,
    words_of,
)
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results import details, tables
from nvspan.nsight.results.csv_reader import printed
from nvspan.nsight.results.result import (
    NcuResult,
    needed_tool,
    range_names,
    read_reports,
    within,
)
from nvspan.nsight.results.rows import ComparedRow, KernelRow, RangeRow
from nvspan.recording.nearest import hint
from nvspan.report import render, text

_THRESHOLD = 0.05
_ONLY_READING = ("against", "threshold", "fail", "escape-formulas")
_CHOOSING = ("kernel", "kernel-id", "launch-skip", "launch-count", *CHOICE_VALUES)
_OF_NCU = ("set", "force", "force-overwrite", "output", *PRINT_FLAGS, *PRINT_VALUES)
_ALLOWED = {  # with --read
    *("read", "range", "exclude", "nvtx", "nvtx-include", "nvtx-exclude", "kernels", "metrics"),
    *("section", "page", "format", "csv", "log-file", "ncu"),
    *(*_CHOOSING, *_OF_NCU, *_ONLY_READING),
}


def add_reading(parser: Parser) -> None:
    """Adds the options for reports that exist."""
    option = parser.section("existing reports")
    option(
        "-i, --import, --read FILE",
        "show a report, and run no program: a row for each RANGE (default: all ranges); further "
        "reports may follow",
        action="append",
        dest="read",
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
        "details: ncu's sections and rules for each kernel in the ranges; the others, and what "
        "--print-summary and ncu's other --print options choose, are shown as ncu prints them",
        choices=PAGES,
    )
    option("--print-summary NAME", "per-kernel, per-gpu or per-nvtx", action="append")


def refuse(parser: Parser, options: argparse.Namespace) -> None:
    """Ends the command where options have no effect together."""
    if printing(vars(options)) and options.format not in ("table", "csv"):
        parser.error(f"--format {options.format} cannot be used with what ncu prints itself")
    if not options.read:
        return parser.refuse(options, _ONLY_READING, "cannot be used without --read")
    actions = (action for action in parser._actions if action.dest in vars(options))
    flags = (action.option_strings[-1][2:] for action in actions if action.option_strings)
    others = [flag for flag in flags if flag not in _ALLOWED]
    parser.refuse(options, others, "cannot be used with --read, which runs no program")
    of_page = ("page", "section", *_OF_NCU)
    if options.against:
        parser.refuse(options, ("kernels", "metrics", *of_page), "cannot be used with --against")
    else:
        parser.refuse(options, ("threshold", "fail"), "cannot be used without --against")
    if _has_details(options):
        parser.refuse(options, ("kernels", "metrics"), "cannot be used with --page")


def _has_details(options: argparse.Namespace) -> bool:
    """Whether the page "details" is shown, as ncu does for sections, and not by ncu."""
    return not _by_ncu(options) and bool(options.page or options.sections)


def _by_ncu(options: argparse.Namespace) -> bool:
    return bool(options.output or options.sets or printing(vars(options)))


def show(parser: Parser, options: argparse.Namespace, words: Sequence[str]) -> int:
    """Shows the reports of --read and among `words`, the rest of which are ranges."""
    files = [*options.read, *(word for word in words if word.endswith(COMPUTE_SUFFIX))]
    ranges = [*(word for word in words if not word.endswith(COMPUTE_SUFFIX)), *options.range]
    try:
        filters = [RangeFilter.parse(text) for text in options.nvtx_include]
        excluded = [RangeFilter.parse(text) for text in options.nvtx_exclude]
        choosing = [
            *chosen_kernels(
                options.kernel, options.kernel_id, options.launch_skip, options.launch_count
            ),
            *words_of(vars(options), CHOICE_VALUES),
        ]
    except ValueError as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    result = _read(parser, options, files, choosing)
    before = NcuResult([])
    if options.against:
        before = _read(parser, options, options.against, choosing)
    if ranges or options.exclude:
        known = range_names([*result.results, *before.results])
        try:
            filters += known.filters(ranges) if ranges else []
            excluded += known.filters(options.exclude) if options.exclude else []
        except ValueError as error:
            parser.exit(2, f"{parser.prog}: error: {error}\n")
    if _by_ncu(options):
        return _print_by_ncu(
            parser, options, files, [*choosing, *_of_ncu(options, filters, excluded)]
        )
    if filters or excluded:
        result, before = within(result, filters, excluded), within(before, filters, excluded)
    if options.against:
        return _compare(options, before, result)
    if _has_details(options):
        return _details(parser, options, result, choosing)
    columns = (KernelRow if options.kernels else RangeRow).columns()
    note(_absent_metrics(result, options.metrics, columns))
    table = result.table(kernels=options.kernels, metrics=options.metrics)
    return _emit(options, tables.formatted(table, options.format, escape=options.escape_formulas))


def _read(
    parser: Parser, options: argparse.Namespace, files: Sequence[str], choosing: Sequence[str]
) -> NcuResult:
    return opened(parser, lambda: read_reports(files, ncu=options.ncu, options=choosing))


def _of_ncu(
    options: argparse.Namespace, filters: Sequence[RangeFilter], excluded: Sequence[RangeFilter]
) -> list[str]:
    """What ncu is to print of a report, or to write into another one."""
    words = printing(vars(options))
    words += [word for name in options.sets for word in ("--set", name)]
    words += section_words(options.sections)
    words += ["--metrics", ",".join(options.metrics)] if options.metrics else []
    # ncu refuses --nvtx together with --import, and filters a report's ranges without it.
    words += [word for filter in filters for word in filter.arguments()]
    words += [word for filter in excluded for word in filter.arguments(exclude=True)]
    if options.output:
        words += ["--export", options.output, *["--force-overwrite"] * options.force]
    return words


def _print_by_ncu(
    parser: Parser, options: argparse.Namespace, files: Sequence[str], words: Sequence[str]
) -> int:
    shown = [
        opened(parser, lambda: printed(file, needed_tool(file, options.ncu), *words))  # noqa: B023
        for file in files
    ]
    return _emit(options, "".join(shown))


def _emit(options: argparse.Namespace, text: str) -> int:
    if options.log_file in (None, "stdout"):
        return emit(text)
    return write_table(text, options.log_file)


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
        failed = _emit(options, json.dumps(records, indent=1))
    elif options.format == "csv":
        failed = _emit(
            options, render.as_csv(records, ComparedRow.columns(), options.escape_formulas)
        )
    else:
        headings, cells = tables.compared(rows)
        layout = text.markdown if options.format == "markdown" else text.aligned
        failed = _emit(options, layout(headings, cells, tables.LEFT) if rows else "no ranges")
    threshold = _THRESHOLD if options.threshold is None else options.threshold
    slower = any((row.change or 0) > threshold for row in rows)
    return 1 if failed or (options.fail and slower) else 0


def _details(
    parser: Parser, options: argparse.Namespace, result: NcuResult, choosing: Sequence[str]
) -> int:
    rows = opened(parser, lambda: details.detail_rows(result, options.ncu, *choosing))
    if options.sections:
        known = list(dict.fromkeys(str(row.section) for row in rows if row.metric))
        is_shown = details.is_section
        rows = [row for row in rows if any(is_shown(row.section, n) for n in options.sections)]
        if known and not rows:
            names = " or ".join(map(repr, options.sections))
            note([f"no result has a section {names}; there are {', '.join(known)}"])
    return _emit(options, details.formatted(rows, options.format, escape=options.escape_formulas))
