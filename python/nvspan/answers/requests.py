# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Slow requests: those that stand apart from the others, and what they spend their time in that the
others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nvspan._results.variation import Effect
from nvspan.answers.changes import Means
from nvspan.answers.difference import difference
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.parts import Parts
from nvspan.recording.time_text import counted, duration, percent

_APART = ("modes", "rare", "period")  # effects whose slow requests are told one by one
_DOUBTFUL = 0.2  # of the ranges within requests


def slow_findings(
    effects: Sequence[Effect], parts: Parts, means: Means, unit: str
) -> Iterator[Finding]:
    """The slow requests that noise does not explain, against the others: how many there are is not
    known before."""
    slow = [one for one in effects if one.kind in _APART and len(one.high) <= len(one.low)]
    if not slow:
        return
    effect = max(slow, key=lambda one: one.size * len(one.high))
    compared = means(effect.high, effect.low)
    evidence = difference(parts, compared)
    is_doubtful = parts.tree.is_followed and parts.tree.doubtful > _DOUBTFUL
    if is_doubtful:
        evidence.append(
            f"{percent(parts.tree.doubtful)} of the inner ranges may belong to another {unit}: "
            f"threads and tasks do not say; each counts for the {unit} that was active last"
        )
    many, all_ = len(effect.high), len(memoryview(parts.tree.steps))
    yield Finding(
        "slow",
        f"{many:,} of {counted(all_, unit)} {'takes' if many == 1 else 'take'} "
        f"{duration(compared.steps[0])}, the others {duration(compared.steps[1])}",
        LIKELY if is_doubtful else MEASURED,
        evidence,
        cost=effect.size * many / max(parts.tree.total, 1),
    )
