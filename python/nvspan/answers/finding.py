# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One thing that stands out in a recording."""

from __future__ import annotations

from dataclasses import dataclass, field

MEASURED, LIKELY, UNKNOWN = "measured", "likely", "cannot tell"


@dataclass(frozen=True)
class Finding:
    """Something that stands out.

    Attributes:
        kind: a word for programs: "bound-data", "warm-up", "outliers", ...
        text: what was found, a sentence.
        certainty: "measured", "likely", or "cannot tell" where the recording does not hold it.
        evidence: the figures that it stands on, sentences.
        advice: what to try, or to record; empty where there is nothing to say.
        cost: the part of the steps' time that it is about, 0 to 1, or of the recording's where it
            has no steps; None where that is not known.
    """

    kind: str
    text: str
    certainty: str
    evidence: list[str] = field(default_factory=list)
    advice: str = ""
    cost: float | None = None
