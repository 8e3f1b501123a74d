# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The structures of NVTX's writer interface (NVTXW), version 2, for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

INTERFACE_VERSION = 2
GET_INTERFACE = "nvtxwGetInterface"
FINALIZE = "nvtxwFinalize"


class SessionAttributes(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("config", c_char_p)]


class DomainAttributes(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p)]


class StreamAttributes(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("domain", c_void_p),
        ("scope", c_uint64),
        ("time_domain", c_uint64),
        ("interleaving", c_int16),
        ("ordering", c_int16),
        ("skid", c_int32),
        ("skid_amount", c_int64),
    ]


class ScopeAttributes(Structure):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("parent", c_uint64), ("id", c_uint64)]


class SemanticsHeader(Structure):
    _fields_ = [("size", c_uint32), ("id", c_uint16), ("version", c_uint16), ("next", c_void_p)]


class CounterSemantics(Structure):
    _fields_ = [
        ("header", SemanticsHeader),
        ("flags", c_uint64),
        ("unit", c_char_p),
        ("scale_numerator", c_uint64),
        ("scale_denominator", c_uint64),
        ("limit_type", c_int64),
        ("min", c_uint64),
        ("max", c_uint64),
    ]


class SchemaEntry(Structure):
    _fields_ = [
        ("flags", c_uint64),
        ("type", c_uint64),
        ("name", c_char_p),
        ("description", c_char_p),
        ("detail", c_uint64),
        ("offset", c_uint64),
        ("semantics", c_void_p),
        ("reserved", c_void_p),
    ]


class SchemaAttributes(Structure):
    _fields_ = [
        ("fields", c_uint64),
        ("name", c_char_p),
        ("type", c_uint64),
        ("flags", c_uint64),
        ("entries", POINTER(SchemaEntry)),
        ("count", c_size_t),
        ("static_size", c_size_t),
        ("pack", c_size_t),
        ("id", c_uint64),
        ("extension", c_void_p),
    ]


NAME, TYPE, FLAGS, ENTRIES, COUNT, STATIC_SIZE = (1 << bit for bit in range(1, 7))


class CounterAttributes(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("schema", c_uint64),
        ("name", c_char_p),
        ("description", c_char_p),
        ("scope", c_uint64),
        ("semantics", c_void_p),
        ("id", c_uint64),
    ]


class PayloadData(Structure):
    _fields_ = [("schema", c_uint64), ("size", c_size_t), ("data", c_void_p)]


class EventBatch(Structure):
    _fields_ = [
        ("schema", c_uint64),
        ("size", c_size_t),
        ("events", c_void_p),
        ("scope", c_uint64),
        ("flags", c_uint64),
        ("flex_data", c_void_p),
        ("flex_size", c_size_t),
        ("flex_offset", c_size_t),
    ]


class CounterBatch(Structure):
    _fields_ = [
        ("counter", c_uint64),
        ("samples", c_void_p),
        ("size", c_size_t),
        ("flags", c_uint64),
        ("timestamps", c_void_p),
        ("timestamps_size", c_size_t),
    ]


def _call(*arguments: type) -> type:
    return ctypes.CFUNCTYPE(c_int32, *arguments)


class Interface(Structure):
    _fields_ = [
        ("SessionBegin", _call(POINTER(SessionAttributes), POINTER(c_void_p))),
        ("SessionEnd", _call(c_void_p)),
        ("DomainRegister", _call(c_void_p, POINTER(DomainAttributes), POINTER(c_void_p))),
        ("CategoryRegister", _call(c_void_p, c_uint32, c_char_p)),
        ("StringRegister", _call(c_void_p, c_char_p, POINTER(c_void_p))),
        ("ResourceRegister", _call(c_void_p, c_void_p)),
        ("ScopeRegister", _call(c_void_p, POINTER(ScopeAttributes), POINTER(c_uint64))),
        ("SchemaRegister", _call(c_void_p, POINTER(SchemaAttributes), POINTER(c_uint64))),
        ("EnumRegister", _call(c_void_p, c_void_p, POINTER(c_uint64))),
        ("CounterRegister", _call(c_void_p, POINTER(CounterAttributes), POINTER(c_uint64))),
        ("TimeDomainRegister", _call(c_void_p, c_void_p, POINTER(c_uint64))),
        ("StreamOpen", _call(c_void_p, POINTER(StreamAttributes), POINTER(c_void_p))),
        ("StreamClose", _call(c_void_p)),
        ("EventWrite", _call(c_void_p, POINTER(PayloadData), c_size_t)),
        ("EventBatchWrite", _call(c_void_p, POINTER(EventBatch))),
        ("CounterWrite", _call(c_void_p, c_int64, c_uint64, c_void_p, c_size_t)),
        ("CounterNoValueWrite", _call(c_void_p, c_int64, c_uint64, c_uint8)),
        ("CounterBatchWrite", _call(c_void_p, POINTER(CounterBatch))),
        ("TimeSyncPointWrite", _call(c_void_p, c_uint64, c_uint64, c_int64, c_int64)),
        ("TimeSyncPointTableWrite", _call(c_void_p, c_uint64, c_uint64, c_void_p, c_size_t)),
        ("TimestampConversionFactorWrite",
         _call(c_void_p, c_uint64, c_uint64, c_double, c_int64, c_int64)),
        ("reserved", c_void_p * 43),
    ]  # fmt: skip
