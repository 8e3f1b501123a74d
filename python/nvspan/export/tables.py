# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a recording as CSV and as Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from nvspan.recording import Recording
from nvspan.recording.payload import TYPES

KINDS = ("push_pop", "start_end", "device")
END_REASONS = ("closed", "process_end", "thread_exit", "killed", "lost")
PAYLOADS = (*TYPES[:-2], "extended")
_TABLES = ("ranges", "marks", "counters")
_WORDS: dict[str, dict[str, Sequence[str]]] = {
    "ranges": {"kind": KINDS, "end_reason": END_REASONS, "payload_type": PAYLOADS},
    "marks": {"payload_type": PAYLOADS},
    "counters": {"kind": ("integer", "real", "none")},
}
_ROW_GROUP = 128 * 1024
_SORTED_BY = {"ranges": ("process", "thread", "start"), "marks": ("process", "thread", "time"),
              "counters": ("process", "thread", "time")}  # fmt: skip


def files(recording: Recording, path: str | os.PathLike[str]) -> dict[str, str]:
    """Which table goes where: the ranges into `path`, the others beside it where there are any."""
    stem, suffix = os.path.splitext(os.fspath(path))
    paths = {"ranges": os.fspath(path)}
    for name in _TABLES[1:]:
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
        recording: what is written, or a part of it.
        path: the file of the ranges; marks and counters go beside it.
        progress: called with the part that is done, 0 to 1.
        escape_formulas: put a "'" before each text, and each heading, that a spreadsheet would take
            for a formula: one that begins with =, +, -, @, a tab or a line break. Numbers are left
            as they are.

    Raises:
        OSError: one cannot be written.
    """
    paths = files(recording, path)
    sizes = {name: len(getattr(recording, name)) for name in paths}
    whole, done = max(sum(sizes.values()), 1), 0

    def count(rows: int) -> None:
        if progress is not None:
            progress((done + rows) / whole)

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

    Each row group of 128 Ki rows then holds a stretch of one thread's time, which a reader that
    asks for times finds by its statistics. Needs pyarrow.

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
    """Writes the tables as ``FOLDER/ranges/rank=RANK/PID.parquet``, and others beside ``ranges``.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    pid = recording.processes[0].pid
    for name in files(recording, "ranges"):
        place = os.path.join(folder, name, f"rank={rank}")
        os.makedirs(place, exist_ok=True)
        _write_table(recording, name, os.path.join(place, f"{pid}.parquet"), None, has_rank=False)


def _write_table(
    recording: Recording,
    name: str,
    file_name: str,
    progress: Callable[[float], object] | None,
    *,
    has_rank: bool = True,
) -> None:
    """One table, with the pid, the tid and the rank of each row."""
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
                progress(min((begin + _ROW_GROUP) / len(table), 1))
        if len(table) == 0:
            writer.write_table(table)
