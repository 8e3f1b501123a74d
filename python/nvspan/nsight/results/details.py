# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page "details" of reports: the sections and rules of Nsight Compute for each result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from nvspan.nsight.lines.ncu_command import SECTIONS
from nvspan.nsight.results import csv_reader
from nvspan.nsight.results.result import NcuResult, needed_tool
from nvspan.nsight.results.rows import DetailRow, KernelRow, Metric
from nvspan.report import render, text

_LEFT = ("section", "metric", "unit")


def detail_rows(result: NcuResult, ncu: str | None = None, *options: str) -> list[DetailRow]:
    """A row for each metric and each rule of the results, which `options` of ncu chose.

    Raises:
        ValueError: a report cannot be read, or there is no ncu.
        OSError: ncu cannot be run.
    """
    kernels: dict[str, dict[int, KernelRow]] = {}
    for row in result.kernels():
        kernels.setdefault(row.report, {})[row.number] = row
    return [
        row
        for report, of_report in kernels.items()
        for row in csv_reader.read_details(report, needed_tool(report, ncu), of_report, *options)
    ]


def is_section(section: Metric, wanted: str) -> bool:
    """Whether a section is one that is asked for by its name, its identifier or a plain name.

    >>> is_section("GPU Speed Of Light Throughput", "sol")
    True
    """
    return _squeezed(SECTIONS.get(wanted, wanted)) in _squeezed(str(section or ""))


def _squeezed(name: str) -> str:
    """Names as "Launch Statistics" and identifiers as "LaunchStats" alike."""
    letters = "".join(char for char in name.lower() if char.isalnum())
    return letters.replace("statistics", "stats")


def formatted(rows: Sequence[DetailRow], form: str, *, escape: bool = False) -> str:
    """The rows as "csv" or "json", or a "table" or "markdown" for each result."""
    if form == "csv":
        return render.as_csv(rows, tuple(DetailRow._types), escape)
    if form == "json":
        return json.dumps(rows, indent=1, default=dict)
    blocks = [
        _block(list(of_result), is_markdown=form == "markdown")
        for _, of_result in groupby(rows, lambda row: (row.report, row.number))
    ]
    return "\n\n".join(blocks) or "no sections"


def _block(rows: Sequence[DetailRow], *, is_markdown: bool) -> str:
    """A heading, the metrics, and the sentences of the rules."""
    name = ": ".join(_cell(part) for part in (rows[0].range, rows[0].kernel) if part)
    lines = [f"### {name}\n" if is_markdown else name]
    cells = [
        list(map(_cell, (row.section, row.metric, row.value, row.unit)))
        for row in rows
        if row.metric
    ]
    if cells:
        layout = text.markdown if is_markdown else text.aligned
        lines.append(layout(["section", "metric", "value", "unit"], cells, _LEFT))
    rules = [f"{_cell(row.section)}: {_sentence(row)}" for row in rows if row.rule]
    lines += [f"\n- {rule}" for rule in rules] if is_markdown else rules
    return "\n".join(lines)


def _cell(value: Metric) -> str:
    if isinstance(value, (int, float)):
        return f"{value:,}"
    return text.printable(value or "")


def _sentence(row: DetailRow) -> str:
    message = _cell(" ".join(str(row.message or "").split()))
    speedup = "" if row.speedup is None else f" (estimated speedup: {row.speedup}%)"
    return message + speedup
