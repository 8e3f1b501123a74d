# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How long runs of Nsight Compute took, and how long the next one will."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from nvspan.nsight.compute import cache

_FILE = "ncu-runs.json"
_MOST = 200


def _path() -> str:
    return os.path.join(cache.cache_folder(), _FILE)


def passes_of(said: Sequence[str]) -> int | None:
    """How many times each kernel was run, as ncu says it; the most of all."""
    found = [int(m[1]) for line in said if (m := re.search(r" - (\d+) pass(?:es)?\b", line))]
    found += [int(m[1]) for line in said if (m := re.search(r"replay pass (\d+)", line))]
    return max(found, default=None)


def remember(
    measured: str, program: str, *, seconds: float, results: int, passes: int | None
) -> None:
    """Keeps the figures of a run: of what was measured, and of the program with its ranges."""
    told = cache.load(_path())
    entry = {"seconds": seconds, "results": results, "passes": passes}
    for kind, key in (("measured", measured), ("programs", program)):
        runs = told[kind] = _runs(told, kind)
        runs.pop(key, None)
        runs[key] = entry
        for old in list(runs)[:-_MOST]:
            del runs[old]
    cache.save(_path(), told)


def _runs(told: dict[str, Any], kind: str) -> dict[str, Any]:
    found = told.get(kind)
    return found if isinstance(found, dict) else {}


def _entry(kind: str, key: str) -> dict[str, Any] | None:
    found = _runs(cache.load(_path()), kind).get(key)
    return found if isinstance(found, dict) and found.get("results") else None


def last(measured: str) -> dict[str, Any] | None:
    """The last run that measured the same: seconds, results and passes."""
    return _entry("measured", measured)


def _passes(entry: dict[str, Any]) -> str:
    count = entry["passes"]
    return f"{count} pass{'es' if count != 1 else ''}" if count else ""


def told(measured: str) -> str:
    """A clause about the last run; empty where there is none."""
    entry = last(measured)
    if entry is None:
        return ""
    passes = f", {_passes(entry)}" if entry["passes"] else ""
    return f"last run {entry['seconds']:.0f} s for {entry['results']} results{passes}"


def estimate(measured: str, program: str, calls: int | None) -> str | None:
    """A sentence about the run to come, from what is known of earlier ones."""
    entry = last(measured)
    if entry is None:
        return None
    each = entry["seconds"] / entry["results"]
    passes = _passes(entry) or "its passes"
    if (same := _entry("programs", program)) is not None:
        return (
            f"{passes} of {same['results']} launches take about "
            f"{each * same['results']:.0f} s, if it launches what it did the last time"
        )
    of = "" if calls is None else f" in {calls} calls"
    return f"{passes} of each launch{of} took {each:.2g} s a launch in the last run"
