# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""This host's clock: the one that recordings have, CLOCK_MONOTONIC of a boot."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass

from nvspan._runtime.unix_time import unix_offset

_BOOT = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True)
class LocalClock:
    """A host's name and boot, and what its clock says.

    Attributes:
        host: its name, as in recordings.
        boot_id: two processes with one boot share the clock.
        offset: ns that are added to the clock; 0 but in tests.
        drift: so much faster, as a part of the time; 0 but in tests.
    """

    host: str
    boot_id: str
    offset: int = 0
    drift: float = 0.0

    def now(self) -> int:
        """ns of the clock."""
        now = time.monotonic_ns()
        return now + self.offset + round(now * self.drift)

    def unix_offset(self) -> int:
        """ns to add to the clock to get the time since 1970 that the system believes in."""
        return unix_offset(self.now)


def this_host() -> LocalClock:
    """The clock of this host.

    Raises:
        OSError: the system does not say which boot this is.
    """
    with open(_BOOT, encoding="ascii") as file:
        return LocalClock(platform.node(), file.read().strip())


def pretended(text: str) -> LocalClock:
    """A clock for tests: ``HOST:OFFSET_NS`` or ``HOST:OFFSET_NS:PPM``, beside this host's own.

    Raises:
        ValueError: the text is none of these.
    """
    host, _, rest = text.partition(":")
    offset, _, ppm = rest.partition(":")
    return LocalClock(host, f"boot of {host}", int(offset), float(ppm or 0) * 1e-6)
