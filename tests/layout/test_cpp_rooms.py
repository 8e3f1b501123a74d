# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The rooms of src/ and the arrows between them: rooms.toml says them, the includes prove them."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path

import pytest

from helpers.tree import ROOT, circle, cpp_files, includes, relative

tomllib = pytest.importorskip("tomllib", reason="the table is read by CPython 3.11 and newer")

MOST_FILES = 13
# A room of the first family never uses one of the second, whatever the table says.
NEVER = [
    ("annotate", "trace"), ("annotate", "record"), ("annotate", "reader"), ("annotate", "inject"),
    ("cuda", "trace"), ("cuda", "record"), ("cuda", "reader"), ("cuda", "inject"),
    ("trace", "annotate"), ("record", "annotate"), ("reader", "annotate"), ("inject", "annotate"),
    ("reader", "record/writer"), ("reader", "record/thread"), ("reader", "record/definitions"),
    ("reader", "record/chunks"), ("reader", "inject"),
    ("inject", "reader"), ("record", "reader"), ("record", "inject"), ("trace", "record"),
]  # fmt: skip


@functools.cache
def table():
    text = (Path(__file__).parent / "rooms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["cpp"]


def room_of(path):
    return path.parent.relative_to(ROOT / "src").as_posix()


def is_in(room, family):
    return room == family or room.startswith(f"{family}/")


@functools.cache
def arrows():
    """{room: {room that it includes: the lines that do}}, each room of src/ once."""
    found = {room_of(path): {} for path in cpp_files()}
    for path in cpp_files():
        for name in includes(path):
            other = name[1:-1].rpartition("/")[0]
            if name.startswith('"') and other != room_of(path):
                lines = found[room_of(path)].setdefault(other, [])
                lines.append(f"{relative(path)} includes {name[1:-1]}")
    return found


def test_a_circle_is_found():
    assert circle({"a": ["b"], "b": ["c"], "c": []}) == []
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["b"]})) == {"b", "c"}


def test_the_table_names_every_room():
    assert sorted(table()) == sorted(arrows())
    rooms = {other for room in table().values() for other in [*room["uses"], *room.get("open", ())]}
    assert rooms <= set(table())


def test_rooms_use_what_the_table_says():
    wrong = {
        f"{room} -> {other}": lines
        for room, others in arrows().items()
        for other, lines in others.items()
        if other not in table()[room]["uses"] and other not in table()[room].get("open", ())
    }
    assert wrong == {}


def test_the_table_says_no_arrow_that_is_gone():
    found = arrows()
    gone = [
        f"{room} -> {other}"
        for room, entry in table().items()
        for other in [*entry["uses"], *entry.get("open", ())]
        if other not in found[room]
    ]
    assert gone == []


def test_rooms_close_no_circle():
    assert circle({room: entry["uses"] for room, entry in table().items()}) == []


def test_an_open_circle_is_one_and_has_its_date():
    for room, entry in table().items():
        for other, date in entry.get("open", {}).items():
            assert datetime.date.fromisoformat(date)
            uses = {name: list(found["uses"]) for name, found in table().items()}
            uses[room].append(other)
            assert circle(uses), f"{room} -> {other} closes no circle: move it to `uses`"


def test_families_that_never_meet():
    meetings = [
        f"{room} -> {other}"
        for room, entry in table().items()
        for other in entry["uses"]
        if any(is_in(room, one) and is_in(other, two) for one, two in NEVER)
    ]
    assert meetings == []


def test_a_room_is_small_and_has_a_door():
    files = {}
    for path in cpp_files():
        files.setdefault(path.parent, []).append(path.name)
    assert {
        relative(room): len(names) for room, names in files.items() if len(names) > MOST_FILES
    } == {}
    assert [relative(room) for room in files if not (room / "README.md").is_file()] == []
