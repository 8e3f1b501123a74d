# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Traces and tables of other programs as recordings: what ``nvspan import`` does.

>>> from nvspan.imports import import_file
>>> import_file("trace.json", "trace.nvspan").ranges                         # doctest: +SKIP
1200000
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nvspan.imports.imported import FORMATS, Imported, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FORMATS", "Imported", "import_file"]


def import_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str = "ns",
    partial: bool = False,
    memory: int = 256_000_000,
    progress: Callable[[float], object] | None = None,
) -> Imported:
    """Write a recording of what another program's file holds.

    Args:
        path: The file; ``.gz`` is unpacked while it is read. Only a part of it is in memory.
        output: The recording, which is there when all of it is written and replaces what was there.
        format: "chrome" (torch.profiler, JAX), "perfetto", "csv" or "parquet"; None: by its name
            and its first bytes.
        columns: Of tables: which column of the file is which, as ``{"start": "ts"}``.
        unit: Of the times in tables: "ns", "us", "ms" or "s".
        partial: Take what comes before the place at which a file is damaged or cut off.
        memory: About how many bytes of events are held before they go to a file beside `output`.
        progress: Called with the part that is done, 0 to 1.

    Returns:
        How much of what was imported, and what a recording has no place for.

    Raises:
        ModuleNotFoundError: Parquet needs pyarrow.
        OSError: A file cannot be read or written; nothing is left of the output.
        ValueError: The file is no such file; the text names the byte or row and what is wrong.
    """
    kind = format_of(os.fspath(path)) if format is None else format
    if kind not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {kind!r}")
    arguments = (os.fspath(path), os.fspath(output))
    if kind in ("chrome", "perfetto"):
        from nvspan.imports.traces import import_trace

        return import_trace(*arguments, kind, partial, memory, progress)
    from nvspan.imports.tables import import_table

    return import_table(*arguments, kind, dict(columns or {}), unit, partial, memory, progress)
