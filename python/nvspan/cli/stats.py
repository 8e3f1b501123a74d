# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan stats``: a table of the ranges of recordings."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence

import nvspan
from nvspan.cli.common import many
from nvspan.cli.common.options import CUDA, FILES, MANY, SELECTION, TABLE, positive
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import (
    chosen_cuda,
    emit,
    note,
    open_recording,
    refuse_compute,
    selected,
)
from nvspan.nsight.nsys import compat as nsys_compat
from nvspan.recording.losses import gap_lines
from nvspan.recording.nearest import hint
from nvspan.report import emptiness, gpu, lines, render, text, tree
from nvspan.report.narrow import fitted, width_of
from nvspan.report.progress import Progress
from nvspan.report.summary import COLUMNS, GROUPS, Summary, call_tree

_MOST_ROWS, _MOST_LINES = 100, 30  # of a table for people
_DESCRIPTION = """\
Tabulates the ranges of recordings: calls, total time, self time (without the ranges inside), and
the distribution of durations. The files of several processes are read together. The first lines
list lost events and ranges still open at the end, whose time until then counts."""


def _group(given: str) -> str:
    if given in GROUPS or (given.startswith("payload.") and given != "payload."):
        return given
    known = ", ".join(GROUPS[1:])
    raise argparse.ArgumentTypeError(
        f"{given!r} is not one of {known}, payload.FIELD{hint(given, (*GROUPS[1:], 'payload.'))}"
    )


def _rows(given: str) -> int:
    return sys.maxsize if given == "all" else positive(given)


def _column(given: str) -> str:
    if given in COLUMNS:
        return given
    raise argparse.ArgumentTypeError(
        f"there is no column {given!r}{hint(given, COLUMNS)} (columns: {', '.join(COLUMNS)})"
    )


def _parser() -> Parser:
    parser = parser_of("stats", _DESCRIPTION, FILES, SELECTION, TABLE, CUDA, MANY)
    parser.option(
        "--tree",
        "show each range below the one that encloses it; the default for nested ranges of the CPU "
        f"in at most {tree.MOST_LINES} lines, unless another option asks for a table",
    )
    parser.option("--flat", "show a table, not a tree")
    parser.option(
        "--ancestors", "with --filter, in a tree: show the ranges around those that match"
    )
    parser.option(
        "--by GROUP",
        f"split each range into rows by {', '.join(GROUPS[1:])} or payload.FIELD, a field of its "
        "payload",
        type=_group,
        default="name",
    )
    parser.option(
        "--sort COLUMN",
        f"{', '.join(COLUMNS)}; the largest first, 'first' by appearance (default: total, of a "
        f"profile self); in a tree {', '.join(tree.SORTS)}",
        type=_column,
    )
    parser.option(
        "--top N",
        f"show only the first N rows; 'all' shows every row (default: {_MOST_ROWS} in a table, and "
        "all in csv and json)",
        type=_rows,
    )
    parser.option("--gpu", "show what the GPU did for each range: the work launched within it")
    parser.option(
        "--lines RANGE",
        "show the lines of Python in which the time is, from samples (nvspan record --lines): of "
        "the whole program, or within ranges called RANGE, with * and ?",
        nargs="?",
        const="",
    )
    parser.option("--functions", "with --lines: show functions")
    parser.option("--show-stdlib", "with --lines: show the standard library, which else counts "
                  "where it is called")  # fmt: skip
    parser.option(
        "--compat nsys[:REPORT]",
        "the columns and numbers of 'nsys stats -r REPORT': nvtx_sum (the default), "
        "nvtx_gpu_proj_sum (with --gpu), nvtx_pushpop_sum, nvtx_pushpop_trace, nvtx_startend_sum, "
        "nvtx_gpu_proj_trace, nvtx_kern_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum or "
        "cuda_api_sum",
        choices=("nsys", *(f"nsys:{name}" for name in nsys_compat.REPORTS)),
    )
    return parser


