# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation against what is installed, and its pages against each other."""

from __future__ import annotations

import inspect
import re

import pytest

import nvspan
from helpers.tree import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
API = (DOCS / "api.md").read_text(encoding="utf-8")
DOCUMENTED = dict(re.findall(r"\{py:(?:function|class)\} nvspan\.(\w+)(\(.*\))?\n", API))


def shape(signature):
    """Parameters as (name, kind, default), so that annotations do not count."""
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


def test_every_public_name_has_an_entry():
    assert {name for name in nvspan.__all__ if f"nvspan.{name}" not in API} == set()


@pytest.mark.parametrize("name", [name for name, given in DOCUMENTED.items() if given])
def test_documented_signatures_are_the_real_ones(name):
    namespace = dict(vars(nvspan))
    exec(f"def documented{DOCUMENTED[name]}: ...", namespace)
    documented = shape(inspect.signature(namespace["documented"]))
    assert documented == shape(inspect.signature(getattr(nvspan, name)))


def test_every_member_of_a_domain_has_an_entry():
    members = {name for name in dir(nvspan.Domain) if not name.startswith("_")}
    entry = API[API.index("{py:class} nvspan.Domain(") :].split("\n```\n")[0]
    assert members == set(re.findall(r"\{py:(?:attribute|method)\} (\w+)", entry))


def test_every_page_is_in_the_contents_and_in_the_readme():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    contents = re.findall(r"^([\w-]+)$", index, re.MULTILINE)
    assert {f"{name}.md" for name in contents} == set(PAGES) - {"index.md"}
    assert set(re.findall(r"\(docs/([\w-]+\.md)\)", readme)) == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([\w/.-]+\.md)(?:#[\w-]+)?\)", text):
        assert (DOCS / target).is_file(), target


@pytest.mark.parametrize("page", PAGES)
def test_the_python_in_a_page_compiles(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        compile(block, page, "exec")
