# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Layouts of numpy dtypes, event batches and columns of counter samples, for the extension module.

It calls these functions once for each dtype or batch. None of them imports numpy.
"""

from __future__ import annotations

import sys
from array import array
from math import prod
from operator import index
from struct import pack, unpack
from typing import NamedTuple

from nvspan._runtime.enums import EventKind
from nvspan.payloads import METADATA_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from nvspan._core import Domain
    from nvspan._runtime.semantics import CounterSemantics

    DType = np.dtype[Any]
    Array = np.ndarray[Any, Any]

    # As annotate::CounterMeaning: flags, unit, scale numerator and denominator, type of the
    # limits, bits of the lower and upper limit.
    Meaning = tuple[int, bytes | None, int, int, int, int, int]

# Numbers of NVTX's payload extension, as in src/nvtx/numbers.hpp.
_INTEGERS = {"i1": 11, "u1": 12, "i2": 13, "u2": 14, "i4": 15, "u4": 16, "i8": 17, "u8": 18}
_FLOATS = {"f2": 42, "f4": 43, "f8": 44, "f12": 21, "f16": 21}
_NUMBERS = {"b1": 12, **_INTEGERS, **_FLOATS}
_UTF32, _BYTE = 78, 32
_FIXED_ARRAY = 1 << 4
_TIMESTAMP = 2 << 10
_COUNTER = 4 << 12
_COUNTER_GROUP = 1 << 3
_HAS_MIN, _HAS_MAX = 1 << 2, 1 << 3
_FLOAT_LIMITS = 3

_BEGIN, _END, _MARK = 1, 2, 3
_TIMES_OF_KIND = {
    EventKind.RANGE_PUSHPOP.value: {_BEGIN, _END},
    EventKind.RANGE_STARTEND.value: {_BEGIN, _END},
    EventKind.MARK.value: {_MARK},
    EventKind.RANGE_PUSH.value: {_BEGIN},
    EventKind.RANGE_POP.value: {_END},
    EventKind.RANGE_START.value: {_BEGIN},
    EventKind.RANGE_END.value: {_END},
}


class Entry(NamedTuple):
    """One entry of a layout: ``annotate::SchemaEntry``."""

    name: str | None
    type: int
    nested: Layout | None
    flags: int
    detail: int
    offset: int
    meaning: Meaning | None
    time_domain: int


class Layout(NamedTuple):
    """The layout of an element: ``annotate::SchemaDescription``."""

    flags: int
    size: int
    entries: tuple[Entry, ...]


def _value(choice: Any) -> int:
    number: int = 0 if choice is None else choice.value
    return number


def _limit_bits(limit: float | None, limit_type: int) -> int:
    if limit is None:
        return 0
    bits: int = unpack("=Q", pack("=d", limit))[0] if limit_type == _FLOAT_LIMITS else int(limit)
    return bits & 2**64 - 1


def counter_meaning(semantics: CounterSemantics) -> Meaning:
    """The semantics as numbers of NVTX's counter extension."""
    flags = _value(semantics.value_type) | _value(semantics.interpolation)
    flags |= (semantics.min is not None) * _HAS_MIN | (semantics.max is not None) * _HAS_MAX
    return (
        flags,
        semantics.unit if isinstance(semantics.unit, bytes) else None,
        semantics.unit_scale_numerator,
        semantics.unit_scale_denominator,
        semantics._limit_type,
        _limit_bits(semantics.min, semantics._limit_type),
        _limit_bits(semantics.max, semantics._limit_type),
    )


def _roles(dtype: DType) -> tuple[int, int, Meaning | None]:
    """The entry kind, entry type and semantics that :func:`numpy_dtype` stored."""
    metadata: Any = dtype.metadata or {}
    found = metadata.get(METADATA_KEY)
    if found is None:
        return 0, 0, None
    semantics = found.counter_semantics
    meaning = None if semantics is None else counter_meaning(semantics)
    return _value(found.entry_kind), _value(found.entry_type), meaning


def _predefined(dtype: DType) -> tuple[int, int, int]:
    """Type, flags and length of a number or string; type 0 for another dtype."""
    if dtype.kind == "U":
        return _UTF32, 0, dtype.itemsize // 4
    if dtype.kind == "S":
        return _BYTE, _FIXED_ARRAY, dtype.itemsize
    return _NUMBERS.get(f"{dtype.kind}{dtype.itemsize}", 0), 0, 0


