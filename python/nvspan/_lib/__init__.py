# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The half-private names of ``nvtx._lib`` that other packages use."""

from nvspan._lib.lib import (
    Domain,
    DummyDomain,
    EventAttributes,
    NvtxWarning,
    RegisteredString,
    dummy_domain,
    end_range,
    mark,
    pop_range,
    push_range,
    start_range,
)

__all__ = [
    "Domain",
    "DummyDomain",
    "EventAttributes",
    "NvtxWarning",
    "RegisteredString",
    "dummy_domain",
    "end_range",
    "mark",
    "pop_range",
    "push_range",
    "start_range",
]
