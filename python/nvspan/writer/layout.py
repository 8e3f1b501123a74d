# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The layout of rows: what a NumPy dtype says, in the numbers of NVTX's payload schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nvspan._runtime.enums import EntryKind, EventKind, PayloadEntryType
from nvspan.payloads import METADATA_KEY

if TYPE_CHECKING:
    import numpy as np

    from nvspan._runtime.semantics import CounterSemantics

COUNTER_GROUP = 1 << 3
PART_OF_GROUP = 1 << 14
FIXED_ARRAY = 1 << 4
_ROLE = (7 << 12) | (3 << 10)
_NUMBERS = {
    "b1": 12, "i1": 11, "u1": 12, "i2": 13, "u2": 14, "i4": 15, "u4": 16, "i8": 17, "u8": 18,
    "f2": 42, "f4": 43, "f8": 44, "f16": 21,
}  # fmt: skip
_BYTE, _TEXT32 = 32, 78
_ENTRY_KINDS = (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END, EntryKind.MARK,
                EntryKind.COUNTER_TIMESTAMP)  # fmt: skip
COMPLETE_KINDS = (EventKind.MARK, EventKind.RANGE_PUSHPOP, EventKind.RANGE_STARTEND)


class Field(NamedTuple):
    name: str
    type: int | Layout
    flags: int
    detail: int
    offset: int
    semantics: CounterSemantics | None


class Layout(NamedTuple):
    size: int
    flags: int
    fields: tuple[Field, ...]


class Roles(NamedTuple):
    """Which field of an event's rows is what; None: there is none."""

    begin: str | None
    end: str | None
    message: str | None
    registered: str | None  # a message that is a registered string's handle
    category: str | None
    color: str | None
    range_id: str | None
    others: bool  # whether there are fields beside them


class EventSchema(NamedTuple):
    """A schema that is registered in a domain; `kind` None: of payloads."""

    id: int
    dtype: Any
    kind: EventKind | None
    roles: Roles | None


def metadata_of(dtype: np.dtype[Any]) -> Any:
    metadata: Any = dtype.metadata or {}
    return metadata.get(METADATA_KEY)


def kind_of(dtype: np.dtype[Any]) -> EntryKind | None:
    return getattr(metadata_of(dtype), "entry_kind", None)


def type_of(dtype: np.dtype[Any]) -> PayloadEntryType | None:
    return getattr(metadata_of(dtype), "entry_type", None)


def check_native(dtype: np.dtype[Any], what: str) -> None:
    """Raises TypeError for numbers in another byte order than this machine's."""
    if dtype.subdtype is not None:
        check_native(dtype.subdtype[0], what)
    elif dtype.fields is not None:
        for name in dtype.names or ():
            check_native(dtype.fields[name][0], what)
    elif not dtype.isnative:
        raise TypeError(f"{what} requires native byte order; got dtype {dtype}")


def _field(name: str, dtype: np.dtype[Any], offset: int, group: bool) -> Field:
    metadata = metadata_of(dtype)
    flags = PART_OF_GROUP if group else 0
    detail = 0
    if dtype.subdtype is not None:
        dtype, shape = dtype.subdtype
        detail = 1
        for length in shape:
            detail *= length
        flags |= FIXED_ARRAY
    entry_type = getattr(metadata, "entry_type", None)
    entry_kind = getattr(metadata, "entry_kind", None)
    semantics = getattr(metadata, "counter_semantics", None)
    if entry_kind is not None:
        flags = (flags & ~PART_OF_GROUP) | entry_kind.value
    number: int | Layout
    if entry_type is not None:
        number = entry_type.value
    elif dtype.fields is not None:
        number = layout_of(dtype)
    elif dtype.kind in "SV":
        number, flags, detail = _BYTE, flags | FIXED_ARRAY, max(detail, 1) * dtype.itemsize
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
    check_native(dtype, "a payload schema")
    group = flags == COUNTER_GROUP
    if dtype.fields is None:
        return Layout(dtype.itemsize, flags, (_field("value", dtype, 0, False),))
    fields = []
    for name in dtype.names or ():
        inner, offset = dtype.fields[name][:2]
        if inner.hasobject:
            raise TypeError(f"a payload cannot have the field {name!r} of dtype {inner}")
        fields.append(_field(name, inner, offset, group))
    return Layout(dtype.itemsize, flags, tuple(fields))


