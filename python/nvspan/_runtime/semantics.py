# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How a counter's values are to be read."""

from __future__ import annotations

from nvspan._runtime.enums import CounterInterpolation, CounterValueType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_UNDEFINED, _SIGNED, _UNSIGNED, _FLOAT = range(4)


def _limit_type(low: int | float | None, high: int | float | None) -> int:
    """How the limits are passed to the tool."""
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

    __module__ = "nvspan.counters"
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
