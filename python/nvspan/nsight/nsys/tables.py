# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of an SQLite database that ``nsys export`` wrote."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from urllib.parse import quote

from nvspan import _reader
from nvspan.recording.regular_file import open_regular

# A name and a kind: "i" integers, "r" real numbers, "t" text, "b" bytes.
Columns = Sequence[tuple[str, str]]
_SQLITE = b"SQLite format 3\0"
_BLOCK = 1 << 17  # rows that are held at once


def is_database(path: str) -> bool:
    """Whether the file is an SQLite database."""
    try:
        with open_regular(path) as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


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
        """The columns of each table."""
        return self._file.tables()

    def read(self, table: str, columns: Columns, row_ids: str = "") -> _reader.ImportTable:
        """These columns; those that the table lacks have no values. `row_ids` numbers the rows."""
        if table not in self._file.tables():
            return _reader.ImportTable()
        return self._file.read(table, list(columns), row_ids)

    def blocks(self, table: str, columns: Columns) -> Iterable[_reader.ImportTable]:
        """The same, some rows at a time. A block is valid until the next one."""
        if table not in self._file.tables():
            return ()
        return self._file.blocks(table, list(columns), _BLOCK)

    def rows(
        self, table: str, integers: Sequence[str] = (), texts: Sequence[str] = ()
    ) -> list[tuple[list[int | None], list[str | None]]]:
        """The rows of a small table, each as its integers and its texts; None: no value."""
        found = self.read(table, [*((n, "i") for n in integers), *((n, "t") for n in texts)])
        numbers = [_optional(found, name) for name in integers]
        words = [texts_of(found, name) for name in texts]
        return [
            ([column[at] for column in numbers], [column[at] for column in words])
            for at in range(len(found))
        ]


def integers_of(table: _reader.ImportTable, name: str) -> list[int]:
    """A column's values, 0 where a row has none."""
    column = table.column(name) if len(table) else None
    return [0] * len(table) if column is None else memoryview(column).tolist()


def texts_of(table: _reader.ImportTable, name: str) -> list[str | None]:
    """A column's texts, None where a row has none."""
    texts = table.texts(name) if len(table) else []
    numbers = _optional(table, name)
    return [None if at is None or not texts else texts[at] for at in numbers]


def _optional(table: _reader.ImportTable, name: str) -> list[int | None]:
    """A column's values, None where a row has none."""
    if not len(table) or name not in table.names():
        return [None] * len(table)
    has = table.valid(name)
    numbers = enumerate(integers_of(table, name))
    return [n if has is None or has[at] else None for at, n in numbers]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(path: str, folder: str) -> str:
    copy = os.path.join(folder, "copy.sqlite")
    try:
        uri = f"file:{quote(os.fsencode(path))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as source:
            source.execute("pragma trusted_schema=off")
            names = source.execute(
                "select name from sqlite_master where type='table' and sql is not null"
                " and name not like 'sqlite%'"
            ).fetchall()
            with closing(sqlite3.connect(copy)) as target:
                target.execute("pragma encoding='UTF-8'")
                target.executescript("pragma journal_mode=off; pragma synchronous=off;")
                for (name,) in names:
                    # Names alone: no statement of the file is run.
                    table = _quoted(name)
                    cursor = source.execute(f"select * from {table}")
                    columns = ", ".join(_quoted(column[0]) for column in cursor.description)
                    target.execute(f"create table {table} ({columns})")
                    places = ",".join("?" * len(cursor.description))
                    target.executemany(f"insert into {table} values ({places})", cursor)
                target.commit()
    except sqlite3.Error as error:
        raise ValueError(f"SQLite cannot read it: {error}") from None
    return copy
