# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The half-private names of ``nvtx._lib.lib``.

``mark``, ``push_range``, ``pop_range``, ``start_range`` and ``end_range`` have that module's own
signatures: they take an ``EventAttributes`` and a ``DomainHandle``.
"""

from __future__ import annotations

from nvspan import _core
from nvspan._compat.handles import DomainHandle, RegisteredString, StringHandle
from nvspan._core import Domain, EventAttributes, RangeHandle
from nvspan._core import NvspanWarning as NvtxWarning
from nvspan._lib.counters import Counter, DummyCounter, dummy_counter
from nvspan._runtime.domains import DummyDomain
from nvspan.colors import color_to_hex
from nvspan.payloads import (
    BatchOrdering,
    EntryKind,
    EventKind,
    PayloadEntryType,
    PredefinedScope,
    TimestampType,
)

__all__ = [
    "DONT_SET",
    "BatchOrdering",
    "Counter",
    "Domain",
    "DomainHandle",
    "DummyCounter",
    "DummyDomain",
    "EntryKind",
    "EventAttributes",
    "EventKind",
    "NvtxWarning",
    "PayloadEntryType",
    "PredefinedScope",
    "RegisteredString",
    "StringHandle",
    "TimestampType",
    "color_to_hex",
    "dummy_counter",
    "dummy_domain",
    "end_range",
    "initialize",
    "mark",
    "pop_range",
    "push_range",
    "start_range",
]

DONT_SET = object()
dummy_domain = DummyDomain()


def _to_bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def initialize() -> None:
    """Look for a tool now, as the first annotation would."""
    _core.listening()


def mark(attributes: EventAttributes, domain: DomainHandle) -> None:
    domain._domain.mark(attributes)


def push_range(attributes: EventAttributes, domain: DomainHandle) -> None:
    domain._domain.push_range(attributes)


def pop_range(domain: DomainHandle) -> None:
    domain._domain.pop_range()


def start_range(attributes: EventAttributes, domain: DomainHandle) -> tuple[int, DomainHandle]:
    return domain._domain.start_range(attributes), domain


def end_range(range_id: int, domain: DomainHandle | RangeHandle) -> None:
    if isinstance(domain, DomainHandle):
        domain._domain.end_range(range_id)