def _compat(recording: nvspan.Recording, options: argparse.Namespace) -> str:
    name = "nvtx_gpu_proj_sum" if options.gpu else "nvtx_sum"
    columns, rows_of, texts = nsys_compat.REPORTS[options.compat.partition(":")[2] or name]
    rows = rows_of(recording)[: options.top]
    if options.format == "csv":
        return render.as_csv(rows, columns, options.escape_formulas)
    if options.format == "json":
        return json.dumps(rows, indent=1)
    if not rows:
        return "no ranges"
    cells = [
        ["" if value is None else text.printable(str(value)) for value in row.values()]
        for row in rows
    ]
    return fitted(columns, cells, texts, form=options.format)


def _tree(options: argparse.Namespace, summary: Summary, shown_rows: Sequence[tree.Line]) -> str:
    shown_rows = shown_rows[: options.top]
    rows = [line.as_dict() for line in shown_rows]
    if options.format == "json":
        facts = {"wall": summary.wall, "notes": summary.notes, "footnotes": summary.footnotes()}
        return json.dumps({**facts, "rows": rows}, indent=1)
    if options.format == "csv":
        return render.as_csv(rows, tree.COLUMNS, options.escape_formulas)
    shown = [
        *summary.notes,
        tree.lines(shown_rows, None if options.format == "markdown" else width_of(sys.stdout)),
        *(summary.footnotes() if rows else []),
    ]
    if options.format == "markdown":
        return "\n".join(["```text", *shown, "```"])
    return "\n".join(shown)


def _tree_rows(
    recording: nvspan.Recording, options: argparse.Namespace, summary: Summary
) -> list[tree.Line] | None:
    """The lines of the tree, where one is asked for or says more than a table; else None."""
    asked = options.tree or options.ancestors
    table = options.flat or options.by != "name" or options.top or options.format != "table"
    sort = options.sort or "total"
    if not asked and (table or sort not in tree.SORTS or summary.gpu or summary.is_profile):
        return None
    if not asked and summary.count > tree.MOST_LINES:
        return None  # each row has a line at least
    nodes = call_tree(recording, options.ancestors)
    if not asked and len(nodes) > tree.MOST_LINES:
        return None
    rows = tree.rows(nodes, summary.wall, sort)
    rows = [row for row in rows if row.calls or row.unclosed]
    return rows if asked or tree.helps(rows) else None


def _refuse_together(parser: Parser, options: argparse.Namespace) -> None:
    """Ends the command where an option would have no effect beside another."""
    tables = parser.given(options, "tree", "flat", "gpu", "compat", "lines")
    if len(tables) > 1 and tables != ["--gpu", "--compat"]:
        parser.error(f"{' and '.join(tables)} cannot be used together")
    if options.ancestors and (not options.filter or tables not in ([], ["--tree"])):
        parser.error("--ancestors is for the tree of what --filter takes")
    if options.lines is None:
        parser.refuse(options, ["functions", "show-stdlib"], "needs --lines")
    names = ["by", "sort"]
    if options.lines is not None:
        names.remove("sort")
        if options.sort not in (None, *lines.SORTS):
            parser.error(f"lines are sorted by {', '.join(lines.SORTS)}, not {options.sort}")
    if options.tree or options.ancestors:
        names.remove("sort")
        if options.sort not in (None, *tree.SORTS):
            parser.error(f"a tree is sorted by {', '.join(tree.SORTS)}, not {options.sort}")
    if options.ancestors or tables not in ([], ["--flat"]):
        tables = tables or ["--ancestors"]
        parser.refuse(options, names, f"cannot be used with {' and '.join(tables)}")


def _table(summary: Summary, options: argparse.Namespace) -> int:
    """Prints the rows, in the order and format asked for."""
    if options.sort:
        summary.sort(options.sort)
    if options.format == "csv":
        note(summary.notes)
        raw = render.raw_rows(summary, options.top)
        columns = render.raw_columns(summary)
        return emit(render.as_csv(raw, columns, options.escape_formulas))
    if options.format == "json":
        return emit(render.as_json(summary, options.top))
    top = options.top or _MOST_ROWS
    if summary.count > top and not options.top:
        note([f"{top} of {summary.count:,} rows; '--top all' shows every row"])
    if options.format == "markdown":
        return emit(render.as_markdown(summary, top))
    if (
        sys.stdout is not None
        and sys.stdout.isatty()
        and render.rich_table(summary, sys.stdout, top)
    ):
        return 0
    return emit(render.plain(summary, top, width_of(sys.stdout)))


