# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``nvtx._lib.counters``."""

from __future__ import annotations

from nvspan.counters import (
    Counter,
    CounterInterpolation,
    CounterNoValueReason,
    CounterSemantics,
    CounterValueType,
    ExtCounter,
    Float64Counter,
    Int64Counter,
)

__all__ = [
    "Counter",
    "CounterInterpolation",
    "CounterNoValueReason",
    "CounterSemantics",
    "CounterValueType",
    "DummyCounter",
    "ExtCounter",
    "Float64Counter",
    "Int64Counter",
    "dummy_counter",
]


class DummyCounter:
    """For ``isinstance`` checks written for ``nvtx``: no counter of nvspan is ever one."""

    name = dtype = domain = description = scope = semantics = time_domain = None

    def sample(self, value: object) -> None:
        pass

    def batch_submit(self, values: object, timestamps: object) -> None:
        pass

    def sample_no_value(self, reason: object) -> None:
        pass


dummy_counter = DummyCounter()
