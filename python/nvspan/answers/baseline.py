# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a program is slower than it was, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvspan.answers.compare import ONE_RUN, SURE, compare, compare_steps
from nvspan.answers.finding import MEASURED, UNKNOWN, Finding
from nvspan.recording import Recording
from nvspan.recording.time_text import duration, exact_percent, percent

_CHANGE = 0.05
_LEAST_PART = 0.05  # of the longest range, for another one to be named
_MOST_NAMED = 3


def slower_than(
    before: Sequence[Recording], after: Sequence[Recording], step: str | None = None
) -> list[Finding]:
    """What became slower or faster from the runs `before` to the runs `after`; see `compare`.

    Raises:
        ValueError: no range is called as `step` says, or steps of the two are called differently.
    """
    rows: Sequence[dict[str, Any]] = ()
    try:
        rows = compare_steps(before, after, _CHANGE, step=step)
    except ValueError:
        if step is not None:
            raise
    if rows:
        return _of_steps(rows)
    ranges = [row for row in compare(before, after, _CHANGE) if row["change"] is not None]
    longest = max((row["before"]["total"] for row in ranges), default=0.0)
    large = [row for row in ranges if row["before"]["total"] >= _LEAST_PART * longest]
    return [
        Finding(verdict, f"'{row['label']}' became {verdict}: {_change(row)}", MEASURED,
                [_means(row), _limits(row)])
        for verdict in ("slower", "faster")
        for row in [row for row in large if row["verdict"] == verdict][:_MOST_NAMED]
    ]  # fmt: skip


def _of_steps(rows: Sequence[dict[str, Any]]) -> list[Finding]:
    whole, *phases = rows
    verdict = whole["verdict"]
    if verdict == "unsure" and abs(whole["change"] or 0) >= _CHANGE:
        said = f"cannot tell whether the typical step became slower: {_change(whole)}"
        return [Finding("slower-unknown", said, UNKNOWN, [_means(whole), _limits(whole)],
                        "record three runs of both or more, and give them all")]  # fmt: skip
    if verdict not in ("slower", "faster"):
        return []
    sign = 1 if verdict == "slower" else -1
    moved = [row for row in phases if row["kind"] == "step_cpu" and row["of_step"] is not None
             and row["verdict"] in (verdict, "same") and sign * row["of_step"] > 0.01]  # fmt: skip
    moved.sort(key=lambda row: -sign * row["of_step"])
    evidence = [_means(whole), _limits(whole)]
    evidence += [f"'{row['label']}' {_means(row)} ({percent(row['of_step'], '+')} of the step)"
                 for row in moved[:_MOST_NAMED]]  # fmt: skip
    evidence += [f"the phase '{row['label']}' is {row['verdict']}" for row in phases
                 if row["verdict"] in ("new", "gone") and row["kind"] == "step_cpu"]  # fmt: skip
    text = f"the typical step became {verdict}: {_change(whole)}"
    return [Finding(verdict, text, MEASURED, evidence,
                    "'nvspan diff OLD... -- NEW...' shows every range")]  # fmt: skip


def _change(row: dict[str, Any]) -> str:
    return percent(row["change"], "+")


def _means(row: dict[str, Any]) -> str:
    return f"{duration(row['before']['mean'])} before, {duration(row['after']['mean'])} now"


def _limits(row: dict[str, Any]) -> str:
    runs = [row[side]["runs"] for side in ("before", "after")]
    if max(runs) == 1:
        return f"one run of each: {ONE_RUN}"
    of = f"of {runs[0]} and {runs[1]} runs"
    if row["low"] is None:
        return f"there is too little to tell how sure that is, {of}"
    return (
        f"between {percent(row['low'], '+')} and {percent(row['high'], '+')} with a "
        f"confidence of {exact_percent(SURE)}, {of}"
    )
