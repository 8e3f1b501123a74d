# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables: CSV and Parquet files with named columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nvspan._reader import ExternalWriter
from nvspan.imports.imported import Imported, open_bytes
from nvspan.imports.rows import COLUMNS, TableError, TableRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_BATCH = 1 << 16
_ALIASES = {
    "begin": "start", "ts": "start", "start_ns": "start", "timestamp": "time", "time_ns": "time",
    "end_ns": "end", "stop": "end", "dur": "duration", "duration_ns": "duration",
    "message": "name", "label": "name", "process_id": "pid", "thread_id": "tid",
}  # fmt: skip
_UNITS = {"ns": 0, "us": 3, "ms": 6, "s": 9}


def import_table(
    path: str,
    output: str,
    format: str,
    columns: dict[str, str],
    unit: str,
    partial: bool,
    memory: int,
    progress: Callable[[float], object] | None,
) -> Imported:
    """`import_file` for a table."""
    if unit not in _UNITS:
        raise ValueError(f"unit must be one of {', '.join(_UNITS)}, not {unit!r}")
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown:
        raise ValueError(
            f"there is no column {unknown[0]!r} to map; known are {', '.join(COLUMNS)}"
        )
    read = _csv_rows if format == "csv" else _parquet_rows
    done = Imported()
    writer = ExternalWriter(os.fsencode(output), memory)
    try:
        rows: TableRows | None = None
        try:
            for names, batch in read(path, progress):
                if rows is None:
                    rows = TableRows(writer, _places(names, columns), _UNITS[unit], done)
                rows.add(batch)
        except TableError as error:
            done.damage = f"{path}: {error}"
            if not partial:
                raise ValueError(done.damage) from None
        if rows is not None:
            rows.finish()
        writer.close()
        done.overlapping = writer.overlapping
        return done
    finally:
        writer.abort()


def _places(names: Sequence[str], columns: dict[str, str]) -> dict[str, int]:
    """Which of the file's columns is which."""
    places: dict[str, int] = {}
    for wanted, given in columns.items():
        if given not in names:
            raise TableError(f"there is no column {given!r}; there are {', '.join(names)}")
        places[wanted] = names.index(given)
    taken = set(places.values())
    for place, name in enumerate(names):
        known = name.strip().lower()
        known = _ALIASES.get(known, known)
        if known in COLUMNS and known not in places and place not in taken:
            places[known] = place
    if "time" in places and "start" not in places and {"end", "duration"} & set(places):
        places["start"] = places.pop("time")
    if "start" in places and not {"end", "duration"} & set(places) and "time" not in places:
        places["time"] = places.pop("start")
    if not {"start", "time"} & set(places):
        raise TableError(
            "there is no column of times: ranges need start and end (or duration), marks and "
            f"samples need time; there are {', '.join(names)}"
        )
    return places


def _csv_rows(
    path: str, progress: Callable[[float], object] | None
) -> Iterator[tuple[Sequence[str], list[Sequence[Any]]]]:
    import csv
    import io

    data, raw = open_bytes(path)
    with raw, data:
        size = max(os.fstat(raw.fileno()).st_size, 1)
        text = io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")
        lines = csv.reader(text)
        try:
            names = next(lines, None)
            if not names:
                raise TableError("the file is empty")
            batch: list[Sequence[Any]] = []
            for row in lines:
                if len(row) != len(names):
                    if not row:
                        continue
                    raise TableError(
                        f"line {lines.line_num}: {len(row)} fields, where the heading has "
                        f"{len(names)}"
                    )
                batch.append(row)
                if len(batch) == _BATCH:
                    yield names, batch
                    batch = []
                    if progress is not None:
                        progress(raw.tell() / size)
            yield names, batch
        except csv.Error as error:
            raise TableError(f"line {lines.line_num}: {error}") from None
        except EOFError as error:
            raise TableError(f"the gzip file is cut off: {error}") from None


def _parquet_rows(
    path: str, progress: Callable[[float], object] | None
) -> Iterator[tuple[Sequence[str], list[Sequence[Any]]]]:
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            whole, done = max(file.metadata.num_rows, 1), 0
            if file.metadata.num_rows == 0:
                yield names, []
            for batch in file.iter_batches(_BATCH):
                columns = [column.to_pylist() for column in batch.columns]
                yield names, list(zip(*columns, strict=True))
                done += len(batch)
                if progress is not None:
                    progress(done / whole)
    except pyarrow.ArrowException as error:
        raise TableError(f"it is no whole Parquet file: {error}") from None
