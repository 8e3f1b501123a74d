# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables that ``nsys export`` wrote, of an SQLite database or of a folder of Parquet files."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any, Protocol

from nvspan import _reader

# A name and a kind: "i" integers, "r" real numbers, "t" text, "b" bytes.
Columns = Sequence[tuple[str, str]]
_SQLITE = b"SQLite format 3\0"
_BLOCK = 1 << 17  # rows that are held at once


class Tables(Protocol):
    """What a report holds, table by table."""

    def names(self) -> dict[str, list[str]]:
        """The columns of each table."""

    def read(self, table: str, columns: Columns, row_ids: str = "") -> _reader.ImportTable:
        """These columns; those that the table lacks have no values. `row_ids` numbers the rows."""

    def blocks(self, table: str, columns: Columns) -> Iterable[_reader.ImportTable]:
        """The same, some rows at a time. A block is valid until the next one."""


def is_database(path: str) -> bool:
    """Whether the file is an SQLite database."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def is_parquet_folder(path: str) -> bool:
    """Whether the folder is one of ``nsys export -t parquetdir``."""
    return os.path.isdir(path) and os.path.exists(os.path.join(path, "StringIds.parquet"))


class Database:
    """The tables of an SQLite database, read from its pages.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, or no database.
    """

    def __init__(self, path: str) -> None:
        try:
            self._file = _reader.SqliteFile(os.fsencode(path))
        except _reader.SqliteError:
            # A log beside it, or UTF-16: SQLite itself makes a plain copy.
            with tempfile.TemporaryDirectory(prefix="nvspan-") as folder:
                self._file = _reader.SqliteFile(os.fsencode(_plain(path, folder)))

    def names(self) -> dict[str, list[str]]:
        return self._file.tables()

    def read(self, table: str, columns: Columns, row_ids: str = "") -> _reader.ImportTable:
        if table not in self._file.tables():
            return _reader.ImportTable()
        return self._file.read(table, list(columns), row_ids)

    def blocks(self, table: str, columns: Columns) -> Iterable[_reader.ImportTable]:
        if table not in self._file.tables():
            return ()
        return self._file.blocks(table, list(columns), _BLOCK)


def _plain(path: str, folder: str) -> str:
    copy = os.path.join(folder, "copy.sqlite")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source:
            source.execute("select count(*) from sqlite_master")
            with closing(sqlite3.connect(copy)) as target:
                target.execute("pragma encoding='UTF-8'")
                target.executescript("pragma journal_mode=off; pragma synchronous=off;")
                for name, statement in source.execute(
                    "select name, sql from sqlite_master where type='table' and sql is not null"
                    " and name not like 'sqlite%'"
                ).fetchall():
                    target.execute(statement)
                    cursor = source.execute(f'select * from "{name}"')
                    places = ",".join("?" * len(cursor.description))
                    target.executemany(f'insert into "{name}" values ({places})', cursor)
                target.commit()
    except sqlite3.Error as error:
        raise ValueError(f"cannot read {path!r}: {error}") from None
    return copy


class ParquetFolder:
    """The tables of a folder of Parquet files, read with pyarrow.

    Raises:
        ValueError: pyarrow is not installed.
    """

    def __init__(self, path: str) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise ValueError(
                f"cannot read {path!r}: Parquet files need the package pyarrow"
            ) from None
        self._path = path

    def names(self) -> dict[str, list[str]]:
        import pyarrow.parquet as parquet

        found = {}
        for name in sorted(os.listdir(self._path)):
            stem, dot, suffix = name.rpartition(".")
            if dot and suffix == "parquet":
                found[stem] = parquet.read_schema(os.path.join(self._path, name)).names
        return found

    def read(self, table: str, columns: Columns, row_ids: str = "") -> _reader.ImportTable:
        import pyarrow.parquet as parquet

        path = os.path.join(self._path, f"{table}.parquet")
        if not os.path.exists(path):
            return _reader.ImportTable()
        there = set(parquet.read_schema(path).names)
        arrow = parquet.read_table(path, columns=[name for name, _ in columns if name in there])
        return _of_arrow(arrow, columns, row_ids)

    def blocks(self, table: str, columns: Columns) -> Iterable[_reader.ImportTable]:
        import pyarrow
        import pyarrow.parquet as parquet

        path = os.path.join(self._path, f"{table}.parquet")
        if not os.path.exists(path):
            return
        with parquet.ParquetFile(path) as file:
            there = [name for name, _ in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(_BLOCK, columns=there):
                yield _of_arrow(pyarrow.Table.from_batches([batch]), columns)


def _of_arrow(arrow: Any, columns: Columns, row_ids: str = "") -> _reader.ImportTable:
    result = _reader.ImportTable()
    if row_ids:
        result.add_integers(row_ids, memoryview(_numbers(1, arrow.num_rows)))
    for name, kind in columns:
        if name in arrow.column_names:
            _add(result, name, kind, arrow.column(name))
    return result


def _numbers(first: int, count: int) -> Any:
    from array import array

    return array("q", range(first, first + count))


def _add(table: _reader.ImportTable, name: str, kind: str, column: Any) -> None:
    import pyarrow
    import pyarrow.compute as compute

    def buffer(values: Any, form: str) -> memoryview:
        values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
        if isinstance(values, pyarrow.ChunkedArray):
            values = pyarrow.concat_arrays(values.chunks)
        size = {"q": 8, "d": 8, "B": 1}[form]
        begin = values.offset * size
        data = memoryview(values.buffers()[1] or b"").cast("B")
        return data[begin : begin + len(values) * size].cast(form)  # type: ignore[call-overload,no-any-return]

    if len(column) == 0:
        return
    valid = None
    if column.null_count:
        valid = bytes(buffer(compute.is_valid(column).cast(pyarrow.uint8()), "B"))
    if kind in "ir":
        of = pyarrow.int64() if kind == "i" else pyarrow.float64()
        values = column.cast(of, safe=False)
        if values.null_count:
            values = values.fill_null(0)
        if kind == "i":
            table.add_integers(name, buffer(values, "q"), valid)
        else:
            table.add_reals(name, buffer(values, "d"), valid)
        return
    if kind == "b":
        column = column.cast(pyarrow.large_binary())  # bytes that nsys calls text
    texts = column.combine_chunks()
    if isinstance(texts, pyarrow.ChunkedArray):
        texts = pyarrow.concat_arrays(texts.chunks)
    texts = texts.dictionary_encode()
    numbers = texts.indices.cast(pyarrow.int64())
    if numbers.null_count:
        numbers = numbers.fill_null(0)
    found = [
        value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        for value in texts.dictionary.to_pylist()
    ]
    table.add_integers(name, buffer(numbers, "q"), valid, kind, found or [b""])
