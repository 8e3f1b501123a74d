# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads traces in Chrome's JSON format into recordings."""

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

if TYPE_CHECKING:
    from collections.abc import Callable

SUFFIXES = (".json", ".json.gz")
_OTHER_FORMATS = (".pftrace", ".perfetto-trace", ".csv", ".parquet")
_BLOCK = 4 << 20


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

    def notes(self) -> list[str]:
        """What differs from the file, a sentence each."""
        lines = []
        if self.overlapping:
            ranges = "1 range" if self.overlapping == 1 else f"{self.overlapping:,} ranges"
            lines.append(
                f"{ranges} began within another of the thread and ended after it: read as "
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
    """Writes a recording of what a Chrome trace holds.

    Args:
        path: The file; gzip is unpacked while it is read. Only a part of it is in memory.
        output: The recording, which is there when all of it is written and replaces what was there.
        partial: Take what comes before the place at which a file is damaged or cut off.
        memory: About how many bytes of events are held before they go to a file beside `output`.
        progress: Called with the part that is done, 0 to 1.

    Returns:
        How much of what was imported, and what a recording has no place for.

    Raises:
        OSError: A file cannot be read or written; nothing is left of the output.
        ValueError: The file is no such file; the text names the byte and what is wrong.
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
            try:
                while block := data.read(_BLOCK):
                    trace.feed(block)
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
    """The recording made of a trace, which is removed when the process ends, and its source.

    Raises:
        OSError: The trace cannot be read, or nothing can be written.
        ValueError: It is damaged, or no trace.
    """
    made = os.path.join(_folder(), f"{next(_numbers)}.nvspan")
    done = import_file(path, made)
    return made, Source(path, "Chrome trace", None, done.notes())


def _open_bytes(path: str) -> tuple[IO[bytes], IO[bytes]]:
    """The file's bytes, unpacked if it is a gzip file, and the file itself, whose place counts."""
    raw = open(path, "rb")  # noqa: SIM115
    if raw.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=raw), raw  # type: ignore[return-value]
    return raw, raw


_numbers = itertools.count()
_made: tuple[int, str] | None = None  # the process and its folder


def _folder() -> str:
    """A temporary folder of this process: a forked one has its own."""
    global _made
    if _made is None or _made[0] != os.getpid() or not os.path.isdir(_made[1]):
        _made = os.getpid(), tempfile.mkdtemp(prefix="nvspan-")
        atexit.register(_remove, *_made)
    return _made[1]


def _remove(pid: int, folder: str) -> None:
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
