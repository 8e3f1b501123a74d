# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Files of clocks: what each host's clock was measured to be, at the start and the end of a job."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nvspan.ranks.clock.local import LocalClock
from nvspan.ranks.clock.probe import ClockError, Interval

_FORMAT = "nvspan clocks 1"


@dataclass
class HostClock:
    """A host's clock: what to add to it, each time that it was measured."""

    host: str
    boot_id: str
    measured: list[Interval] = field(default_factory=list)

    def drift(self) -> tuple[float, float] | None:
        """From the first to the last measurement: how much faster than the root's the clock is, as
        parts of the time, at least and at most; None where it was measured once."""
        first, last = self.measured[0], self.measured[-1]
        if first.at >= last.at:
            return None
        time = last.at - first.at
        return (first.low - last.high) / time, (first.high - last.low) / time


class Clocks:
    """The clocks of a job's hosts.

    Attributes:
        root: the host that the others are compared with.
        hosts: a `HostClock` for each host by its name, the root among them.
    """

    def __init__(self, host: str, boot_id: str) -> None:
        self.root = host
        self.hosts: dict[str, HostClock] = {host: HostClock(host, boot_id)}

    def add(self, host: str, boot_id: str, offset: Interval) -> None:
        """A measurement; those of another boot of the host are dropped."""
        known = self.hosts.get(host)
        if known is None or known.boot_id != boot_id:
            known = self.hosts[host] = HostClock(host, boot_id)
        known.measured.append(offset)
        known.measured.sort(key=lambda each: each.at)

    def priors(self, reference: str) -> dict[str, list[tuple[int, int, int]]]:
        """Of each host, for each time that it was measured: when, by its own clock, and the least
        and the largest ns to add to that to get the reference's.

        Raises:
            ValueError: the reference was not measured.
        """
        if reference not in self.hosts:
            known = ", ".join(sorted(self.hosts))
            raise ValueError(f"no clock is known of host {reference!r}; there are {known}")
        base = self.hosts[reference]
        found: dict[str, list[tuple[int, int, int]]] = {}
        for host, clock in self.hosts.items():
            # The root has the times at which the reference was measured.
            for each in clock.measured or [Interval(at.at, 0, 0) for at in base.measured]:
                other = _at(base, each.at)
                bounds = (each.low - other.high, each.high - other.low)
                of_host = found.setdefault(host, [])
                of_host.append((each.at - each.middle, *((0, 0) if clock is base else bounds)))
        found.setdefault(reference, [])
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": _FORMAT, "root": self.root,
            "hosts": {
                host: {
                    "boot_id": clock.boot_id,
                    "measured": [
                        {"at": each.at, "low": each.low, "high": each.high}
                        for each in clock.measured
                    ],
                }
                for host, clock in sorted(self.hosts.items())
            },
        }  # fmt: skip

    def save(self, path: str) -> None:
        """Writes the file, whole or not at all.

        Raises:
            OSError: the folder cannot be written to.
        """
        name = f"{path}.{os.getpid()}"
        with open(name, "w", encoding="utf-8") as file:
            json.dump(self.as_dict(), file, indent=1)
            file.write("\n")
        os.replace(name, path)


def _at(clock: HostClock, at: int) -> Interval:
    """What is known of a clock at a time: by the measurements next to it."""
    if not clock.measured:  # the root
        return Interval(at, 0, 0)
    before = next((each for each in reversed(clock.measured) if each.at <= at), None)
    after = next((each for each in clock.measured if each.at >= at), None)
    if before is None or after is None or before is after:
        near = before or after
        assert near is not None
        return near.at_time(at)
    part = (at - before.at) / (after.at - before.at)
    low = before.low + (after.low - before.low) * part
    high = before.high + (after.high - before.high) * part
    return Interval(at, math.floor(low), math.ceil(high))


def load(path: str | os.PathLike[str]) -> Clocks:
    """Reads a file of clocks.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no such file.
    """
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document["format"] != _FORMAT:
            raise ValueError
        root = document["root"]
        clocks = Clocks(root, document["hosts"][root]["boot_id"])
        for host, about in document["hosts"].items():
            for each in about["measured"]:
                offset = Interval(int(each["at"]), int(each["low"]), int(each["high"]))
                if offset.low > offset.high:
                    raise ValueError
                clocks.add(str(host), str(about["boot_id"]), offset)
    except (ValueError, KeyError, TypeError):
        name = os.fspath(path)
        raise ValueError(f"{name!r} is no file of clocks, as 'nvspan clock' writes") from None
    return clocks


def begun(path: str, clock: LocalClock) -> Clocks:
    """What the file has already of a job with this host as root: new where there is no file.

    Raises:
        ClockError: it is of another root, or no file of clocks.
    """
    if not os.path.exists(path):
        return Clocks(clock.host, clock.boot_id)
    try:
        clocks = load(path)
    except ValueError as error:
        raise ClockError(str(error)) from None
    root = clocks.hosts[clocks.root]
    if (root.host, root.boot_id) != (clock.host, clock.boot_id):
        raise ClockError(
            f"{path!r} is of the clock of {root.host!r} in another boot or job: remove it first"
        )
    return clocks


def rows(clocks: Clocks) -> list[dict[str, Any]]:
    """A dict for each host but the root: its last offset, half width and drift, in ns and ppm."""
    found = []
    for host, clock in sorted(clocks.hosts.items()):
        if host == clocks.root:
            continue
        last = clock.measured[-1]
        drift = clock.drift()
        found.append({
            "host": host, "offset": last.middle, "half_width": last.half,
            "measured": len(clock.measured),
            "drift_ppm": None if drift is None else 1e6 * sum(drift) / 2,
            "drift_half_ppm": None if drift is None else 1e6 * (drift[1] - drift[0]) / 2,
        })  # fmt: skip
    return found


def within(statements: Sequence[Interval]) -> Interval | None:
    """What several statements about one clock leave together, at the time of the first; None where
    they contradict each other."""
    at = statements[0].at
    moved = [each.at_time(at) for each in statements]
    low, high = max(each.low for each in moved), min(each.high for each in moved)
    return Interval(at, low, high) if low <= high else None
