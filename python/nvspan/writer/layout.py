# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Row layouts: NumPy dtypes in the terms of NVTX's payload schemas."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from nvspan._runtime.enums import EntryKind, EventKind, PayloadEntryType
from nvspan.payloads import METADATA_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from nvspan._runtime.semantics import CounterSemantics

COUNTER_GROUP = 1 << 3
_PART_OF_GROUP = 1 << 14
_FIXED_ARRAY = 1 << 4
INT64, FLOAT64, _BYTE, _TEXT32 = 17, 44, 32, 78
_NUMBERS = {"b1": 12, "i1": 11, "u1": 12, "i2": 13, "u2": 14, "i4": 15, "u4": 16}
_NUMBERS |= {"i8": INT64, "u8": 18, "f2": 42, "f4": 43, "f8": FLOAT64, "f16": 21}

COMPLETE_KINDS = (EventKind.MARK, EventKind.RANGE_PUSHPOP, EventKind.RANGE_STARTEND)
KINDS_WITH_ID = (EventKind.RANGE_START, EventKind.RANGE_END)
# The times of each kind of event, in the order in which they are written.
TIMES = {
    EventKind.MARK: (EntryKind.MARK,),
    EventKind.RANGE_PUSHPOP: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_STARTEND: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_PUSH: (EntryKind.RANGE_BEGIN,),
    EventKind.RANGE_POP: (EntryKind.RANGE_END,),
    EventKind.RANGE_START: (EntryKind.RANGE_BEGIN,),
    EventKind.RANGE_END: (EntryKind.RANGE_END,),
}
_COUNTED = (
    EntryKind.RANGE_BEGIN,
    EntryKind.RANGE_END,
    EntryKind.MARK,
    EntryKind.COUNTER_TIMESTAMP,
    PayloadEntryType.RANGE_ID,
)
_ROLES: dict[EntryKind | PayloadEntryType | None, str] = {
    EntryKind.RANGE_BEGIN: "begin",
    EntryKind.RANGE_END: "end",
    EntryKind.MARK: "begin",
    EntryKind.MESSAGE: "message",
    PayloadEntryType.CATEGORY: "category",
    PayloadEntryType.COLOR_ARGB: "color",
    PayloadEntryType.RANGE_ID: "range_id",
}


class Field(NamedTuple):
    """A field of a payload.

    Attributes:
        name: what it is called.
        type: a number of NVTX's, or the layout of a nested payload.
        flags: what it means, and whether it is an array.
        detail: of an array its length.
        offset: bytes from the payload's beginning.
        semantics: of a counter's value.
    """

    name: str
    type: int | Layout
    flags: int
    detail: int
    offset: int
    semantics: CounterSemantics | None


class Layout(NamedTuple):
    """The bytes of a payload: how many, flags of its schema, and its fields."""

    size: int
    flags: int
    fields: tuple[Field, ...]


class EventSchema(NamedTuple):
    """A schema that is registered in a domain; `kind` is None for payloads.

    `roles` has the name of each field with a role: ``begin`` (also a mark's time, and the only
    time of a pop or an end), ``end``, ``message``, ``registered`` (a message that is a registered
    string's handle), ``category``, ``color``, ``range_id``.
    """

    id: int
    layout: Layout
    dtype: Any
    kind: EventKind | None
    roles: dict[str, str]


def _metadata(dtype: np.dtype[Any], name: str) -> Any:
    metadata: Any = dtype.metadata or {}
    return getattr(metadata.get(METADATA_KEY), name, None)


def _kind_of(dtype: np.dtype[Any]) -> EntryKind | None:
    kind: EntryKind | None = _metadata(dtype, "entry_kind")
    return kind


def _type_of(dtype: np.dtype[Any]) -> PayloadEntryType | None:
    number: PayloadEntryType | None = _metadata(dtype, "entry_type")
    return number


def _fields(dtype: np.dtype[Any]) -> Iterator[tuple[str, np.dtype[Any], int]]:
    """The name, dtype and offset of each field."""
    for name in dtype.names or ():
        field: Any = dtype.fields[name]  # type: ignore[index]
        yield name, field[0], field[1]


def _check_native(dtype: np.dtype[Any], what: str) -> None:
    """Raises TypeError for numbers in another byte order than this machine's."""
    if dtype.subdtype is not None:
        _check_native(dtype.subdtype[0], what)
    elif dtype.fields is not None:
        for _, inner, _ in _fields(dtype):
            _check_native(inner, what)
    elif not dtype.isnative:
        raise TypeError(f"{what} requires native byte order; got dtype {dtype}")


