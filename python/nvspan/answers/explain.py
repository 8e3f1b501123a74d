# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Findings as text, JSON, CSV or Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from nvspan.answers.finding import UNKNOWN, Finding
from nvspan.report.render import as_csv
from nvspan.report.text import printable

_COLUMNS = ("kind", "text", "certainty", "evidence", "advice", "cost")


def render(found: Sequence[Finding], form: str = "table") -> str:
    """The findings as numbered paragraphs."""
    if not found:
        return "nothing stands out"
    markdown = form == "markdown"
    paragraphs = []
    for number, finding in enumerate(found, 1):
        text = finding.text[:1].upper() + finding.text[1:]
        mark = "**" if markdown else ""
        sure = "" if finding.certainty == UNKNOWN else f" ({finding.certainty})"
        lines = [f"{number}. {mark}{printable(text)}{mark}{sure}"]
        lines += [f"   - {printable(line)}" for line in finding.evidence]
        if finding.advice:
            lines.append(
                f"   -> {finding.advice}" if not markdown else f"   - Try: {finding.advice}"
            )
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def as_json(found: Sequence[Finding]) -> str:
    return json.dumps([asdict(finding) for finding in found], indent=1)


def csv(found: Sequence[Finding], escape_formulas: bool = False) -> str:
    rows = [{**asdict(finding), "evidence": "; ".join(finding.evidence)} for finding in found]
    return as_csv(rows, _COLUMNS, escape_formulas)
