# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md and the doors of the rooms name files, functions and classes that exist."""

from __future__ import annotations

import ast
import functools
import re

from helpers.tree import ROOT, read, relative

DOCUMENT = ROOT / "docs" / "architecture.md"
FEWEST_QUESTIONS = 20


@functools.cache
def document():
    return DOCUMENT.read_text(encoding="utf-8")


@functools.cache
def doors():
    return sorted((ROOT / "src").rglob("README.md"))


@functools.cache
def packages():
    return sorted((ROOT / "python" / "nvspan").rglob("__init__.py"))


def section(title):
    found = re.search(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", document(), re.MULTILINE | re.DOTALL
    )
    assert found, title
    return found[1]


def rows(table):
    """The cells of each row of a Markdown table, its heading left out."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def questions():
    return rows(section("Where does it happen?"))


def paths_in(text):
    """What looks like a path of the tree in a text: in backticks, with a folder or a suffix."""
    words = re.findall(r"`([\w.*/-]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [word for word in words if "/" in word or re.search(r"\.([ch]pp|py|pyi|md|toml)$", word)]


def exists(name, *folders):
    """Whether `name`, which may hold *, is a path from one of the folders."""
    return any(
        (folder / name).exists() or ("*" in name and any(folder.glob(name))) for folder in folders
    )


def stands_in(symbol, path):
    """Whether the file defines a function or class, or calls it, `Class::member` by this name."""
    text = read(path)
    if path.suffix == ".py":
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return symbol in {
            node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)
        }
    code = re.sub(r"//[^\n]*", "", text)
    return bool(re.search(rf"\b(?:class|struct) {symbol}\b|\b{symbol}(?:::\w+)?\(", code))


def test_there_are_enough_questions():
    assert len(questions()) >= FEWEST_QUESTIONS
    assert len({question for question, _, _ in questions()}) == len(questions())
    assert all(question.endswith("?") for question, _, _ in questions())


def test_an_answer_names_a_file_and_what_stands_in_it():
    wrong = {}
    for question, file, symbols in questions():
        named, there = quoted(symbols), [ROOT / path for path in quoted(file)]
        missing = [path for path in there if not path.is_file()]
        if len(there) != 1 or missing or not named:
            wrong[question] = missing
        elif absent := [symbol for symbol in named if not stands_in(symbol, there[0])]:
            wrong[question] = absent
    assert wrong == {}


def test_every_path_of_the_document_exists():
    missing = [name for name in paths_in(document()) if not exists(name, ROOT, ROOT / "src")]
    assert missing == []


def test_the_document_tells_the_purpose_of_every_room():
    told = {path for cells in rows(section("The house")) for path in quoted(cells[0])}
    families = {relative(path.parent) for path in doors() if path.parent.parent == ROOT / "src"}
    names = {relative(path.parent) for path in packages()}
    assert told == families | {name for name in names if name.count("/") <= 2}


def test_paths_of_a_door_exist():
    missing = [
        (relative(door), name)
        for door in doors()
        for name in paths_in(read(door))
        if not exists(name, door.parent, ROOT / "src", ROOT)
    ]
    assert missing == []


def test_a_room_of_cpp_is_told_at_its_door():
    def is_told(door):
        heading, _, text = read(door).partition("\n")
        named = heading == f"# {door.parent.relative_to(ROOT / 'src').as_posix()}"
        return named and re.match(r"\s*[A-Z`][^.]*[a-z][.:;]", text)

    assert [relative(door) for door in doors() if not is_told(door)] == []


def test_a_package_is_told_at_its_door():
    def is_told(door):
        text = ast.get_docstring(ast.parse(read(door))) or ""
        return re.match(r"[A-Za-z`][^\n]{15,}", text) and "." in text

    assert [relative(door) for door in packages() if not is_told(door)] == []
