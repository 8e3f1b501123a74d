# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the ``nvtx.nvtx`` module."""

from __future__ import annotations

from functools import cache

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
from nvspan._lib.lib import dummy_domain
from nvspan._runtime.domains import DummyDomain, enabled, get_domain
from nvspan.counters import CounterSemantics
from nvspan.payloads import (
    NVTX_DTYPE_METADATA_KEY_NAME,
    EntryKind,
    PayloadEntryType,
    numpy_dtype,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "NVTX_DTYPE_METADATA_KEY_NAME",
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


@cache
def _get_domain_cached(name: str | None) -> Domain:
    return get_domain(name)


def __getattr__(name: str) -> Any:
    if name != "PayloadTypeAlias":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import typing

    kinds: Any = (int, float, list, tuple, range, bytes, "np.ndarray")
    return typing.Union[kinds]  # noqa: UP007
