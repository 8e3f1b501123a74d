# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Import of traces in Chrome's JSON format."""

from __future__ import annotations

import atexit
import gzip
import itertools
import os
import shutil
import tempfile
import zlib
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from nvspan._reader import TraceImport
from nvspan.recording import Source
from nvspan.recording.regular_file import open_regular
from nvspan.recording.time_text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHER_FORMATS = (".pftrace", ".perfetto-trace", ".csv", ".parquet")
_BLOCK = 4 << 20
#: Traces unpack to some 10 to 40 times their size, and files that are made to fill memory to 1,000.
_MOST_UNPACKED = 200
_ALWAYS_UNPACKED = 100_000_000  # bytes


@dataclass
class Imported:
    """Counts of an import.

    Attributes:
        ranges, device_ranges, marks, samples: How many were imported.
        overlapping: Ranges that overlapped another of their thread and are start/end ranges now.
        left_out: The number of each kind of event that a recording has no place for.
        damage: What ended an import with ``partial`` early, or None.
    """

    ranges: int = 0
    device_ranges: int = 0
    marks: int = 0
    samples: int = 0
    overlapping: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    damage: str | None = None

    def notes(self) -> list[str]:
        """Sentences on what differs from the file."""
        lines = []
        if self.overlapping:
            ranges = counted(self.overlapping, "range")
            lines.append(
                f"{ranges} started within another of the thread and ended after it: read as "
                "start/end ranges"
            )
        if self.left_out:
            left = ", ".join(f"{count:,} {what}" for what, count in sorted(self.left_out.items()))
            lines.append(f"left out, as a recording has no place for it: {left}")
        return lines


def import_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    partial: bool = False,
    memory: int = 256_000_000,
    progress: Callable[[float], object] | None = None,
) -> Imported:
    """Converts a Chrome trace to a recording.

    Args:
        path: The file; gzip is unpacked while it is read. Only a part of it is in memory.
        output: The recording; it appears when it is complete, and replaces an older file.
        partial: Import what precedes the point at which a file is damaged or cut off.
        memory: About how many bytes of events are held before they go to a file next to `output`.
        progress: Called with the fraction that is done, 0 to 1.

    Returns:
        What was imported and left out.

    Raises:
        OSError: A file cannot be read or written; nothing is left of the output.
        ValueError: The file is not a valid trace; the text names the byte and what is wrong.
    """
    source = os.fspath(path)
    if source.removesuffix(".gz").endswith(_OTHER_FORMATS):
        raise ValueError(
            f"{source}: only Chrome's JSON can be imported; nvspan.writer makes a recording of "
            "tables and other formats, see docs/external.md"
        )
    trace = TraceImport(os.fsencode(output), memory)
    damage = None
    try:
        data, raw = _open_bytes(source)
        with raw, data:
            size = max(os.fstat(raw.fileno()).st_size, 1)
            left = max(_ALWAYS_UNPACKED, _MOST_UNPACKED * size)
            try:
                while block := data.read(_BLOCK):
                    trace.feed(block)
                    left -= len(block)
                    if left < 0:
                        raise ValueError(f"it unpacks to more than {_MOST_UNPACKED} times its size")
                    if progress is not None:
                        progress(raw.tell() / size)
                if not partial:
                    return Imported(**trace.finish(False))
            except (EOFError, zlib.error) as error:
                damage = f"{source}: the gzip file is damaged: {error}"
            except ValueError as error:
                damage = f"{source}: {error}"
        if damage is not None and not partial:
            raise ValueError(damage)
        done = Imported(**trace.finish(True))
        done.damage = damage
        return done
    finally:
        trace.abort()  # which does nothing after finish()


def recording_of(path: str) -> tuple[str, Source]:
    """A temporary recording of a trace, removed when the process ends, and its source.

    Raises:
        OSError: The trace cannot be read, or nothing can be written.
        ValueError: The file is damaged, or not a trace.
    """
    recording = os.path.join(_folder(), f"{next(_numbers)}.nvspan")
    done = import_file(path, recording)
    return recording, Source(path, "Chrome trace", None, done.notes())


def _open_bytes(path: str) -> tuple[IO[bytes], IO[bytes]]:
    """The file's bytes, unpacked if it is a gzip file, and the file itself, for its position."""
    raw = open_regular(path)
    if raw.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=raw), raw  # type: ignore[return-value]
    return raw, raw


_numbers = itertools.count()
_temporary: tuple[int, str] | None = None  # the process and its folder


def _folder() -> str:
    """A temporary folder of this process: a forked one has its own."""
    global _temporary
    if _temporary is None or _temporary[0] != os.getpid() or not os.path.isdir(_temporary[1]):
        _temporary = os.getpid(), tempfile.mkdtemp(prefix="nvspan-")
        atexit.register(_remove, *_temporary)
    return _temporary[1]


def _remove(pid: int, folder: str) -> None:
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
