# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page "details" of reports: the sections and rules of Nsight Compute for each result."""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import Any

from nvspan.nsight.lines.ncu_command import SECTIONS
from nvspan.nsight.results import csv_reader
from nvspan.nsight.results.result import NcuResult, needed_tool
from nvspan.report import render, text

COLUMNS = (
    *("report", "number", "range", "kernel"),
    *("section", "metric", "value", "unit", "rule", "message", "speedup"),
)
_LEFT = ("section", "metric", "unit")

Rows = list[dict[str, Any]]


def detail_rows(result: NcuResult, ncu: str | None = None) -> Rows:
    """A row for each metric and each rule of the results, with the keys of `COLUMNS`.

    Raises:
        ValueError: a report cannot be read, or there is no ncu.
        OSError: ncu cannot be run.
    """
    kernels = {(row["report"], row["number"]): row for row in result.kernels()}
    found: Rows = []
    for report in dict.fromkeys(each.report for each in result.results):
        for row in csv_reader.read_details(report, needed_tool(report, ncu)):
            kernel = kernels.get((report, row["id"]))
            if kernel is not None:
                found.append({name: {**kernel, **row}[name] for name in COLUMNS})
    return found


def is_section(section: str | None, wanted: str) -> bool:
    """Whether a section is one that is asked for by its name, its identifier or a plain name.

    >>> is_section("GPU Speed Of Light Throughput", "sol")
    True
    """
    return _squeezed(SECTIONS.get(wanted, wanted)) in _squeezed(section or "")


def _squeezed(name: str) -> str:
    """Names as "Launch Statistics" and identifiers as "LaunchStats" alike."""
    letters = "".join(char for char in name.lower() if char.isalnum())
    return letters.replace("statistics", "stats")


def formatted(rows: Rows, form: str, *, escape: bool = False) -> str:
    """The rows as "csv" or "json", or a "table" or "markdown" for each result."""
    if form == "csv":
        return render.as_csv(rows, COLUMNS, escape)
    if form == "json":
        return json.dumps(rows, indent=1)
    blocks = [
        _block(list(of_result), form == "markdown")
        for _, of_result in groupby(rows, itemgetter("report", "number"))
    ]
    return "\n\n".join(blocks) or "no sections"


def _block(rows: Rows, is_markdown: bool) -> str:
    """A heading, the metrics, and the sentences of the rules."""
    name = ": ".join(_cell(rows[0][key]) for key in ("range", "kernel") if rows[0][key])
    lines = [f"### {name}\n" if is_markdown else name]
    headings = ["section", "metric", "value", "unit"]
    cells = [[_cell(row[key]) for key in headings] for row in rows if row["metric"]]
    if cells:
        layout = text.markdown if is_markdown else text.aligned
        lines.append(layout(headings, cells, _LEFT))
    rules = [f"{_cell(row['section'])}: {_sentence(row)}" for row in rows if row["rule"]]
    lines += [f"\n- {rule}" for rule in rules] if is_markdown else rules
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, (int, float)):
        return f"{value:,}"
    return text.printable(value or "")


def _sentence(row: dict[str, Any]) -> str:
    message = _cell(" ".join((row["message"] or "").split()))
    speedup = "" if row["speedup"] is None else f" (estimated speedup: {row['speedup']}%)"
    return message + speedup
