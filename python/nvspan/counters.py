# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a counter's values mean, and how counters are made.

>>> import nvspan
>>> loss = nvspan.get_domain("training").get_counter("loss", float)
>>> loss.sample(0.25)
"""

from __future__ import annotations

import sys

from nvspan._core import Counter, ExtCounter, Float64Counter, Int64Counter
from nvspan._runtime.enums import (
    CounterInterpolation,
    CounterNoValueReason,
    CounterValueType,
    PredefinedScope,
    TimestampType,
)
from nvspan._runtime.semantics import CounterSemantics
from nvspan.payloads import METADATA_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan._core import Domain

__all__ = [
    "Counter",
    "CounterInterpolation",
    "CounterNoValueReason",
    "CounterSemantics",
    "CounterValueType",
    "ExtCounter",
    "Float64Counter",
    "Int64Counter",
]


_counters: dict[tuple[Any, ...], Counter] = {}


def _roles(dtype: Any) -> Any:
    """What of a dtype's metadata makes another counter of it; equal dtypes may differ in it."""
    own = (getattr(dtype, "metadata", None) or {}).get(METADATA_KEY)
    names = getattr(dtype, "names", None) or ()
    return own, tuple((name, _roles(dtype.fields[name][0])) for name in names)


def _checked_dtype(dtype: Any) -> Any:
    """A numpy dtype that a counter can have."""
    try:
        import numpy
    except ImportError:
        raise RuntimeError(
            "a counter of anything but int and float needs numpy: pip install numpy"
        ) from None
    try:
        dtype = numpy.dtype(dtype)
    except TypeError as error:
        raise TypeError("Counter dtype must be int, float, or NumPy dtype-like.") from error
    if dtype.subdtype is not None and dtype.subdtype[0].fields is not None:
        raise TypeError(
            "Nested counter groups are not supported. "
            "Counter dtype must not be a fixed-size array of a structured dtype."
        )
    for name in dtype.names or ():
        field = dtype.fields[name][0]
        if field.subdtype is not None:
            raise TypeError(
                "Counter group array fields are not supported. "
                f"Field {name!r} must be a scalar dtype."
            )
        if field.fields is not None:
            raise TypeError(
                "Nested counter groups are not supported. "
                f"Field {name!r} must not have a structured dtype."
            )
    return dtype


def _class_of(dtype: Any) -> tuple[type[Counter], Any]:
    """The class for a `dtype=` argument, and the dtype that the counter shows."""
    if dtype is int or dtype is float:
        # As in nvtx a numpy dtype where there is numpy; but none is imported for it.
        numpy_dtype = getattr(sys.modules.get("numpy"), "dtype", None)  # None: half imported, too
        kind: type[Counter] = Int64Counter if dtype is int else Float64Counter
        return kind, dtype if numpy_dtype is None else numpy_dtype("i8" if dtype is int else "f8")
    dtype = _checked_dtype(dtype)
    if dtype.fields is None and dtype.isnative:
        if (dtype.kind, dtype.itemsize) == ("i", 8):
            return Int64Counter, dtype
        if (dtype.kind, dtype.itemsize) == ("f", 8):
            return Float64Counter, dtype
    return ExtCounter, dtype


def _get_counter(
    domain: Domain,
    name: str | bytes,
    dtype: Any,
    *,
    description: str | bytes | None = None,
    scope: str | bytes | PredefinedScope | None = None,
    semantics: CounterSemantics | None = None,
    time_domain: TimestampType = TimestampType.TOOL_PROVIDED,
) -> Counter:
    """`Domain.get_counter`, for the extension module."""
    if semantics is not None and not isinstance(semantics, CounterSemantics):
        raise TypeError(f"semantics must be a CounterSemantics or None, not {semantics!r}")
    if not isinstance(time_domain, TimestampType):
        raise TypeError(f"time_domain must be a TimestampType, not {time_domain!r}")
    if scope is not None and not isinstance(scope, (str, bytes, PredefinedScope)):
        raise TypeError(f"scope must be a str, bytes, a PredefinedScope or None, not {scope!r}")
    kind, dtype = _class_of(dtype)
    key = (domain, name, kind, dtype if kind is ExtCounter else None, _roles(dtype), description,
           scope, semantics, time_domain)  # fmt: skip
    counter = _counters.get(key)
    if counter is None:
        fresh: Any = kind
        counter = fresh(domain, name, dtype, description, scope, semantics, time_domain.value)
        counter = _counters.setdefault(key, counter)
    return counter


_get_counter.__qualname__ = "get_counter"  # for messages about missing arguments
