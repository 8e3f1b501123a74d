# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What this system's own services say of its clock: chrony, and clocks of the network card."""

from __future__ import annotations

import glob
import os
import subprocess
import time
from dataclasses import dataclass

from nvspan.ranks.clock.local import LocalClock

_FIELDS = 14  # of a line of chronyc -c tracking
_SYSTEM_TIME, _ROOT_DELAY, _ROOT_DISPERSION, _LEAP = 4, 10, 11, 13
_CLOCKFD = 3  # of a dynamic POSIX clock
_TRIES = 25


@dataclass(frozen=True)
class Statement:
    """True time minus this host's clock.

    Attributes:
        at: ns of this host's clock.
        low, high: ns since 1970 (of PTP: TAI) to add to the clock.
        source: who says so: "chrony", or "ptp" with the device.
    """

    at: int
    low: int
    high: int
    source: str


def of_chrony(clock: LocalClock) -> Statement | None:
    """What chrony says, None where it does not run or follows no server.

    The time is off by at most the offset that is being corrected, the root dispersion and half of
    the root delay.
    """
    try:
        line = subprocess.run(
            ["chronyc", "-c", "-n", "tracking"], capture_output=True, text=True, timeout=5,
            check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_tracking(line, clock)


def parse_tracking(line: str, clock: LocalClock) -> Statement | None:
    """The statement in a line of ``chronyc -c tracking``; None where there is none."""
    fields = line.strip().split(",")
    if len(fields) < _FIELDS or fields[_LEAP] == "Not synchronised":
        return None
    try:
        ahead, delay, dispersion = (
            float(fields[at]) for at in (_SYSTEM_TIME, _ROOT_DELAY, _ROOT_DISPERSION)
        )
    except ValueError:
        return None
    error = round((abs(ahead) + dispersion + delay / 2) * 1e9) + 1
    at, offset = clock.now(), clock.unix_offset()
    return Statement(at, offset - error, offset + error, "chrony")


def of_ptp(clock: LocalClock, error: int) -> Statement | None:
    """What the first clock of PTP among the devices shows; None where none can be read.

    Args:
        clock: this host's.
        error: ns by which the device may be off from its master, which it does not say itself.
    """
    for device in sorted(glob.glob("/dev/ptp*")):
        try:
            file = os.open(device, os.O_RDONLY)
        except OSError:
            continue
        try:
            number = (~file << 3) | _CLOCKFD
            tries = []
            for _ in range(_TRIES):
                before, shows, after = clock.now(), time.clock_gettime_ns(number), clock.now()
                tries.append((after - before, shows - after, shows - before, after))
        except OSError:
            continue
        finally:
            os.close(file)
        _, low, high, at = min(tries)
        return Statement(at, low - error, high + error, f"ptp {os.path.basename(device)}")
    return None
