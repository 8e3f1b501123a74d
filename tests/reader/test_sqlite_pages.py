# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables read from a database's pages are those that SQLite reads."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nvspan import _reader

INTEGERS = [0, 1, -1, 127, -128, 128, 32767, -32768, 2**23 - 1, -(2**23), 2**31 - 1, -(2**31),
            2**47 - 1, -(2**47), 2**63 - 1, -(2**63)]  # fmt: skip
REALS = [0.0, 0.5, -1.0, 1e300, -2.5e-300, 3.0, float("inf")]


def values(rng: random.Random, page: int) -> tuple[object, ...]:
    text = "ä" * rng.choice([0, 1, 5, 40, page // 3, page, 3 * page + 7])
    return (
        rng.choice([None, *INTEGERS]),
        rng.choice([None, *REALS, 7]),
        rng.choice([None, text, "x", 5]),
        rng.choice([None, b"", b"\0\1\2", rng.randbytes(rng.choice([3, page, 5 * page]))]),
        rng.choice([None, *INTEGERS]),
    )


def column_of(table: _reader.ImportTable, name: str) -> list[object]:
    """A column's values, None where a row has none."""
    found = table.column(name)
    if found is None:
        return [None] * len(table)
    valid = table.valid(name) or b"\1" * len(table)
    texts = table.texts(name)
    items = memoryview(found).tolist()
    return [
        None if not has else texts[item] if texts else item
        for item, has in zip(items, valid, strict=True)
    ]


@pytest.mark.parametrize("page", [512, 1024, 4096, 65536])
@pytest.mark.parametrize("vacuum", ["none", "full"])
def test_every_value_and_page_size(page: int, vacuum: str, tmp_path: Path) -> None:
    rng = random.Random(page)
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma page_size = {page}")
        connection.execute(f"pragma auto_vacuum = {vacuum}")
        connection.execute(
            "create table [odd name] (a INTEGER, -- with, a comment (and brackets\n"
            ' "b c" REAL DEFAULT (1), t TEXT, /* , */ d BLOB, e INTEGER, CHECK (1))'
        )
        connection.execute("create table named (id INTEGER NOT NULL PRIMARY KEY, v TEXT)")
        rows = [values(rng, page) for _ in range(400)]
        connection.executemany("insert into [odd name] values (?, ?, ?, ?, ?)", rows)
        connection.execute("delete from [odd name] where rowid % 7 = 0")
        connection.execute("alter table [odd name] add column late INTEGER")
        connection.executemany("insert into named values (?, ?)",
                               [(i * i - 50, f"n{i}") for i in range(300)])  # fmt: skip
        connection.commit()
        expected = connection.execute('select rowid, * from "odd name" order by rowid').fetchall()
        named = connection.execute("select id, v from named order by id").fetchall()
    file = _reader.SqliteFile(str(path).encode())
    assert file.tables() == {
        "odd name": ["a", "b c", "t", "d", "e", "late"], "named": ["id", "v"]
    }  # fmt: skip
    wanted = [("a", "i"), ("b c", "r"), ("t", "t"), ("d", "b"), ("e", "i"), ("late", "i"),
              ("absent", "i")]  # fmt: skip
    table = file.read("odd name", wanted, "row")
    assert len(table) == len(expected)

    def column(name: str) -> list[object]:
        return column_of(table, name)

    assert column("row") == [row[0] for row in expected]
    assert column("a") == [row[1] for row in expected]
    assert column("b c") == [row[2] for row in expected]
    assert column("t") == [row[3] if isinstance(row[3], str) else None for row in expected]
    assert column("d") == [row[4] for row in expected]
    assert column("e") == [row[5] for row in expected]
    assert column("late") == column("absent") == [None] * len(expected)
    table = file.read("named", [("id", "i"), ("v", "t")])
    assert column("id") == [row[0] for row in named]
    assert column("v") == [row[1] for row in named]


@pytest.mark.parametrize("rows", [1, 7, 100, 399, 400, 5000])
def test_blocks_of_rows_are_the_table(rows: int, tmp_path: Path) -> None:
    rng = random.Random(rows)
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table x (a INTEGER, b REAL, t TEXT, d BLOB, e INTEGER)")
        connection.execute("create table no_rows (a INTEGER)")
        given = [values(rng, 4096) for _ in range(400)]
        connection.executemany("insert into x values (?, ?, ?, ?, ?)", given)
        connection.commit()
    file = _reader.SqliteFile(str(path).encode())
    columns = [("a", "i"), ("b", "r"), ("t", "t"), ("d", "b"), ("absent", "i")]
    whole = file.read("x", columns)
    found: dict[str, list[object]] = {name: [] for name, _ in columns}
    kept = []
    for block in file.blocks("x", columns, rows):
        assert len(block) == min(rows, 400 - len(found["a"]))
        for name, _ in columns:
            found[name] += column_of(block, name)
        # Other tables may be read in the meantime, and what is in use stays as it is.
        assert len(file.read("x", columns)) == 400
        if len(kept) < 3 and (view := block.column("a")) is not None:
            kept.append((memoryview(view), memoryview(view).tolist()))
    assert found == {name: column_of(whole, name) for name, _ in columns}
    assert [view.tolist() for view, _ in kept] == [before for _, before in kept]
    assert list(file.blocks("no_rows", [("a", "i")], rows)) == []
    for _ in file.blocks("x", columns, rows):
        break  # the thread that reads ahead ends with the object


def test_a_cut_within_blocks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table x (a TEXT)")
        connection.executemany("insert into x values (?)", [("x" * 200,)] * 50_000)
        connection.commit()
    file = _reader.SqliteFile(str(path).encode())
    blocks = file.blocks("x", [("a", "t")], 1000)
    assert len(next(blocks)) == 1000
    with path.open("r+b") as data:
        data.truncate(path.stat().st_size // 2)
    with pytest.raises(_reader.SqliteError, match="cut: it has no byte"):
        for _ in blocks:
            pass
    assert list(blocks) == []


def test_rows_of_a_kind_come_together_in_their_order(tmp_path: Path) -> None:
    from array import array

    rng = random.Random(3)
    keys = [rng.choice([1, 2, 5]) for _ in range(1000)]
    given = [rng.random() < 0.5 for _ in keys]
    table = _reader.ImportTable()
    table.add_integers("key", array("q", keys))
    table.add_integers("value", array("q", range(1000)), bytes(given))
    table.add_integers("row", array("i", range(1000)))
    groups = table.group(["key"], ["value", "absent"])
    rows = memoryview(table.column("row") or b"").tolist()
    found = {(key[0], bits): rows[begin:end] for begin, end, key, bits in groups}
    assert found == {
        (key, bits): [i for i in range(1000) if (keys[i], given[i]) == (key, bits)]
        for key in (1, 2, 5)
        for bits in (0, 1)
    }
    view = memoryview(table.column("row") or b"")
    with pytest.raises(ValueError, match="in use"):
        table.group(["key"], [])
    del view