def dtype_layout(dtype: DType) -> Layout:
    """The layout of an element, with a nested one for each field; TypeError if it has none."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        nested = dtype_layout(element)
        entries = [Entry(None, 0, nested, _FIXED_ARRAY, prod(shape), 0, None, 0)]
    elif dtype.fields is not None:
        entries = []
        for name in dtype.names or ():
            field, offset = dtype.fields[name][:2]  # a title may follow
            kind, _, meaning = _roles(field)
            entries.append(Entry(name, 0, dtype_layout(field), kind, 0, offset, meaning, 0))
    else:
        type, flags, length = _predefined(dtype)
        kind, role, meaning = _roles(dtype)
        if not (role or type):
            raise TypeError(f"dtype {dtype} has no binary form")
        entries = [Entry(dtype.name, role or type, None, flags | kind, length, 0, meaning, 0)]
    return Layout(0, dtype.itemsize, tuple(entries))


def fields_layout(dtype: DType, flags: int, time_domain: int = 0) -> Layout:
    """The layout of a row of events or a sample of a counter group, whose fields are not nested.

    ``flags`` are the schema's, ``time_domain`` that of its timestamps.
    """
    if dtype.fields is None:
        raise TypeError(f"dtype {dtype} has no fields")
    entries = []
    for name in dtype.names or ():
        field, offset = dtype.fields[name][:2]  # a title may follow
        type, bits, length = _predefined(field.base)
        if field.subdtype is not None:
            # An array of strings is one long string, as in the nvtx package.
            one_string = {_UTF32: field.itemsize // 4, _BYTE: field.itemsize}
            bits, length = _FIXED_ARRAY, one_string.get(type, prod(field.shape))
        kind, role, meaning = _roles(field)
        type, bits = role or type, bits | kind
        nested = None if type else dtype_layout(field)
        is_time = bits & _TIMESTAMP
        if flags == _COUNTER_GROUP and not is_time:
            bits |= _COUNTER
        clock = time_domain if is_time else 0
        entries.append(Entry(name, type, nested, bits, length, offset, meaning, clock))
    return Layout(flags, dtype.itemsize, tuple(entries))


def _number_of_choice(choice: Any, argument: str) -> int:
    number = choice if isinstance(choice, int) else getattr(choice, "value", None)
    if isinstance(number, int) and 0 <= number < 2**64:
        return number
    raise TypeError(f"{argument} must be a member of its enum, not {choice!r}")


def _kind_flags(kind: object, dtype: DType, times: set[int]) -> int:
    """The schema flags of the kind that is given, or that the times in a row imply."""
    if kind is None:
        for implied in EventKind.RANGE_PUSHPOP, EventKind.MARK:
            if times == _TIMES_OF_KIND[implied.value]:
                return int(implied.value)
        raise ValueError(
            f"rows of dtype {dtype} need a field with entry_kind MARK, or RANGE_BEGIN and "
            "RANGE_END (see numpy_dtype), or a kind"
        )
    flags = _number_of_choice(kind, "kind")
    if flags not in _TIMES_OF_KIND:
        raise TypeError(f"kind must be an EventKind or None, not {kind!r}")
    if not times >= _TIMES_OF_KIND[flags]:
        raise ValueError(f"rows of dtype {dtype} lack the times that {kind!s} needs")
    return flags


def event_batch(
    domain: Domain, rows: Array, kind: object, ordering: object, scope: object, time_domain: object
) -> tuple[Layout, Array, int, int]:
    """What ``Domain.event_batch`` sends: layout, contiguous rows, scope and ordering."""
    numpy: Any = sys.modules.get("numpy")
    if not isinstance(rows, getattr(numpy, "ndarray", ())):
        raise TypeError(f"rows must be a numpy array with fields, not {rows!r}")
    order = _number_of_choice(ordering, "ordering")
    clock = _number_of_choice(time_domain, "time_domain")
    path = scope if isinstance(scope, (str, bytes)) else None
    scope_id = 0 if scope is None or path is not None else _number_of_choice(scope, "scope")
    dtype = rows.dtype if rows.dtype.isnative else rows.dtype.newbyteorder("=")
    layout = fields_layout(dtype, 0, clock)
    times = {entry.flags >> 12 & 7 for entry in layout.entries} & {_BEGIN, _END, _MARK}
    layout = layout._replace(flags=_kind_flags(kind, dtype, times))
    if path is not None:
        scope_id = domain.get_scope_id(path)
    return layout, numpy.ascontiguousarray(rows, dtype), scope_id, order


def _integer(value: Any) -> int:
    """The integer part of a number; TypeError for text."""
    kind = type(value)
    truncates = hasattr(kind, "__int__") and not hasattr(kind, "__index__")
    return int(value) if truncates else index(value)


def number_column(values: Any, code: str) -> memoryview | array[Any]:
    """Contiguous 64-bit ints ("q") or floats ("d"): the caller's own memory where it is that."""
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        pass
    else:
        formats = ["l", "q", "n"] if code == "q" else ["d"]
        if view.c_contiguous and view.itemsize == 8 and view.format.lstrip("@=") in formats:
            return view
    items = tuple(values)
    return array(code, items if code == "d" else [_integer(each) for each in items])
