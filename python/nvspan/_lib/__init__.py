# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The half-private names of ``nvtx._lib`` that other packages use."""

from nvspan._lib.lib import (
    BatchOrdering,
    Domain,
    DummyDomain,
    EntryKind,
    EventAttributes,
    EventKind,
    NvtxWarning,
    PayloadEntryType,
    PredefinedScope,
    RegisteredString,
    dummy_domain,
    end_range,
    mark,
    pop_range,
    push_range,
    start_range,
)

__all__ = [
    "BatchOrdering",
    "Domain",
    "DummyDomain",
    "EntryKind",
    "EventAttributes",
    "EventKind",
    "NvtxWarning",
    "PayloadEntryType",
    "PredefinedScope",
    "RegisteredString",
    "dummy_domain",
    "end_range",
    "mark",
    "pop_range",
    "push_range",
    "start_range",
]