def _show_job(parser: Parser, options: argparse.Namespace) -> int:
    """The files of many ranks have no tree and no timeline, but rows of each rank."""
    from nvspan.ranks.tables import collectives_table, summary_of

    many.refuse(parser, options, "tree", "flat", "ancestors", "gpu", "cuda", "compat", "lines")
    if options.by not in ("name", "rank"):
        parser.error(f"argument --by: of many files it is rank, not {options.by!r}")
    by_rank = options.by == "rank"
    job = many.read_files(parser, options.files, options.executor, by_rank=by_rank)
    summary, collectives = summary_of(job, options.by, options.filter), job.collectives(options.by)
    if options.format == "json":
        document = json.loads(render.as_json(summary, options.top))
        rows = [row.as_dict() for row in collectives[: options.top]]
        return emit(json.dumps({**document, "collectives": rows}, indent=1))
    status = _table(summary, options)
    if options.format == "csv" or not collectives or status:
        return status
    return emit(f"\n{collectives_table(collectives, options.top, options.format)}")


def _with_range(argv: Sequence[str]) -> list[str]:
    """What follows --lines is a recording, not a range, where there is such a file."""
    words = list(argv)
    for at, word in enumerate(words[:-1]):
        if word == "--lines" and os.path.exists(words[at + 1]):
            words[at] = "--lines="
    return words


def _lines(recording: nvspan.Recording, options: argparse.Namespace) -> int:
    by = "function" if options.functions else "line"
    with Progress("counting"):
        found = recording.lines(by, show_stdlib=options.show_stdlib)
        if options.lines:
            found = found.within(options.lines)
    note(emptiness.samples(found, options.lines))
    sort = options.sort or "self"
    if options.format == "csv":
        return emit(lines.csv(found, sort, options.top, options.escape_formulas))
    if options.format == "json":
        return emit(lines.as_json(found, sort, options.top))
    if not found.samples:
        return 0
    top = options.top or _MOST_LINES
    width = width_of(sys.stdout)
    return emit(lines.table(found, sort=sort, top=top, form=options.format, width=width,
                            within=options.lines))  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan stats`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(_with_range(argv))
    refuse_compute(parser, options.files)
    if many.is_many(options, options.files):
        return _show_job(parser, options)
    _refuse_together(parser, options)
    recording = open_recording(parser, options.files, show_damage=options.compat)
    recording = selected(recording, options)
    if not options.compat:
        recording = chosen_cuda(recording, options)
    if options.lines is not None:
        return _lines(recording, options)
    if options.compat:
        with Progress("counting"):
            shown = _compat(recording, options)
        note(emptiness.events(recording, "this table"))
        return emit(shown)
    if options.gpu:
        with Progress("counting"):
            found = recording.projection()
        note(emptiness.events(recording, "this table") or gpu.notes(found))
        note(gap_lines(recording))
        width = width_of(sys.stdout)
        return emit(gpu.render(found, options.format, options.top, options.escape_formulas, width))
    with Progress("counting"):
        top = options.top or (None if options.format in ("csv", "json") else _MOST_ROWS)
        gc.disable()  # its passes take 3 of 11 s where a million rows are made
        summary = Summary(recording, options.by, most=top, sort=options.sort)
        gc.enable()
        rows = _tree_rows(recording, options, summary)
    if rows is not None:
        note(emptiness.events(recording, "the tree"))
        return emit(_tree(options, summary, rows))
    unknown = emptiness.unknown_field(recording, options.by, summary.stats.rows)
    if unknown is not None:
        parser.fail(f"--by: {unknown}")
    if not (summary.rows or options.filter or options.start or options.stop):
        note(emptiness.nothing(recording))
    note(emptiness.grouping(recording, options.by, summary.stats.rows))
    return _table(summary, options)
