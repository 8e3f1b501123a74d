# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""ctypes bindings of NVTX's writer interface (NVTXW), version 2."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

from nvspan.writer.options import SUCCESS, WriterError

INTERFACE_VERSION = 2
GET_INTERFACE = "nvtxwGetInterface"
FINALIZE = "nvtxwFinalize"


def check(code: int, operation: str) -> None:
    """Raises WriterError unless the code is that of success."""
    if code != SUCCESS:
        raise WriterError(code, operation)


def _structure(name: str, members: str) -> type[Structure]:
    """A structure that is declared as in C: the type of ctypes and the name of each member."""
    declared = [member.split() for member in members.split(",")]
    fields = [(name, getattr(ctypes, f"c_{kind}")) for kind, name in declared]
    return type(name, (Structure,), {"_fields_": fields})


def sized(kind: type[Structure], *members: object) -> Structure:
    """A structure that begins with its own size."""
    return kind(ctypes.sizeof(kind), *members)


SessionAttributes = _structure("SessionAttributes", "size_t size, char_p name, char_p config")
DomainAttributes = _structure("DomainAttributes", "size_t size, char_p name")
StreamAttributes = _structure(
    "StreamAttributes",
    "size_t size, char_p name, void_p domain, uint64 scope, uint64 time_domain, int16 interleaving,"
    "int16 ordering, int32 skid, int64 skid_amount",
)
ScopeAttributes = _structure(
    "ScopeAttributes", "size_t size, char_p path, uint64 parent, uint64 id"
)
CounterAttributes = _structure(
    "CounterAttributes",
    "size_t size, uint64 schema, char_p name, char_p description, uint64 scope, void_p semantics,"
    "uint64 id",
)
CounterSemantics = _structure(
    "CounterSemantics",
    "uint32 size, uint16 id, uint16 version, void_p next, uint64 flags, char_p unit,"
    "uint64 scale_numerator, uint64 scale_denominator, int64 limit_type, uint64 min, uint64 max",
)
SchemaEntry = _structure(
    "SchemaEntry",
    "uint64 flags, uint64 type, char_p name, char_p description, uint64 detail, uint64 offset,"
    "void_p semantics, void_p reserved",
)
SchemaAttributes = _structure(
    "SchemaAttributes",
    "uint64 fields, char_p name, uint64 type, uint64 flags, void_p entries, size_t count,"
    "size_t static_size, size_t pack, uint64 id, void_p extension",
)
NAME, TYPE, FLAGS, ENTRIES, COUNT, STATIC_SIZE = (1 << bit for bit in range(1, 7))
PayloadData = _structure("PayloadData", "uint64 schema, size_t size, void_p data")
EventBatch = _structure(
    "EventBatch",
    "uint64 schema, size_t size, void_p events, uint64 scope, uint64 flags, void_p flex_data,"
    "size_t flex_size, size_t flex_offset",
)
CounterBatch = _structure(
    "CounterBatch",
    "uint64 counter, void_p samples, size_t size, uint64 flags, void_p timestamps,"
    "size_t timestamps_size",
)

_OBJECT, _NUMBER = POINTER(c_void_p), POINTER(c_uint64)
# The functions of a backend's library, in the order of its table; () where none is called.
_FUNCTIONS: dict[str, tuple[type, ...]] = {
    "SessionBegin": (POINTER(SessionAttributes), _OBJECT),
    "SessionEnd": (c_void_p,),
    "DomainRegister": (c_void_p, POINTER(DomainAttributes), _OBJECT),
    "CategoryRegister": (c_void_p, c_uint32, c_char_p),
    "StringRegister": (c_void_p, c_char_p, _OBJECT),
    "ResourceRegister": (),
    "ScopeRegister": (c_void_p, POINTER(ScopeAttributes), _NUMBER),
    "SchemaRegister": (c_void_p, POINTER(SchemaAttributes), _NUMBER),
    "EnumRegister": (),
    "CounterRegister": (c_void_p, POINTER(CounterAttributes), _NUMBER),
    "TimeDomainRegister": (),
    "StreamOpen": (c_void_p, POINTER(StreamAttributes), _OBJECT),
    "StreamClose": (c_void_p,),
    "EventWrite": (c_void_p, POINTER(PayloadData), c_size_t),
    "EventBatchWrite": (c_void_p, POINTER(EventBatch)),
    "CounterWrite": (c_void_p, c_int64, c_uint64, c_void_p, c_size_t),
    "CounterNoValueWrite": (c_void_p, c_int64, c_uint64, c_uint8),
    "CounterBatchWrite": (c_void_p, POINTER(CounterBatch)),
    "TimeSyncPointWrite": (),
    "TimeSyncPointTableWrite": (),
    "TimestampConversionFactorWrite": (),
}


class Interface(Structure):
    """The table of a backend's functions."""

    _fields_ = [
        *((name, ctypes.CFUNCTYPE(c_int32, *types)) for name, types in _FUNCTIONS.items()),
        ("reserved", c_void_p * 43),
    ]

    def call(self, operation: str, *arguments: object) -> None:
        """Calls a function; raises WriterError where it fails."""
        check(getattr(self, operation)(*arguments), operation)

    def register(self, operation: str, *arguments: object) -> int:
        """Calls a function whose last argument takes the handle or number that is returned."""
        result = _FUNCTIONS[operation][-1]._type_()  # type: ignore[attr-defined]
        self.call(operation, *arguments, result)
        handle: int = result.value or 0
        return handle
