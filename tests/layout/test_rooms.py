# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The rooms of src/ and python/nvspan: rooms.toml has their layers, the code the arrows. An import
within a function counts, one for a type checker alone, and one by a string."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from helpers.tree import ROOT, circle, cpp_files, includes, relative
from helpers.tree_of_python import PACKAGE, doc_of, modules, uses

tomllib = pytest.importorskip("tomllib", reason="the table is read by CPython 3.11 and newer")

MOST_FILES = 25
BOTH = pytest.mark.parametrize("language", ["cpp", "python"])


@functools.cache
def table(language):
    text = (Path(__file__).parent / "rooms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[language]


@functools.cache
def graph(language):
    """{file: files that it uses}, a file of Python by the name of its module, without nvspan."""
    if language == "python":
        return {
            short(module): sorted({short(name) for name in uses(path)} - {short(module)})
            for module, path in modules().items()
        }
    return {
        path.relative_to(ROOT / "src").as_posix(): [
            name[1:-1] for name in includes(path) if name.startswith('"')
        ]
        for path in cpp_files()
    }


def short(module):
    return module.removeprefix("nvspan.")


def room_of(language, file):
    """The folder of a file; each module in the root of the package is a room of its own."""
    if language == "cpp":
        return file.rpartition("/")[0]
    path = modules().get(f"nvspan.{file}", PACKAGE)
    folder = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    return file if path.parent in (PACKAGE, PACKAGE.parent) else short(folder)


@functools.cache
def arrows(language):
    """{room: {room that it uses: [(file, file that it uses)]}}, each room once."""
    found = {room_of(language, file): {} for file in graph(language)}
    for file, others in graph(language).items():
        room = room_of(language, file)
        for other in others:
            if room_of(language, other) != room:
                found[room].setdefault(room_of(language, other), []).append((file, other))
    return found


def is_in(room, name):
    return room == name or room.startswith((f"{name}/", f"{name}."))


def name_of(language, room):
    """(number of the layer, name in the table) of a room."""
    places = [
        (len(name), number, name)
        for number, layer in enumerate(table(language)["layers"])
        for name in layer
        if is_in(room, name)
    ]
    assert places, f"{room} is in no layer"
    return max(places)[1:]


def goes_down(language, room, other):
    (number, name), (other_number, other_name) = name_of(language, room), name_of(language, other)
    if name != other_name:
        return other_number < number
    order = table(language)["order"].get(name)
    if order is None:
        return True
    inner, other_inner = (each[len(name) + 1 :] for each in (room, other))
    return inner not in order or other_inner not in order[order.index(inner) :]


def is_taken_back(language, room, other):
    return any(
        any(is_in(room, name) for name in never["from"])
        and any(is_in(other, name) for name in never["to"])
        for never in table(language)["never"]
    )


def test_a_circle_is_found():
    assert circle({"a": ["b"], "b": ["c"], "c": []}) == []
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["b"]})) == {"b", "c"}


@BOTH
def test_rooms_use_lower_layers_only(language):
    assert {
        f"{room} -> {other}": files
        for room, others in arrows(language).items()
        for other, files in others.items()
        if not goes_down(language, room, other) or is_taken_back(language, room, other)
    } == {}


@BOTH
def test_the_table_names_rooms_that_exist(language):
    entries = table(language)
    joint = "/" if language == "cpp" else "."
    names = [name for layer in entries["layers"] for name in layer]
    assert len(names) == len(set(names))
    names += [name for never in entries["never"] for side in never.values() for name in side]
    names += [
        f"{name}{joint}{inner}" if inner else name
        for name, order in entries["order"].items()
        for inner in order
    ]
    rooms = {*arrows(language), "_core", "_lines", "_reader"}
    assert [name for name in names if not any(is_in(room, name) for room in rooms)] == []


@BOTH
def test_rooms_close_no_circle(language):
    assert circle(arrows(language)) == []


@BOTH
def test_files_close_no_circle(language):
    """A file that imports another of its own package does not import the package's __init__."""
    assert circle(graph(language)) == []


@BOTH
def test_a_room_is_small_and_has_a_door(language):
    paths = cpp_files() if language == "cpp" else modules().values()
    rooms = {}
    for path in paths:
        if path.parent != PACKAGE:
            rooms.setdefault(path.parent, []).extend([path] if path.stem != "__init__" else [])
    large = {relative(room): len(files) for room, files in rooms.items() if len(files) > MOST_FILES}
    assert large == {}
    has_door = {
        room: (room / "README.md").is_file() if language == "cpp" else doc_of(room / "__init__.py")
        for room in rooms
    }
    assert [relative(room) for room, there in has_door.items() if not there] == []
