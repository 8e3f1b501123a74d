# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The classes of nvspan._results, the C++ that fills them and the tables of fields in the docs.

``python tests/layout/test_results.py`` writes the tables again.
"""

from __future__ import annotations

import ast
import pickle
import re

import pytest

from helpers.tree import ROOT, cpp_files, read
from nvspan import _results
from nvspan._result import Result, Row

SOURCES = sorted((ROOT / "python/nvspan/_results").glob("*.py"))
CLASSES = {
    node.name: (node, read(path).splitlines())
    for path in SOURCES
    for node in ast.parse(read(path)).body
    if isinstance(node, ast.ClassDef)
}
BEGIN = re.compile(r'NewResult (\w+)\("(\w+)"\)')
TABLE = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)


def fields(name):
    """(field, annotation, comment) of a class, those that it inherits first."""
    found, lines = CLASSES[name]
    base = found.bases[0].id
    own = [
        (ast.unparse(each.target), ast.unparse(each.annotation),
         lines[each.lineno - 1].partition("#: ")[2])
        for each in found.body if isinstance(each, ast.AnnAssign)
    ]  # fmt: skip
    return own if base in ("Result", "Row") else [*fields(base), *own]


def table(name):
    rows = [
        f"| `{field}` | {annotation.replace(' | ', ' or ')} | {about} |\n"
        for field, annotation, about in fields(name)
    ]
    return "| field | type | what it is |\n| :--- | :--- | :--- |\n" + "".join(rows)


def with_tables(text):
    return TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], text)


def test_every_field_has_a_comment():
    assert [(n, f) for n in CLASSES for f, _, about in fields(n) if not about] == []


def test_cpp_fills_fields_that_there_are():
    known = {of.__name__: of._types for of in _results.RESULTS}
    wrong, used = [], set()
    for path in cpp_files("src/bindings/reader"):
        if path.stem == "result":
            continue
        open_here = {}
        for number, line in enumerate(read(path).splitlines(), 1):
            open_here.update(BEGIN.findall(line))
            used.update(name for _, name in BEGIN.findall(line))
            for variable, field in re.findall(r'\b(\w+)\["(\w+)"\] =', line):
                name = open_here.get(variable)
                if name in known and field not in known[name]:
                    wrong.append((path.name, number, name, field))
            if line.startswith("}"):
                open_here.clear()
    assert wrong == []
    assert used <= known.keys()


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "docs").rglob("*.md")) if "<!-- fields of" in read(path)],
    ids=lambda path: path.name,
)
def test_tables_of_fields_are_those_of_the_classes(path):
    assert read(path) == with_tables(read(path))


def test_a_result_is_a_value():
    mark = _results.MarkRow("d", "m", calls=3)
    assert mark == _results.MarkRow(domain="d", name="m", calls=3) != mark.replace(calls=4)
    assert len({mark, pickle.loads(pickle.dumps(mark))}) == 1
    assert repr(mark) == "MarkRow(domain='d', name='m', calls=3)"
    assert mark.as_dict() == {"domain": "d", "name": "m", "calls": 3}
    with pytest.raises(AttributeError, match=r"MarkRow\.calls cannot be set"):
        mark.calls = 4
    with pytest.raises(AttributeError):
        mark.other = 4
    with pytest.raises(TypeError, match=r"MarkRow\(\) takes domain, name, calls"):
        _results.MarkRow("d", "m")
    with pytest.raises(TypeError):
        mark["calls"]


def test_a_result_becomes_another_class():
    class Named(Result):
        name: str | None
        place: int

    named = _results.MarkRow(None, "m", 1).into(Named, place=2)
    assert named.as_dict() == {"name": "m", "place": 2}


def test_a_row_is_a_mapping_as_well():
    class Named(Row):
        name: str
        calls: int

    row = Named("a", 1)
    assert dict(row) == {**row} == row.as_dict() == {"name": "a", "calls": 1}
    assert (row["calls"], row.get("other"), len(row)) == (1, None, 2)
    assert row != row.replace(calls=2)
    assert pickle.loads(pickle.dumps(_results.ProjectedRow(*range(22)))).calls == 3
    with pytest.raises(KeyError):
        row["keys"]


def test_losses_have_the_keys_of_json():
    loss = _results.Loss(0, None, 1, 2, None, "cut off")
    assert list(loss.as_dict()) == ["process", "thread", "from", "to", "count", "reason"]


if __name__ == "__main__":
    for page in (ROOT / "docs").rglob("*.md"):
        if "<!-- fields of" in read(page):
            page.write_text(with_tables(read(page)), encoding="utf-8")
