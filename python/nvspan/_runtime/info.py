# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers about nvspan itself, for a server's metrics."""

from __future__ import annotations

from nvspan import _core
from nvspan._runtime.switch import tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class DomainInfo(TypedDict):
        """The entry of one domain in ``info()["domains"]``."""

        enabled: bool
        level: int
        names_registered: int
        names_limit: int
        names_overflowed: int
        categories: int

    class DeviceInfo(TypedDict):
        """The entry ``info()["device"]`` about device ranges."""

        backend: str | None
        begun: int
        sent: int
        lost: dict[str, int]

    class Info(TypedDict):
        """What ``info()`` returns."""

        version: str
        tool: str | None
        active: bool
        checking: bool
        names_registered: int
        names_overflowed: int
        threads_named: int
        dropped: int
        findings: int
        device: DeviceInfo
        domains: dict[str, DomainInfo]


_SHOWN = {"begun", "sent_callback", "sent_exact", "timed", "capture_skipped"}


def device_losses() -> dict[str, int]:
    """How many device ranges were not shown, by reason."""
    counts = _core.device_counts()
    return {reason: n for reason, n in counts.items() if n and reason not in _SHOWN}


def info() -> Info:
    """Return numbers about nvspan in this process, to be exported as metrics.

    Keys: ``version``; ``tool``, as :func:`tool` says; ``active``, whether an event would be sent
    now; ``checking``; ``names_registered`` and ``names_overflowed`` (messages that found no room
    and are passed as plain strings) over all domains; ``threads_named``; ``dropped`` (ranges opened
    beyond a million levels in a thread, which are sent but not paired); ``findings`` of check mode,
    repetitions counted; ``device``, of device ranges: ``backend`` (what "auto" is with the tool
    that listens, None without one), ``begun``, ``sent`` and ``lost``, a dict of counts by reason,
    as :func:`device_stats` names them; and ``domains``: for each by name ("NVTX" is the default
    domain) ``enabled``, ``level``, ``names_registered``, ``names_limit``, ``names_overflowed`` and
    ``categories``.

    Takes some microseconds for each domain; any thread may call it. It looks for a tool only if
    something did before.

    >>> import nvspan
    >>> nvspan.info()["names_overflowed"]
    0
    """
    domains: dict[str, DomainInfo] = {}
    registered = overflowed = 0
    for domain in _core.all_domains():
        stats = domain.message_stats()
        registered += stats["registered"]
        overflowed += stats["overflowed"]
        domains["NVTX" if domain.name is None else domain.name] = {
            "enabled": domain.enabled,
            "level": domain.level,
            "names_registered": stats["registered"],
            "names_limit": stats["limit"],
            "names_overflowed": stats["overflowed"],
            "categories": len(domain.categories),
        }
    counts = _core.device_counts()
    decided = _core.decided()
    return {
        "version": _core.__version__,
        "tool": tool() if decided else None,
        "active": decided and _core.is_active(None),
        "checking": _core.checking(),
        "names_registered": registered,
        "names_overflowed": overflowed,
        "threads_named": _core.named_threads(),
        "dropped": _core.dropped_pushes(),
        "findings": sum(report[4] for report in _core.check_reports()),
        "device": {
            "backend": _core.device_backend(False),
            "begun": counts["begun"],
            "sent": counts["sent_exact"] + counts["sent_callback"],
            "lost": device_losses(),
        },
        "domains": domains,
    }