def _needed(kind: EventKind) -> tuple[EntryKind, ...]:
    if kind is EventKind.MARK:
        return (EntryKind.MARK,)
    if kind in (EventKind.RANGE_PUSH, EventKind.RANGE_START):
        return (EntryKind.RANGE_BEGIN,)
    if kind in (EventKind.RANGE_POP, EventKind.RANGE_END):
        return (EntryKind.RANGE_END,)
    return EntryKind.RANGE_BEGIN, EntryKind.RANGE_END


def check_event(kind: EventKind, dtype: np.dtype[Any]) -> None:
    """Raises TypeError or ValueError where rows of the dtype are no events of that kind."""
    what = "an event schema"
    if dtype.fields is None:
        raise TypeError(f"{what} requires a structured dtype")
    check_native(dtype, what)
    times: dict[EntryKind, int] = dict.fromkeys(_ENTRY_KINDS, 0)
    ids = 0
    for name in dtype.names or ():
        inner = dtype.fields[name][0]
        if inner.hasobject:
            raise TypeError(
                f"{what} requires fields with self-contained, fixed-width storage; "
                f"field {name!r} uses managed storage"
            )
        role, number = kind_of(inner), type_of(inner)
        ids += number is PayloadEntryType.RANGE_ID
        if role not in times:
            continue
        if number is not None:
            raise ValueError(
                f"{what} field {name!r} cannot combine the EntryKind.{role.name} timestamp role "
                f"with PayloadEntryType.{number.name}"
            )
        times[role] += 1
    needed = _needed(kind)
    for role, count in times.items():
        if role in needed and count != 1:
            raise ValueError(
                f"{what} dtype for {kind!s} must contain exactly one EntryKind.{role.name} field"
            )
        if role not in needed and count != 0:
            raise ValueError(f"EntryKind.{role.name} is not valid for {kind!s}")
    wanted = int(kind in (EventKind.RANGE_START, EventKind.RANGE_END))
    if ids != wanted and wanted:
        raise ValueError(
            f"{what} dtype for {kind!s} must contain exactly one PayloadEntryType.RANGE_ID field"
        )
    if ids != wanted:
        raise ValueError(f"PayloadEntryType.RANGE_ID is not valid for {kind!s}")


def roles_of(dtype: np.dtype[Any]) -> Roles:
    """Which field of an event dtype has which role."""
    found: dict[str, str] = {}
    others = False
    for name in dtype.names or ():
        inner = dtype.fields[name][0]  # type: ignore[index]
        role, number = kind_of(inner), type_of(inner)
        if role is EntryKind.MESSAGE:
            place = "registered" if number is PayloadEntryType.REGISTERED_STRING else "message"
        elif role in (EntryKind.RANGE_BEGIN, EntryKind.MARK):
            place = "begin"
        elif role is EntryKind.RANGE_END:
            place = "end"
        elif number is PayloadEntryType.CATEGORY:
            place = "category"
        elif number is PayloadEntryType.COLOR_ARGB:
            place = "color"
        elif number is PayloadEntryType.RANGE_ID:
            place = "range_id"
        else:
            place = ""
        if place and place not in found:
            found[place] = name
        else:
            others = True
    if "begin" not in found and "end" in found:
        found["begin"] = found.pop("end")  # a pop or an end has one time
    return Roles(
        begin=found.get("begin"),
        end=found.get("end"),
        message=found.get("message"),
        registered=found.get("registered"),
        category=found.get("category"),
        color=found.get("color"),
        range_id=found.get("range_id"),
        others=others,
    )


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
    check_native(dtype, "a counter layout")
    stamps = []
    for name in dtype.names or ():
        role = kind_of(dtype.fields[name][0])
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
