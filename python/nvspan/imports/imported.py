# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What an import has done, and which format a file is of."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field
from typing import IO

FORMATS = ("chrome", "perfetto", "csv", "parquet")
_SUFFIXES = {
    ".json": "chrome", ".pftrace": "perfetto", ".perfetto-trace": "perfetto", ".pb": "perfetto",
    ".csv": "csv", ".parquet": "parquet",
}  # fmt: skip


@dataclass
class Imported:
    """How much of what an import took.

    Attributes:
        ranges, device_ranges, marks, samples: So many were taken.
        overlapping: Ranges that overlapped another of their thread and are start/end ranges now.
        left_out: What a recording has no place for: what it is, and how many.
        damage: What made an import with ``partial`` end early; None: nothing.
    """

    ranges: int = 0
    device_ranges: int = 0
    marks: int = 0
    samples: int = 0
    overlapping: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    damage: str | None = None


def open_bytes(path: str) -> tuple[IO[bytes], IO[bytes]]:
    """The file's bytes, unpacked if it is a gzip file, and the file itself, whose place counts."""
    raw = open(path, "rb")  # noqa: SIM115
    if raw.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=raw), raw  # type: ignore[return-value]
    return raw, raw


def format_of(path: str) -> str:
    """By its name, else by its first bytes.

    Raises:
        OSError: It cannot be read.
        ValueError: It is of no known format.
    """
    stem = path[:-3] if path.endswith(".gz") else path
    known = _SUFFIXES.get(os.path.splitext(stem)[1].lower())
    if known is not None:
        return known
    data, raw = open_bytes(path)
    with raw, data:
        head = data.read(64)
    if head[:8] == b"\xffNVSPAR1":
        raise ValueError(f"{path} is a recording: nothing is to be imported")
    if head[:4] == b"PAR1":
        return "parquet"
    if head.lstrip()[:1] in (b"{", b"["):
        return "chrome"
    if head[:1] == b"\n":  # a packet of Perfetto's
        return "perfetto"
    raise ValueError(f"{path}: the format is not known: name it, one of {', '.join(FORMATS)}")
