# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges that were lost: a mark at the exit of a process, and what reports read of it."""

from __future__ import annotations

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvspan._results import MarkRow

_DOMAIN = "nvspan"
_MESSAGE = "device ranges lost: "  # a contract with reports


def mark_losses(lost: dict[str, int]) -> None:
    """At the exit of a process: leaves what was lost, by reason, to those who read a recording."""
    counts = ", ".join(f"{reason}={count}" for reason, count in lost.items())
    _core.mark(_MESSAGE + counts, domain=_DOMAIN)


def device_losses_of(marks: Iterable[MarkRow]) -> dict[str, int]:
    """For reports: the losses that processes left as marks at their exit, by reason."""
    lost: dict[str, int] = {}
    for mark in marks:
        name = mark.name or ""
        if mark.domain != _DOMAIN or not name.startswith(_MESSAGE):
            continue
        for part in name[len(_MESSAGE) :].split(", "):
            reason, _, count = part.partition("=")
            if count.isdigit():
                lost[reason] = lost.get(reason, 0) + int(count) * mark.calls
    return lost
