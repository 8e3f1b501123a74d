# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Why these ranges are the steps, as text and as JSON."""

from __future__ import annotations

import shlex
from typing import Any

from nvspan.report.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.loops.choosing import Choice


def choice_lines(choice: Choice) -> list[str]:
    """What was chosen as the step and why, and how the next best is chosen: sentences."""
    left_out = f"; {choice.evaluation:,} within evaluation left out" if choice.evaluation else ""
    lines = [f"a {choice.unit} is {printable(choice.label)!r}: {choice.why}{left_out}"]
    other = choice.next_best
    if other is not None:
        lines.append(
            f"next best: {printable(other.label)!r}, {other.count:,} times "
            f"(--step {shlex.quote(printable(other.pattern))})"
        )
    return lines


def choice_fields(choice: Choice) -> dict[str, Any]:
    """The choice as ``--json`` prints it."""
    other = choice.next_best
    return {
        "label": choice.label,
        "pattern": choice.pattern,
        "why": choice.why,
        "count": choice.count,
        "unit": choice.unit,
        "overlapping": choice.overlapping,
        "evaluation": choice.evaluation,
        "members": list(choice.members),
        "next_best": None
        if other is None
        else {"label": other.label, "count": other.count, "pattern": other.pattern},
    }
