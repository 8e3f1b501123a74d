# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Export of a recording's tables to CSV and Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from nvspan.recording import Recording
from nvspan.recording.payload import TYPES

KINDS = ("push_pop", "start_end", "device")
END_REASONS = ("closed", "process_end", "thread_exit", "killed", "lost")
PAYLOADS = (*TYPES[:-2], "extended")
_WORDS: dict[str, dict[str, Sequence[str]]] = {
    "ranges": {"kind": KINDS, "end_reason": END_REASONS, "payload_type": PAYLOADS},
    "marks": {"payload_type": PAYLOADS},
    "counters": {"kind": ("integer", "real", "none")},
}
_ROW_GROUP = 128 * 1024


def files(recording: Recording, path: str | os.PathLike[str]) -> dict[str, str]:
    """The file of each table: `path` for the ranges, others next to it for tables with rows."""
    stem, suffix = os.path.splitext(os.fspath(path))
    paths = {"ranges": os.fspath(path)}
    for name in ("marks", "counters"):
        if len(getattr(recording, name)):
            paths[name] = f"{stem}.{name}{suffix}"
    return paths


def write_csv(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
    *,
    escape_formulas: bool = False,
) -> list[str]:
    """Writes the tables as CSV with a heading; times are ns. Returns the files.

    Args:
        recording: a recording, or a part of it.
        path: the file of the ranges; marks and counters go next to it.
        progress: called with the fraction that is done, 0 to 1.
        escape_formulas: put a "'" before each text and heading that a spreadsheet would take for a
            formula: one that begins with =, +, -, @, a tab or a line break. Numbers do not change.

    Raises:
        OSError: a file cannot be written.
    """
    paths = files(recording, path)
    sizes = {name: len(getattr(recording, name)) for name in paths}
    total, done = max(sum(sizes.values()), 1), 0

    def count(rows: int) -> None:
        if progress is not None:
            progress((done + rows) / total)

    for name, file_name in paths.items():
        recording._reader.write_csv(
            name, os.fsencode(file_name), _WORDS[name], count, escape_formulas
        )
        done += sizes[name]
    return list(paths.values())


def write_parquet(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> list[str]:
    """Writes the tables as Parquet files, in the order of process, thread and time.

    Each row group of 128 Ki rows is a stretch of one thread's time, so that a reader which filters
    by time skips the others. Needs pyarrow.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    paths = files(recording, path)
    for at, (name, file_name) in enumerate(paths.items()):

        def count(part: float, at: int = at) -> None:
            if progress is not None:
                progress((at + part) / len(paths))

        _write_table(recording, name, file_name, count)
    return list(paths.values())


def write_partition(recording: Recording, folder: str | os.PathLike[str], rank: str) -> None:
    """Writes ``FOLDER/ranges/rank=RANK/PID.parquet``, and the other tables next to ``ranges``.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    pid = recording.processes[0].pid
    for name in files(recording, "ranges"):
        partition = os.path.join(folder, name, f"rank={rank}")
        os.makedirs(partition, exist_ok=True)
        file_name = os.path.join(partition, f"{pid}.parquet")
        _write_table(recording, name, file_name, None, has_rank=False)


def _write_table(
    recording: Recording,
    name: str,
    file_name: str,
    progress: Callable[[float], object] | None,
    *,
    has_rank: bool = True,
) -> None:
    """Writes one table, with the pid, the tid and the rank of each row."""
    import pyarrow
    import pyarrow.parquet as parquet

    table = pyarrow.table(getattr(recording, name))
    threads = pyarrow.table(recording.threads)
    for column in ("pid", "tid"):
        values = threads.column(column).take(table.column("thread"))
        table = table.append_column(column, values)
    if has_rank:
        ranks = pyarrow.array([p.rank for p in recording.processes], type=pyarrow.int32())
        table = table.append_column("rank", ranks.take(table.column("process").combine_chunks()))
    order = [(key, "ascending") for key in ("process", "thread", "time")]
    if name == "ranges":  # sorted already
        order[2] = ("start", "ascending")
    else:
        table = table.sort_by(order)
    text = [field.name for field in table.schema if pyarrow.types.is_dictionary(field.type)]
    deltas = {"start", "end", "duration", "self", "time", "parent"} & set(table.column_names)
    with parquet.ParquetWriter(
        file_name,
        table.schema,
        compression="zstd",
        use_dictionary=text,
        version="2.6",
        column_encoding=dict.fromkeys(sorted(deltas), "DELTA_BINARY_PACKED"),
        sorting_columns=parquet.SortingColumn.from_ordering(table.schema, order),
    ) as writer:
        for begin in range(0, len(table), _ROW_GROUP):
            writer.write_table(table.slice(begin, _ROW_GROUP), row_group_size=_ROW_GROUP)
            if progress is not None:
                progress(min((begin + _ROW_GROUP) / len(table), 1))
        if len(table) == 0:
            writer.write_table(table)
