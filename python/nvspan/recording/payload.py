# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads of recordings: the numbers of their types, the bits of a scalar, the pieces of an
extended payload."""

from __future__ import annotations

import struct

# By the number that a recording has for the type.
TYPES = ("none", "u64", "i64", "f64", "u32", "i32", "f32", "ext", "unknown")
_FORMATS = (None, "<Q", "<q", "<d", "<I", "<i", "<f")


def is_scalar(kind: int) -> bool:
    """Whether payloads of this type are one number."""
    return 0 < kind < len(_FORMATS)


def scalar(kind: int, bits: int) -> int | float:
    """The number of a payload whose 64 bits are `bits`."""
    form = _FORMATS[kind]
    assert form is not None
    value: int | float = struct.unpack_from(form, bits.to_bytes(8, "little"))[0]
    return value


def pieces(raw: bytes) -> list[tuple[int, int, bytes]]:
    """The pieces of an extended payload: (schema id, size as passed, the bytes kept)."""
    found = []
    at = 0
    while at + 24 <= len(raw):
        schema, given, kept = (
            int.from_bytes(raw[at + 8 * i : at + 8 * i + 8], "little") for i in range(3)
        )
        at += 24
        found.append((schema, given, raw[at : at + kept]))
        at += (kept + 7) // 8 * 8
    return found
