# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a file of clocks: how far the clocks of a job's hosts are apart, measured by the user.

    {"format": "nvspan clocks 1", "root": "node0", "hosts": {
       "node0": {"boot_id": "8c0e...", "measured": []},
       "node1": {"boot_id": "51f2...", "measured": [{"at": NS, "low": NS, "high": NS}, ...]}}}

`low` and `high` are the least and the largest ns to add to the host's CLOCK_MONOTONIC to get the
root's, at the time `at` of the root's clock.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass

from nvspan.recording.regular_file import open_regular

_FORMAT = "nvspan clocks 1"
_FAR = 1 << 61  # ns: sums of such times have 64 bits
_MAX_DRIFT = 200e-6  # between two clocks, as a part of the time


@dataclass(frozen=True)
class Offset:
    """ns to add to a host's clock to get the root's, at the time `at` of the root's."""

    at: int
    low: int
    high: int


class Clocks:
    """The boots of a job's hosts, and the measured offsets of their clocks."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Reads the file.

        Raises:
            OSError: it cannot be read.
            ValueError: it is not a file of clocks.
        """
        self.boot_ids: dict[str, str] = {}
        self._offsets: dict[str, list[Offset]] = {}
        try:
            with open_regular(path) as file:
                document = json.load(file)
            if document["format"] != _FORMAT:
                raise ValueError
            root = document["root"]
            for host, about in {root: document["hosts"][root], **document["hosts"]}.items():
                found = [
                    Offset(*(int(row[key]) for key in ("at", "low", "high")))
                    for row in about["measured"]
                ]
                if any(
                    each.low > each.high or max(abs(each.at), abs(each.low), abs(each.high)) > _FAR
                    for each in found
                ):
                    raise ValueError
                if found or host == root:
                    self.boot_ids[host] = str(about["boot_id"])
                    self._offsets[host] = sorted(found, key=lambda offset: offset.at)
        except (ValueError, KeyError, TypeError, OverflowError):
            name = os.fspath(path)
            raise ValueError(
                f"{name!r} is not a file of clocks, as docs/ranks.md describes it"
            ) from None

    def priors(self, reference: str) -> dict[str, list[tuple[int, int, int]]]:
        """For each host its offsets to the reference: (at, low, high), `at` by the host's clock.

        Raises:
            ValueError: the reference was not measured.
        """
        if reference not in self._offsets:
            known = ", ".join(sorted(self._offsets))
            raise ValueError(f"no clock is known of host {reference!r}; there are {known}")
        base = self._offsets[reference]
        found: dict[str, list[tuple[int, int, int]]] = {}
        for host, offsets in self._offsets.items():
            # The root has the times at which the reference was measured.
            found[host] = []
            for each in offsets or [Offset(known.at, 0, 0) for known in base]:
                other = _at(base, each.at)
                low, high = each.low - other.high, each.high - other.low
                at = each.at - (each.low + each.high) // 2
                found[host].append((at, 0, 0) if host == reference else (at, low, high))
        return found


def _at(offsets: list[Offset], at: int) -> Offset:
    """The offset at a time: between the measurements next to it, or drifted since the nearest."""
    if not offsets:  # the root
        return Offset(at, 0, 0)
    before = next((each for each in reversed(offsets) if each.at <= at), None)
    after = next((each for each in offsets if each.at >= at), None)
    near = before or after
    if near is not None and (before is None or after is None or before is after):
        more = 0 if near.at == at else round(abs(at - near.at) * _MAX_DRIFT) + 1
        return Offset(at, near.low - more, near.high + more)
    assert before is not None
    assert after is not None
    part = (at - before.at) / (after.at - before.at)
    low = before.low + (after.low - before.low) * part
    high = before.high + (after.high - before.high) * part
    return Offset(at, math.floor(low), math.ceil(high))
