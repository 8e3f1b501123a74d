# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a recording as CSV and as Parquet files."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from typing import Any

from nvspan.recording import Recording, Table

KINDS = ("push_pop", "start_end", "device")
END_REASONS = ("closed", "process_end", "thread_exit", "killed", "lost")
PAYLOADS = ("none", "u64", "i64", "f64", "u32", "i32", "f32", "extended")
_TABLES = ("ranges", "marks", "counters")
_BATCH = 50_000
_ROW_GROUP = 128 * 1024
_SORTED_BY = {"ranges": ("process", "thread", "start"), "marks": ("process", "thread", "time"),
              "counters": ("process", "thread", "time")}  # fmt: skip


def files(recording: Recording, path: str | os.PathLike[str]) -> dict[str, str]:
    """Which table goes where: the ranges into `path`, the others beside it where there are any."""
    stem, suffix = os.path.splitext(os.fspath(path))
    made = {"ranges": os.fspath(path)}
    for name in _TABLES[1:]:
        if len(getattr(recording, name)):
            made[name] = f"{stem}.{name}{suffix}"
    return made


def write_csv(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> list[str]:
    """Writes the tables as CSV with a heading; times are ns. Returns the files.

    Raises:
        OSError: one cannot be written.
    """
    made = files(recording, path)
    whole = max(sum(len(getattr(recording, name)) for name in made), 1)
    done = 0
    for name, file_name in made.items():
        table: Table = getattr(recording, name)
        columns = [_values(table, column) for column in table.names]
        with open(file_name, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*table.names, "pid", "tid"])
            pids, tids = recording.threads["pid"], recording.threads["tid"]
            threads = table["thread"]
            for begin in range(0, len(table), _BATCH):
                rows = slice(begin, begin + _BATCH)
                writer.writerows(
                    (*values, pids[thread], tids[thread])
                    for thread, *values in zip(
                        threads[rows], *(column(rows) for column in columns), strict=True
                    )
                )
                done += len(threads[rows])
                if progress is not None:
                    progress(done / whole)
    return list(made.values())


def _values(table: Table, name: str) -> Callable[[slice], list[Any]]:
    """What gives a slice of a column as it is written: text decoded, nothing for no value."""
    column = table._reader.column(table._name, name)
    data = memoryview(column)
    names = {"kind": KINDS, "end_reason": END_REASONS, "payload_type": PAYLOADS}.get(name)
    if name == "kind" and table._name != "ranges":
        names = ("integer", "real", "none")
    if column.is_text:
        strings = table._recording.strings
        return lambda rows: ["" if i < 0 else strings[i] for i in data[rows]]
    if names is not None:
        return lambda rows: [names[min(i, len(names) - 1)] for i in data[rows]]
    if column.null_count == 0:
        return lambda rows: data[rows].tolist()
    return lambda rows: [
        "" if column.is_null(rows.start + i) else value for i, value in enumerate(data[rows])
    ]


def write_parquet(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> list[str]:
    """Writes the tables as Parquet files, in the order of process, thread and time.

    Each row group of 128 Ki rows then holds a stretch of one thread's time, which a reader that
    asks for times finds by its statistics. Needs pyarrow.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    import pyarrow
    import pyarrow.parquet as parquet

    made = files(recording, path)
    for at, (name, file_name) in enumerate(made.items()):
        table = pyarrow.table(getattr(recording, name))
        threads = pyarrow.table(recording.threads)
        for column in ("pid", "tid"):
            values = threads.column(column).take(table.column("thread"))
            table = table.append_column(column, values)
        ranks = pyarrow.array([p["rank"] for p in recording.processes], type=pyarrow.int32())
        table = table.append_column("rank", ranks.take(table.column("process").combine_chunks()))
        keys = _SORTED_BY[name]
        if name != "ranges":
            table = table.sort_by([(key, "ascending") for key in keys])
        text = [field.name for field in table.schema if pyarrow.types.is_dictionary(field.type)]
        deltas = {"start", "end", "duration", "self", "time", "parent"} & set(table.column_names)
        sorting = parquet.SortingColumn.from_ordering(
            table.schema, [(key, "ascending") for key in keys]
        )
        with parquet.ParquetWriter(
            file_name, table.schema, compression="zstd", use_dictionary=text, version="2.6",
            column_encoding=dict.fromkeys(sorted(deltas), "DELTA_BINARY_PACKED"),
            sorting_columns=sorting,
        ) as writer:  # fmt: skip
            for begin in range(0, len(table), _ROW_GROUP):
                writer.write_table(table.slice(begin, _ROW_GROUP), row_group_size=_ROW_GROUP)
                if progress is not None:
                    progress((at + min((begin + _ROW_GROUP) / len(table), 1)) / len(made))
            if len(table) == 0:
                writer.write_table(table)
    return list(made.values())
