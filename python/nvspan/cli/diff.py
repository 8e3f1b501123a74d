# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff``: what became slower or faster from one recording to another."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from nvspan.cli.common.ncu_reports import is_ncu, read_ncu
from nvspan.cli.common.reading import (
    add_cuda,
    add_escape_formulas,
    add_selection,
    chosen_cuda,
    emit,
    note,
    open_recording,
    parser_of,
    selected,
)
from nvspan.recording.time_text import duration
from nvspan.report import emptiness, render, text
from nvspan.report.compare import SURE, compare
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Compares the mean duration of each range of recording B with that of A, without the first calls of a
thread that are outliers. A change counts when it is larger than --threshold and at least as certain
as --confidence (Welch's test). Reports of Nsight
Systems are recordings; two reports of Nsight Compute are compared by range."""

_HEADINGS = ("calls A", "calls B", "mean A", "mean B", "change", "95 % limits", "confidence",
             "verdict", "range")  # fmt: skip


def _part(given: str) -> float:
    try:
        value = float(given.rstrip("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a share such as 5% or 0.05, not {given!r}"
        ) from None
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, but is {given!r}")
    return value


def _percent(value: float | None, sign: str = "+") -> str:
    return "" if value is None else f"{100 * value:{sign}.1f} %"


def _cells(row: dict[str, Any]) -> list[str]:
    both = (row["before"], row["after"])
    limits = "" if row["low"] is None else f"{_percent(row['low'])} .. {_percent(row['high'])}"
    return [
        *("" if side is None else str(side["calls"]) for side in both),
        *("" if side is None else duration(side["mean"]) for side in both),
        _percent(row["change"]), limits, _percent(row["confidence"], ""), row["verdict"],
        row["label"],
    ]  # fmt: skip


_KEYS = ("domain", "name", "kind", "backward", "verdict", "change", "low", "high", "confidence")
_FIGURES = ("calls", "mean", "std", "p50", "total", "warmup")
_COLUMNS = (*_KEYS, *(f"{key}_{side}" for side in ("before", "after") for key in _FIGURES))


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {key: row[key] for key in _KEYS}
    for side in ("before", "after"):
        for key in _FIGURES:
            flat[f"{key}_{side}"] = None if row[side] is None else row[side][key]
    return flat


def _left_out(rows: Sequence[dict[str, Any]]) -> str:
    counts = [sum(row[side]["warmup"] for row in rows if row[side]) for side in ("before", "after")]
    if not any(counts):
        return ""
    return f"; calls of the warm-up are left out: {counts[0]} of A, {counts[1]} of B"


def _of_ncu(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Two reports of Nsight Compute, by range."""
    from nvspan.nsight.results import tables as ncu_tables

    chosen = options.filter or options.start is not None or options.stop is not None
    if chosen or options.cuda or options.confidence != parser.get_default("confidence"):
        parser.error(
            "--filter, --from, --to, --cuda and --confidence cannot be used with reports of Nsight "
            "Compute"
        )
    rows = ncu_tables.compare(*(read_ncu(parser, [p]) for p in (options.before, options.after)))
    if options.format == "json":
        emit(json.dumps(rows, indent=1))
    elif options.format == "csv":
        emit(render.as_csv(rows, ncu_tables.COMPARE_COLUMNS, options.escape_formulas))
    else:
        headings, cells = ncu_tables.compared(rows)
        layout = text.markdown if options.format == "markdown" else text.aligned
        emit(layout(headings, cells, ncu_tables.LEFT) if rows else "no ranges")
    slower = [row for row in rows if (row["change"] or 0) > options.threshold]
    return 1 if options.fail and slower else 0


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan diff`` with the arguments `argv`."""
    parser = parser_of("diff", _DESCRIPTION)
    parser.add_argument("before", metavar="A", help="the recording or report to compare with")
    parser.add_argument("after", metavar="B", help="the recording or report to judge")
    parser.add_argument(
        "--threshold", metavar="PART", type=_part, default=0.05,
        help="ignore changes of the mean up to this: 5%% (the default) or 0.05",
    )  # fmt: skip
    parser.add_argument(
        "--confidence", metavar="PART", type=_part, default=SURE,
        help="how certain a change must be: 95%% (the default)",
    )  # fmt: skip
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a range became slower")
    add_selection(parser)
    add_cuda(parser)
    parser.add_argument("--format", choices=render.FORMATS, default="table")
    add_escape_formulas(parser)
    options = parser.parse_args(argv)
    if is_ncu([options.before, options.after]):
        return _of_ncu(parser, options)
    before, after = (
        chosen_cuda(selected(open_recording(parser, [path]), options), options)
        for path in (options.before, options.after)
    )
    with Progress("comparing"):
        rows = compare(before, after, options.threshold, options.confidence)
    note(emptiness.comparison(before, after))
    headings = list(_HEADINGS)
    headings[5] = f"{100 * options.confidence:g} % limits"
    cells = [_cells(row) for row in rows]
    slower = [row for row in rows if row["verdict"] == "slower"]
    if options.format == "json":
        emit(json.dumps([_flat(row) for row in rows], indent=1))
    elif options.format == "csv":
        emit(render.as_csv([_flat(row) for row in rows], _COLUMNS, options.escape_formulas))
    else:
        layout = text.markdown if options.format == "markdown" else text.aligned
        end = f"{len(slower)} slower by more than {100 * options.threshold:g} %"
        end += _left_out(rows)
        table = layout(headings, cells, ("verdict", "range")) if rows else "no ranges"
        emit("\n".join([table, "", end]))
    return 1 if options.fail and slower else 0
