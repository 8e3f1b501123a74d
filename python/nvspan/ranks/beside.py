# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries that lie beside their recordings, as ``run.nvspan.summary``."""

from __future__ import annotations

import os
import struct
import zlib

from nvspan import _reader
from nvspan.recording.regular_file import open_regular

SUFFIX = ".summary"
_MAGIC = b"NVSPKEY1"
_KEY = struct.Struct("<8sqqIII")  # magic, size, mtime in ns, CRCs of: header, what is asked, rest
_HEADER_BYTES = 4096


def _key(path: str, asked: str) -> tuple[int, int, int, int]:
    """What a summary is stale without: the file's size, time and header, and what was asked."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        header = file.read(_HEADER_BYTES)
    return status.st_size, status.st_mtime_ns, zlib.crc32(header), zlib.crc32(asked.encode())


def load(path: str, asked: str) -> _reader.RankSummary | None:
    """The summary beside the recording; None where there is none, or it is stale or damaged."""
    try:
        with open_regular(path + SUFFIX) as file:
            whole = file.read()
        magic, *key, checksum = _KEY.unpack_from(whole)
        rest = whole[_KEY.size :]
        if magic != _MAGIC or tuple(key) != _key(path, asked) or checksum != zlib.crc32(rest):
            return None
        return _reader.RankSummary.read(rest)
    except (OSError, struct.error, ValueError):
        return None


def remove(path: str) -> None:
    """Removes the summary beside a recording that is removed; without one nothing happens.

    Raises:
        OSError: it cannot be removed.
    """
    try:
        with open_regular(path + SUFFIX) as file:
            is_ours = file.read(len(_MAGIC)) == _MAGIC
        if is_ours:
            os.unlink(path + SUFFIX)
    except FileNotFoundError:
        return


def store(path: str, asked: str, summary: _reader.RankSummary) -> None:
    """Writes the summary beside the recording, whole or not at all.

    Raises:
        OSError: the folder cannot be written to.
    """
    rest = summary.bytes()
    head = _KEY.pack(_MAGIC, *_key(path, asked), zlib.crc32(rest))
    name = f"{path}{SUFFIX}.{os.getpid()}"
    try:
        with open(name, "wb") as file:
            file.write(head + rest)
        os.replace(name, path + SUFFIX)
    except OSError:
        if os.path.exists(name):
            os.unlink(name)
        raise
