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
from nvspan.payloads import METADATA_KEY, PredefinedScope, TimestampType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enum import Enum as Choice
    from typing import Any, NoReturn

    from nvspan._core import Domain
else:
    from nvspan._runtime.choice import Choice

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


class CounterNoValueReason(Choice):
    """Why there is no value, for :meth:`Counter.sample_no_value`."""

    ZERO = 0
    UNCHANGED = 1
    UNAVAILABLE = 2


class CounterValueType(Choice):
    """What a sample is: the value, its change since the last sample, or since the first."""

    ABSOLUTE = 1 << 4
    DELTA = 2 << 4
    DELTA_SINCE_START = 3 << 4


class CounterInterpolation(Choice):
    """What a counter is between two samples: nothing, the later one's value, the earlier one's, or
    on the line between them."""

    POINT = 1 << 8
    SINCE_LAST = 2 << 8
    UNTIL_NEXT = 3 << 8
    LINEAR = 4 << 8


_UNDEFINED, _SIGNED, _UNSIGNED, _FLOAT = range(4)


def _limit_type(low: int | float | None, high: int | float | None) -> int:
    """How the limits are told to the tool."""
    given = [limit for limit in (low, high) if limit is not None]
    if not all(isinstance(limit, (int, float)) for limit in given):
        raise TypeError("Counter semantic limits must be int, float, or None.")
    kinds = {isinstance(limit, float) for limit in given}
    if len(kinds) == 2:
        raise ValueError("Counter semantic min and max must have the same type.")
    if low is not None and high is not None and low > high:
        raise ValueError("Counter semantic min cannot exceed max.")
    if not kinds:
        return _UNDEFINED
    if kinds == {True}:
        return _FLOAT
    if any(limit < 0 for limit in given):
        if any(not -(2**63) <= limit < 2**63 for limit in given):
            raise ValueError("Signed counter semantic limits must fit in int64.")
        return _SIGNED
    if any(limit >= 2**64 for limit in given):
        raise ValueError("Unsigned counter semantic limits must fit in uint64.")
    return _UNSIGNED


class _Fields:
    """``__dataclass_fields__`` for `dataclasses`, which is imported when it asks for them."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses
        import inspect
        from typing import Any

        parameters = list(inspect.signature(owner).parameters.values())
        fields = [(one.name, Any, dataclasses.field(default=one.default)) for one in parameters]
        twin = dataclasses.make_dataclass(owner.__name__, fields, frozen=True)
        found: dict[str, Any] = twin.__dataclass_fields__  # type: ignore[attr-defined]
        setattr(owner, "__dataclass_fields__", found)  # noqa: B010
        return found


class CounterSemantics:
    """How tools are to read a counter's values. Immutable and hashable.

    Args:
        unit: The unit's name; kept as bytes.
        value_type: What a sample is.
        interpolation: What the counter is between samples.
        min: Lower limit, an int or a float.
        max: Upper limit, of the same type.
        unit_scale_numerator: The values are this many units, divided by
        unit_scale_denominator: this. Both 1 to 2**64 - 1.

    Raises:
        TypeError: An argument is of another type.
        ValueError: The limits are of two types, crossed or too large, or a scale is out of range.

    >>> import nvspan
    >>> nvspan.CounterSemantics(unit="bytes", min=0).unit
    b'bytes'
    """

    __slots__ = (
        "_limit_type", "interpolation", "max", "min", "unit", "unit_scale_denominator",
        "unit_scale_numerator", "value_type",
    )  # fmt: skip

    __dataclass_fields__ = _Fields()

    unit: bytes | None
    value_type: CounterValueType
    interpolation: CounterInterpolation
    min: int | float | None
    max: int | float | None
    unit_scale_numerator: int
    unit_scale_denominator: int
    _limit_type: int

    def __init__(
        self,
        unit: str | bytes | None = None,
        value_type: CounterValueType = CounterValueType.ABSOLUTE,
        interpolation: CounterInterpolation = CounterInterpolation.POINT,
        min: int | float | None = None,
        max: int | float | None = None,
        unit_scale_numerator: int = 1,
        unit_scale_denominator: int = 1,
    ) -> None:
        if unit is not None and not isinstance(unit, (str, bytes)):
            raise TypeError("Counter semantic unit must be str, bytes, or None.")
        if not isinstance(value_type, CounterValueType):
            raise TypeError("Counter semantic value_type must be a CounterValueType.")
        if not isinstance(interpolation, CounterInterpolation):
            raise TypeError("Counter semantic interpolation must be a CounterInterpolation.")
        for name, scale in (
            ("unit_scale_numerator", unit_scale_numerator),
            ("unit_scale_denominator", unit_scale_denominator),
        ):
            if not isinstance(scale, int):
                raise TypeError(f"Counter semantic {name} must be an int.")
            if not 0 < scale < 2**64:
                raise ValueError(f"Counter semantic {name} must be in range [1, 2**64 - 1].")
        values = {
            "unit": unit.encode() if isinstance(unit, str) else unit,
            "value_type": value_type,
            "interpolation": interpolation,
            "min": min,
            "max": max,
            "unit_scale_numerator": unit_scale_numerator,
            "unit_scale_denominator": unit_scale_denominator,
            "_limit_type": _limit_type(min, max),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete field {name!r}")

    def _parts(self) -> tuple[Any, ...]:
        return (
            self.unit, self.value_type, self.interpolation, self.min, self.max,
            self.unit_scale_numerator, self.unit_scale_denominator,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CounterSemantics):
            return NotImplemented
        return self._parts() == other._parts() and self._limit_type == other._limit_type

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return CounterSemantics, self._parts()

    def __replace__(self, **changes: Any) -> CounterSemantics:
        """For ``copy.replace``; ``dataclasses.replace`` does the same."""
        names = type(self).__dataclass_fields__
        return type(self)(**{name: getattr(self, name) for name in names} | changes)

    def __repr__(self) -> str:
        return (
            f"CounterSemantics(unit={self.unit!r}, value_type={self.value_type!r}, "
            f"interpolation={self.interpolation!r}, min={self.min!r}, max={self.max!r}, "
            f"unit_scale_numerator={self.unit_scale_numerator!r}, "
            f"unit_scale_denominator={self.unit_scale_denominator!r})"
        )


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
        made = getattr(sys.modules.get("numpy"), "dtype", None)  # None: half imported, too
        kind: type[Counter] = Int64Counter if dtype is int else Float64Counter
        return kind, dtype if made is None else made("i8" if dtype is int else "f8")
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
    made = _counters.get(key)
    if made is None:
        fresh: Any = kind
        made = fresh(domain, name, dtype, description, scope, semantics, time_domain.value)
        made = _counters.setdefault(key, made)
    return made
