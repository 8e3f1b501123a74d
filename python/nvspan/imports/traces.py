# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of Chrome's format and of Perfetto's."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from nvspan._reader import TraceImport
from nvspan.imports.imported import Imported, open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK = 4 << 20


def import_trace(
    path: str,
    output: str,
    format: str,
    partial: bool,
    memory: int,
    progress: Callable[[float], object] | None,
) -> Imported:
    """`import_file` for a trace."""
    trace = TraceImport(format, os.fsencode(output), memory)
    damage = None
    try:
        data, raw = open_bytes(path)
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
                damage = f"{path}: the gzip file is damaged: {error}"
            except ValueError as error:
                damage = f"{path}: {error}"
        if damage is not None and not partial:
            raise ValueError(damage)
        done = Imported(**trace.finish(True))
        done.damage = damage
        return done
    finally:
        trace.abort()  # which does nothing after finish()
