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
        kind: a word for programs: "dominant", "wait", "trend", ...
        text: a sentence, without a period.
        certainty: "measured", "likely", or "cannot tell" where the recording does not hold it.
        evidence: the figures behind it, sentences.
        next: what to type or to try; empty where there is nothing to do.
        cost: the share of the run that it is about, 0 to 1; None: not known.
    """

    kind: str
    text: str
    certainty: str = MEASURED
    evidence: list[str] = field(default_factory=list)
    next: str = ""
    cost: float | None = None
