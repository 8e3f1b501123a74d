# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Headline and findings as text, JSON, CSV or Markdown."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from nvspan.answers.finding import LIKELY, Finding
from nvspan.answers.findings import Analysis
from nvspan.report.render import as_csv
from nvspan.report.text import printable

_COLUMNS = ("kind", "text", "certainty", "evidence", "next", "cost")
_MIN_LABEL = 4  # characters: that of "next"


@dataclass(frozen=True)
class Explanation:
    """What `nvspan explain` says.

    Attributes:
        headline: one line about the whole recording.
        findings: in the order in which they are said.
        step: what a step is and what else it might be; empty where there is no choice.
        checked: what was looked for.
        nothing: "Nothing stands out" or "Nothing else stands out"; empty where something does.
        next: a command, where no finding has one.
    """

    headline: str
    findings: list[Finding] = field(default_factory=list)
    step: str = ""
    checked: list[str] = field(default_factory=list)
    nothing: str = ""
    next: str = ""

    @property
    def conclusion(self) -> str:
        """That nothing stands out, of what was looked for; empty where something does."""
        return f"{self.nothing}. Checked: {', '.join(self.checked)}." if self.nothing else ""


def explanation(analysis: Analysis, first: Sequence[Finding] = ()) -> Explanation:
    """An analysis as it is shown; `first` are findings that lead, those of --baseline."""
    findings = [*first, *analysis.findings]
    nothing = ""
    if analysis.loop is not None and analysis.nothing_else and not first:
        nothing = "Nothing else stands out" if findings else "Nothing stands out"
    return Explanation(
        analysis.headline, findings, step_line(analysis), analysis.checked, nothing, analysis.next
    )


def step_line(analysis: Analysis) -> str:
    """What a step is, why, and how to choose the next best; empty without steps."""
    choice = None if analysis.loop is None else analysis.loop.choice
    if choice is None:
        return ""
    text = f"{printable(choice.label)} ({choice.why})"
    if choice.next_best is not None:
        other = choice.next_best
        text += f"; next best: --step {shlex.quote(other.pattern)} ({other.count:,})"
    return text


def render(said: Explanation, form: str = "table", most: int | None = None, table: str = "") -> str:
    """The headline, numbered findings with evidence and next step, and what was checked.

    `most`: how many findings to show, with their sentences alone; `table`: what follows them.
    """
    lines = [printable(said.headline)]
    if said.step and most is None:
        lines.append(f"step  {printable(said.step)}")
    if form == "markdown":
        lines = [f"**{lines[0]}**", *lines[1:], ""]
    width = max([len(finding.kind) for finding in said.findings], default=_MIN_LABEL)
    for number, finding in enumerate(said.findings[:most], 1):
        if form == "markdown":
            lines += _item(number, finding)
        else:
            lines += _paragraph(number, finding, max(width, _MIN_LABEL), most is None)
    if said.nothing:
        lines.append(said.conclusion if most is None else f"{said.nothing}.")
    if table:
        lines += ["```text", table, "```"] if form == "markdown" else ["", table]
    if said.next and most is None:
        lines.append(f"next  {said.next}")
    return "\n".join(lines)


def _certainty(finding: Finding) -> str:
    return f" ({LIKELY})" if finding.certainty == LIKELY else ""


def _paragraph(number: int, finding: Finding, width: int, full: bool) -> list[str]:
    start = f"{number}. "
    text = f"{printable(finding.text)}{_certainty(finding)}"
    lines = [f"{start}{finding.kind:{width}}  {text}"]
    if full:
        indent = " " * len(start)
        lines += [f"{indent}{'':{width}}  {printable(line)}" for line in finding.evidence]
        if finding.next:
            lines.append(f"{indent}{'next':{width}}  {finding.next}")
    return lines


def _item(number: int, finding: Finding) -> list[str]:
    lines = [f"{number}. **{printable(finding.text)}**{_certainty(finding)}"]
    lines += [f"   - {printable(line)}" for line in finding.evidence]
    return lines + ([f"   - next: {finding.next}"] if finding.next else [])


def as_json(said: Explanation) -> str:
    """Headline, findings and what was looked for, as an object."""
    return json.dumps(asdict(said), indent=1)


def csv(said: Explanation, escape_formulas: bool = False) -> str:
    """A row for each finding."""
    rows = [
        {**asdict(finding), "evidence": "; ".join(finding.evidence)} for finding in said.findings
    ]
    return as_csv(rows, _COLUMNS, escape_formulas)
