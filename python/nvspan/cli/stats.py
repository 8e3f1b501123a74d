# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan stats``: a table of the ranges of recordings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import nvspan
from nvspan.cli.common import many
from nvspan.cli.common.ncu_reports import is_ncu, names, read_ncu
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import (
    add_cuda,
    add_escape_formulas,
    add_selection,
    chosen_cuda,
    emit,
    note,
    open_recording,
    positive,
    selected,
)
from nvspan.nsight.nsys import compat as nsys_compat
from nvspan.recording.nearest import hint
from nvspan.report import emptiness, gpu, render, text, tree
from nvspan.report.narrow import width_of
from nvspan.report.progress import Progress
from nvspan.report.summary import COLUMNS, GROUPS, Summary, call_tree

_DESCRIPTION = """\
Shows every range of recordings: how often it ran, its total time, its time without the ranges
inside it, and how its durations are distributed. The files of several processes are read together.
The first lines list what the statistics leave out: ranges still open at the end, and lost
events."""


TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.nsight.results.result import NcuResult


def _group(given: str) -> str:
    if given in GROUPS or (given.startswith("payload.") and given != "payload."):
        return given
    known = ", ".join(GROUPS[1:])
    raise argparse.ArgumentTypeError(
        f"{given!r} is not one of {known}, payload.FIELD{hint(given, (*GROUPS[1:], 'payload.'))}"
    )


def _column(given: str) -> str:
    if given in COLUMNS:
        return given
    raise argparse.ArgumentTypeError(
        f"there is no column {given!r}{hint(given, COLUMNS)} (columns: {', '.join(COLUMNS)})"
    )


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("stats", _DESCRIPTION)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="recordings or reports of Nsight Systems, or reports of Nsight Compute",
    )
    parser.add_argument(
        "--format", choices=render.FORMATS, default="table",
        help="table (the default), or csv, json and markdown; csv and json give times in ns",
    )  # fmt: skip
    parser.add_argument(
        "--tree", action="store_true",
        help="show each range below the one that encloses it; the default where ranges nest, none "
        f"is of a GPU, {tree.MOST_LINES} lines hold them, and no other option asks for a table",
    )  # fmt: skip
    parser.add_argument("--flat", action="store_true", help="show a table, and no tree")
    parser.add_argument(
        "--ancestors", action="store_true",
        help="with --filter, in a tree: also show the ranges around those that match",
    )  # fmt: skip
    parser.add_argument(
        "--by", type=_group, default="name", metavar="GROUP",
        help=f"split each range into rows by {', '.join(GROUPS[1:])} or payload.FIELD, "
        "a field of its payload",
    )  # fmt: skip
    parser.add_argument(
        "--sort", metavar="COLUMN", type=_column,
        help=f"{', '.join(COLUMNS)}; the largest first, but of 'first' what appeared first (the "
        f"default is total, of a profile self); of a tree {', '.join(tree.SORTS)}",
    )  # fmt: skip
    parser.add_argument("--top", metavar="N", type=positive, help="show only the first N rows")
    parser.add_argument(
        "--kernels", action="store_true", help="of x.ncu-rep: a row for each kernel"
    )
    parser.add_argument(
        "--metrics", metavar="NAME[,NAME]", type=names, default=[],
        help="of x.ncu-rep: further columns, by ncu's names",
    )  # fmt: skip
    add_selection(parser)
    add_escape_formulas(parser)
    parser.add_argument(
        "--gpu", action="store_true",
        help="show what the GPU did for each range: the work that was launched within it",
    )  # fmt: skip
    add_cuda(parser)
    many.add_many(parser)
    parser.add_argument(
        "--compat", metavar="nsys[:REPORT]",
        choices=("nsys", *(f"nsys:{name}" for name in nsys_compat.REPORTS)),
        help="the columns and numbers of 'nsys stats -r REPORT': nvtx_sum (the default), "
        "nvtx_gpu_proj_sum (with --gpu), nvtx_gpu_proj_trace or nvtx_kern_sum",
    )  # fmt: skip
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
    layout = text.markdown if options.format == "markdown" else text.aligned
    return layout(columns, cells, texts)


def _tree(options: argparse.Namespace, summary: Summary, rows: Sequence[dict[str, Any]]) -> str:
    rows = rows[: options.top]
    if options.format == "json":
        facts = {"wall": summary.wall, "notes": summary.notes, "footnotes": summary.footnotes()}
        return json.dumps({**facts, "rows": rows}, indent=1)
    if options.format == "csv":
        return render.as_csv(rows, tree.COLUMNS, options.escape_formulas)
    shown = [
        *summary.notes,
        tree.lines(rows, None if options.format == "markdown" else width_of(sys.stdout)),
        *(summary.footnotes() if rows else []),
    ]
    if options.format == "markdown":
        return "\n".join(["```text", *shown, "```"])
    return "\n".join(shown)