def _field(name: str, dtype: np.dtype[Any], offset: int, flags: int) -> Field:
    entry_type, entry_kind = _type_of(dtype), _kind_of(dtype)
    semantics = _metadata(dtype, "counter_semantics")
    detail = 0
    if dtype.subdtype is not None:
        dtype, shape = dtype.subdtype
        detail = math.prod(shape)
        flags |= _FIXED_ARRAY
    if entry_kind is not None:
        flags = (flags & ~_PART_OF_GROUP) | entry_kind.value
    number: int | Layout
    if entry_type is not None:
        number = entry_type.value
    elif dtype.fields is not None:
        number = layout_of(dtype)
    elif dtype.kind in "SV":
        number, flags, detail = _BYTE, flags | _FIXED_ARRAY, max(detail, 1) * dtype.itemsize
    elif dtype.kind == "U":
        number, detail = _TEXT32, max(detail, 1) * dtype.itemsize // 4
    else:
        code = f"{dtype.kind}{dtype.itemsize}"
        if code not in _NUMBERS:
            raise TypeError(f"a payload cannot have a field of dtype {dtype}")
        number = _NUMBERS[code]
    return Field(name, number, flags, detail, offset, semantics)


def layout_of(dtype: np.dtype[Any], flags: int = 0) -> Layout:
    """The layout of rows of `dtype`; `flags` are the schema's.

    Raises:
        TypeError: A field cannot be in a payload.
    """
    _check_native(dtype, "a payload schema")
    if dtype.fields is None:
        return Layout(dtype.itemsize, flags, (_field("value", dtype, 0, 0),))
    fields = []
    for name, inner, offset in _fields(dtype):
        if inner.hasobject:
            raise TypeError(f"a payload cannot have the field {name!r} of dtype {inner}")
        fields.append(_field(name, inner, offset, _PART_OF_GROUP if flags == COUNTER_GROUP else 0))
    return Layout(dtype.itemsize, flags, tuple(fields))


def event_roles(kind: EventKind, dtype: np.dtype[Any]) -> dict[str, str]:
    """The `roles` of an :class:`EventSchema`.

    Raises:
        TypeError, ValueError: Rows of the dtype cannot be events of that kind.
    """
    what = "an event schema"
    if dtype.fields is None:
        raise TypeError(f"{what} requires a structured dtype")
    _check_native(dtype, what)
    counts: Counter[EntryKind | PayloadEntryType | None] = Counter()
    roles: dict[str, str] = {}
    for name, inner, _ in _fields(dtype):
        if inner.hasobject:
            raise TypeError(
                f"{what} requires fields with self-contained, fixed-width storage; "
                f"field {name!r} uses managed storage"
            )
        role, number = _kind_of(inner), _type_of(inner)
        if role is not None and role in _COUNTED and number is not None:
            raise ValueError(
                f"{what} field {name!r} cannot combine the EntryKind.{role.name} timestamp role "
                f"with PayloadEntryType.{number.name}"
            )
        counts.update((role, number))
        place = _ROLES.get(role, _ROLES.get(number, ""))
        if role is EntryKind.MESSAGE and number is PayloadEntryType.REGISTERED_STRING:
            place = "registered"
        if place:
            roles.setdefault(place, name)
    ids = (PayloadEntryType.RANGE_ID,) if kind in KINDS_WITH_ID else ()
    for counted in _COUNTED:
        shown = f"{type(counted).__name__}.{counted.name}"
        if counted not in TIMES[kind] + ids:
            if counts[counted]:
                raise ValueError(f"{shown} is not valid for {kind!s}")
        elif counts[counted] != 1:
            raise ValueError(f"{what} dtype for {kind!s} must contain exactly one {shown} field")
    if "begin" not in roles:
        roles["begin"] = roles.pop("end")
    return roles


def counter_timestamp(dtype: Any) -> str | None:
    """The field of a counter's rows that is their time, None: there is none.

    Raises:
        TypeError: A counter cannot have that dtype.
        ValueError: A field has a role that it cannot have there.
    """
    if dtype is int or dtype is float:
        return None
    if dtype.subdtype is not None:
        raise TypeError("Top-level fixed-size array counter dtypes are not supported.")
    _check_native(dtype, "a counter layout")
    stamps = []
    for name, inner, _ in _fields(dtype):
        role = _kind_of(inner)
        if role is EntryKind.COUNTER_TIMESTAMP:
            stamps.append(name)
        elif role is not None:
            raise ValueError(
                f"EntryKind.{role.name} is not valid in a counter layout (field {name!r})"
            )
    if len(stamps) > 1:
        raise ValueError("a counter layout may embed at most one EntryKind.COUNTER_TIMESTAMP field")
    return stamps[0] if stamps else None


def batch_rows(data: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The rows as one contiguous array; the columns of a data frame are found by name.

    Raises:
        ValueError: A column is missing, or the array has not one dimension.
    """
    import numpy as np

    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise ValueError("batch data must be one-dimensional")
        return np.ascontiguousarray(data, dtype=dtype)
    if hasattr(data, "columns") and hasattr(data, "__dataframe__") and dtype.names:
        rows = np.empty(len(data), dtype=dtype)
        for name in dtype.names:
            if name not in data.columns:
                raise ValueError(f"batch data is missing a column for dtype field {name!r}")
            rows[name] = data[name].to_numpy()
        return rows
    return np.fromiter(data, dtype=dtype)
