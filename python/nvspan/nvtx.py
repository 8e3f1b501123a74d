# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the ``nvtx.nvtx`` module."""

from nvspan._core import (
    Domain,
    annotate,
    end_range,
    mark,
    pop_range,
    push_range,
    start_range,
)
from nvspan._core import (
    NvspanWarning as NvtxWarning,
)
from nvspan._domains import DummyDomain, enabled, get_domain
from nvspan._lib.lib import dummy_domain
from nvspan.counters import CounterSemantics
from nvspan.payloads import EntryKind, PayloadEntryType, numpy_dtype

__all__ = [
    "CounterSemantics",
    "Domain",
    "DummyDomain",
    "EntryKind",
    "NvtxWarning",
    "PayloadEntryType",
    "annotate",
    "dummy_domain",
    "enabled",
    "end_range",
    "get_domain",
    "mark",
    "numpy_dtype",
    "pop_range",
    "push_range",
    "start_range",
]
