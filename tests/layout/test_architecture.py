# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md and the doors of the rooms name files, functions and classes that exist."""

from __future__ import annotations

import ast
import re

import pytest

from helpers.tree import ROOT, relative

DOCUMENT = ROOT / "docs" / "architecture.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
FEWEST_QUESTIONS = 20
DOORS = sorted((ROOT / "src").rglob("README.md"))
PACKAGES = sorted((ROOT / "python" / "nvspan").rglob("__init__.py"))


def section(title):
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def rows(table):
    """The cells of each row of a Markdown table, its heading left out."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


QUESTIONS = rows(section("Where does it happen?"))


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
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return symbol in {
            node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)
        }
    code = re.sub(r"//[^\n]*", "", text)
    return bool(re.search(rf"\b(?:class|struct) {symbol}\b|\b{symbol}(?:::\w+)?\(", code))


def test_there_are_enough_questions():
    assert len(QUESTIONS) >= FEWEST_QUESTIONS
    assert len({question for question, _, _ in QUESTIONS}) == len(QUESTIONS)
    assert all(question.endswith("?") for question, _, _ in QUESTIONS)


@pytest.mark.parametrize(("question", "file", "symbols"), QUESTIONS)
def test_an_answer_names_a_file_and_what_stands_in_it(question, file, symbols):
    (path,) = quoted(file)
    assert (ROOT / path).is_file(), f"{question} {path}"
    assert quoted(symbols)
    assert [symbol for symbol in quoted(symbols) if not stands_in(symbol, ROOT / path)] == []


def test_every_path_of_the_document_exists():
    missing = [name for name in paths_in(TEXT) if not exists(name, ROOT, ROOT / "src")]
    assert missing == []


def test_the_document_tells_the_purpose_of_every_room():
    told = {path for cells in rows(section("The rooms")) for path in quoted(cells[0])}
    families = {relative(path.parent) for path in DOORS if path.parent.parent == ROOT / "src"}
    packages = {relative(path.parent) for path in PACKAGES}
    packages = {name for name in packages if name.count("/") <= 2}
    assert told == families | packages


def test_paths_of_a_door_exist():
    missing = [
        (relative(door), name)
        for door in DOORS
        for name in paths_in(door.read_text(encoding="utf-8"))
        if not exists(name, door.parent, ROOT / "src", ROOT)
    ]
    assert missing == []


@pytest.mark.parametrize("door", DOORS, ids=relative)
def test_a_room_of_cpp_is_told_at_its_door(door):
    heading, _, text = door.read_text(encoding="utf-8").partition("\n")
    assert heading == f"# {door.parent.relative_to(ROOT / 'src').as_posix()}"
    assert re.match(r"\s*[A-Z`][^.]*[a-z][.:;]", text)


@pytest.mark.parametrize("door", PACKAGES, ids=relative)
def test_a_package_is_told_at_its_door(door):
    text = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
    assert re.match(r"[A-Za-z`][^\n]{15,}", text)
    assert "." in text