def _tree_rows(
    recording: nvspan.Recording, options: argparse.Namespace, summary: Summary
) -> list[dict[str, Any]] | None:  # fmt: skip
    """The lines of the tree, where one is asked for or says more than a table; else None."""
    asked = options.tree or options.ancestors
    table = options.flat or options.by != "name" or options.top or options.format != "table"
    sort = options.sort or "total"
    if not asked and (table or sort not in tree.SORTS or summary.gpu or summary.is_profile):
        return None
    nodes = call_tree(recording, options.ancestors)
    if not asked and len(nodes) > tree.MOST_LINES:
        return None
    rows = tree.rows(nodes, summary.wall, sort)
    rows = [row for row in rows if row["calls"] or row["unclosed"]]
    return rows if asked or tree.helps(rows) else None


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


def _of_ncu(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Reports of Nsight Compute have no timeline, and rows of their own."""
    from nvspan.nsight.results.tables import KERNEL_COLUMNS, RANGE_COLUMNS, formatted

    given = [
        f"--{name}"
        for name in ("tree", "flat", "ancestors", "gpu", "cuda", "compat", "filter", "top")
        if getattr(options, name)
    ]
    given += ["--from"] * (options.start is not None) + ["--to"] * (options.stop is not None)
    given += [f"--{n}" for n in ("by", "sort") if getattr(options, n) != parser.get_default(n)]
    if given:
        parser.error(f"{' and '.join(given)} cannot be used with reports of Nsight Compute")
    result = read_ncu(parser, options.files)
    columns = KERNEL_COLUMNS if options.kernels else RANGE_COLUMNS
    note(_absent_metrics(result, options.metrics, columns))
    return emit(formatted(
        result, options.format, kernels=options.kernels, metrics=options.metrics,
        escape=options.escape_formulas,
    ))  # fmt: skip


def _refuse_together(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """What would be without effect beside another option is an error."""
    tables = [f"--{name}" for name in ("tree", "flat", "gpu", "compat") if getattr(options, name)]
    if len(tables) > 1 and tables != ["--gpu", "--compat"]:
        parser.error(f"{' and '.join(tables)} cannot be used together")
    if options.ancestors and (not options.filter or tables not in ([], ["--tree"])):
        parser.error("--ancestors is for the tree of what --filter takes")
    is_tree = options.tree or options.ancestors
    unused = [
        f"--{name}" for name in ("by", "sort") if getattr(options, name) != parser.get_default(name)
    ]
    if is_tree and options.sort in tree.SORTS and "--sort" in unused:
        unused.remove("--sort")
    if is_tree and "--sort" in unused:
        parser.error(f"a tree is sorted by {', '.join(tree.SORTS)}, not {options.sort}")
    if unused and tables not in ([], ["--flat"]):
        parser.error(f"{' and '.join(unused)} cannot be used with {' and '.join(tables)}")
    if options.ancestors and "--by" in unused:
        parser.error("--by cannot be used with --ancestors")


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
    if options.format == "markdown":
        return emit(render.as_markdown(summary, options.top))
    if (
        sys.stdout is not None
        and sys.stdout.isatty()
        and render.rich_table(summary, sys.stdout, options.top)
    ):
        return 0
    return emit(render.plain(summary, options.top, width_of(sys.stdout)))


def _of_many(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """The files of many ranks have no tree and no timeline, but rows of each rank."""
    given = [
        f"--{name}"
        for name in ("tree", "flat", "ancestors", "gpu", "cuda", "compat", "kernels", "metrics")
        if getattr(options, name)
    ]
    many.refuse(parser, options, given)
    if options.by not in many.GROUPS:
        parser.error(f"argument --by: of many files it is rank, not {options.by!r}")
    summary, collectives = many.summary(parser, options, options.by)
    if options.format == "json":
        document = json.loads(render.as_json(summary, options.top))
        return emit(json.dumps({**document, "collectives": collectives[: options.top]}, indent=1))
    status = _table(summary, options)
    if options.format == "csv" or not collectives or status:
        return status
    from nvspan.ranks.shown import collectives_table

    return emit(f"\n{collectives_table(collectives, options.top, options.format == 'markdown')}")


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan stats`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    if is_ncu(options.files):
        return _of_ncu(parser, options)
    if many.is_many(options):
        return _of_many(parser, options)
    _refuse_together(parser, options)
    if options.kernels or options.metrics:
        parser.error("--kernels and --metrics are for reports of Nsight Compute: x.ncu-rep")
    recording = open_recording(parser, options.files, show_damage=options.compat)
    recording = chosen_cuda(selected(recording, options), options)
    if options.compat:
        with Progress("counting"):
            shown = _compat(recording, options)
        note(emptiness.events(recording, "this table"))
        return emit(shown)
    if options.gpu:
        with Progress("counting"):
            found = recording.projection()
        note(emptiness.events(recording, "this table") or gpu.notes(found))
        return emit(
            gpu.shown(
                found, options.format, options.top, options.escape_formulas, width_of(sys.stdout)
            )
        )
    with Progress("counting"):
        summary = Summary(recording, options.by)
        rows = _tree_rows(recording, options, summary)
    if rows is not None:
        note(emptiness.events(recording, "the tree"))
        return emit(_tree(options, summary, rows))
    unknown = emptiness.unknown_field(recording, options.by, summary.rows)
    if unknown is not None:
        parser.exit(1, f"{parser.prog}: --by: {unknown}\n")
    if not (summary.rows or options.filter or options.start or options.stop):
        note(emptiness.nothing(recording))
    note(emptiness.grouping(recording, options.by, summary.rows))
    return _table(summary, options)
