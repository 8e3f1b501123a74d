# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvspan says of a recording, as the key asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nvspan


@dataclass(frozen=True)
class Answer:
    """What a step is, the headline, and the findings as pairs of a kind and a text."""

    step: str | None
    count: int
    unit: str
    headline: str
    findings: list[tuple[str, str]]

    def sentences(self) -> list[str]:
        return [self.headline, *(text for _, text in self.findings)]


def answer(path: Path) -> Answer:
    from nvspan.answers.findings import analyze

    analysis = analyze(nvspan.read(path))
    choice = analysis.loop and analysis.loop.choice
    findings = [(row.kind, "\n".join([row.text, *row.evidence])) for row in analysis.findings]
    if not choice:
        return Answer(None, 0, "step", analysis.headline, findings)
    return Answer(choice.label, choice.count, choice.unit, analysis.headline, findings)
