# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on known delays: how many are right, and how far the delays are off."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median
from typing import Any

from rank_cause.job import RANGES


def taken(truth: dict[str, Any], rank: int) -> float:
    """ns of its usual step that other programs took a rank's core, more than from the others."""
    usually = truth["usually_without_a_core_ns"]
    others = [each for place, each in enumerate(usually) if place != rank]
    return float(usually[rank] - median(others))


def judged(truth: dict[str, Any], ranks: int, document: dict[str, Any]) -> dict[str, Any]:
    """One trial: the truth, the verdict, and what it is worth."""
    named = document["rank"]
    delayed = truth["ms"] > 0 or truth["place"] == "core"
    if named is None:
        result = "missed" if delayed else "right"
        if document["verdict"] == "cannot tell" and delayed:
            result = "cannot tell"
    else:
        result = "right" if delayed and named == truth["rank"] else "wrong"
    cost = document["cost"] or {}
    estimate = (document["delay"] or {}).get("ns_per_step")
    # What the machine did to the rank, which the job did not: counted as wrong, and said.
    by_machine = (
        result == "wrong" and estimate is not None and taken(truth, named) >= 0.5 * estimate
    )
    said = by_machine and document["range"] == "(without a core)"
    expected = RANGES.get(truth["place"])
    return {
        **truth, "ranks": ranks, "result": result, "by_machine": by_machine,
        "said": said, "verdict": document["verdict"],
        "text": document["text"], "named": named, "named_range": document["range"],
        "range_right": result == "right" and expected in (None, document["range"]),
        "estimate_ns": estimate,
        "cost_ns": cost.get("ns_per_step"),
        "smallest_ns": smallest_of(document["smallest_delay"], expected),
        "document": {key: document[key] for key in ("evidence", "cannot_tell", "costs")},
    }  # fmt: skip


def smallest_of(by_range: dict[str, float], name: str | None) -> float | None:
    """What a delay in that range must be to be named for sure."""
    return by_range.get(name or "", by_range.get(""))


def interval(count: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a part."""
    if not of:
        return 0.0, 1.0
    z, part = 1.96, count / of
    middle = (part + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(part * (1 - part) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def table(trials: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each number of ranks, delay and place."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for each in trials:
        no_delay = not each["ms"] and each["place"] != "core"
        size = each["burners"] if each["place"] == "core" else each["ms"]
        place = "(none)" if no_delay else each["place"]
        cases.setdefault((each["ranks"], place, size), []).append(each)
    rows = []
    for (ranks, place, size), of in sorted(cases.items(), key=lambda item: str(item[0])):
        counts = {
            result: sum(each["result"] == result for each in of)
            for result in ("right", "cannot tell", "missed", "wrong")
        }
        errors = [
            abs(each["estimate_ns"] - each["delay_ns"])
            for each in of
            if each["result"] == "right" and each["estimate_ns"] is not None and place != "(none)"
        ]
        close = sum(
            abs(each["estimate_ns"] - each["delay_ns"]) <= max(5000, 0.05 * each["delay_ns"])
            for each in of
            if each["result"] == "right" and each["estimate_ns"] is not None and place != "(none)"
        )
        smallest = [each["smallest_ns"] for each in of if each["smallest_ns"] is not None]
        low, high = interval(counts["right"], len(of))
        rows.append({
            "ranks": ranks, "place": place, "size": size, "trials": len(of), **counts,
            "by_machine": sum(each["by_machine"] for each in of),
            "said": sum(each["said"] for each in of),
            "range_right": sum(each["range_right"] for each in of), "right_low": low,
            "right_high": high, "delay_ns": median(each["delay_ns"] for each in of),
            "error_ns": median(errors) if errors else None, "within": close, "of": len(errors),
            "smallest_ns": median(smallest) if smallest else None,
        })  # fmt: skip
    return rows


def shown(rows: list[dict[str, Any]]) -> str:
    """The table as text."""

    def us(value: float | None) -> str:
        return "-" if value is None else f"{value / 1000:.0f}"

    lines = [
        "ranks place      ms/burners trials  right  cannot tell  missed  wrong  range  "
        "delay us  error us  within 5 us or 5 %  smallest us"
    ]
    lines += [
        f"{row['ranks']:>5} {row['place']:<10} {row['size']:>10g} {row['trials']:>6} "
        f"{row['right']:>6} {row['cannot tell']:>12} {row['missed']:>7} {row['wrong']:>6} "
        f"{row['range_right']:>6} {us(row['delay_ns']):>9} {us(row['error_ns']):>9} "
        f"{row['within']:>9} of {row['of']:<6} {us(row['smallest_ns']):>12}"
        for row in rows
    ]
    none = [row for row in rows if row["place"] == "(none)"]
    count, of = sum(row["wrong"] for row in none), sum(row["trials"] for row in none)
    if of:
        low, high = interval(count, of)
        lines.append(
            f"no delay: {count} of {of} trials name a rank "
            f"(95 %: {100 * low:.1f} to {100 * high:.1f} %)"
        )
        if machine := sum(row["by_machine"] for row in none):
            lines.append(
                f"of these {machine}: other programs had that rank's core for half of the delay "
                "that was found, or more; "
                f"{sum(row['said'] for row in none)} of the verdicts say so"
            )
    return "\n".join(lines)
