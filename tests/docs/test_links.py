# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Pages against each other and against what is installed: links, contents, signatures, pictures."""

from __future__ import annotations

import importlib
import inspect
import re
from itertools import pairwise

import pytest

import nvspan
from helpers.tree import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
MODULES = [
    f"nvspan{part}"
    for part in ("", ".torch", ".torch.nvtx", ".nsight", ".watch", ".writer", ".imports")
]


def generated():
    """The names that docs/api.md takes from docstrings, each with whether its members come too."""
    found = {}
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for name, options in re.findall(r"^\.\. auto\w+:: ([\w.]+)\n((?:   :.*\n)*)", text, re.M):
        found[name] = ":members:" in options
    return found


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_generated_reference(module):
    found = generated()
    names = {f"{module}.{name}" for name in importlib.import_module(module).__all__}
    assert found.get(module) or names - {*MODULES, *found} == set()


@pytest.mark.parametrize("name", sorted(set(nvspan.__all__) - {"__version__", "colors"}))
def test_the_reference_has_something_to_say(name):
    """A docstring; and a signature, where arguments are given to make one."""
    public = getattr(nvspan, name)
    assert public.__doc__
    made_elsewhere = {"Counter", "ExtCounter", "Float64Counter", "Int64Counter"}
    if name not in made_elsewhere and not (
        isinstance(public, type) and issubclass(public, Exception)
    ):
        inspect.signature(public)


def test_every_member_of_a_domain_has_a_docstring():
    members = [name for name in dir(nvspan.Domain) if not name.startswith("_")]
    assert [name for name in members if not getattr(nvspan.Domain, name).__doc__] == []


def test_every_page_is_in_the_contents_and_in_the_readme():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    contents = re.findall(r"^([\w-]+)$", index, re.MULTILINE)
    assert {f"{name}.md" for name in contents} == set(PAGES) - {"index.md"}
    assert set(re.findall(r"\(docs/([\w-]+\.md)\)", readme)) == set(PAGES)


def anchors(path):
    """The anchors of a page's headings, as MyST and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words.replace(".", "-")).replace(" ", "-")
        found |= {slug, re.sub(r"[^\w\- ]", "", words).replace(" ", "-"), slug.strip("-")}
    return found


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=str)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([\w/.-]*)(?:#([\w-]+))?\)", text):
        path = page.parent / target if target else page
        if "pictures/" in target and not (ROOT / ".ci").exists():
            continue  # a source distribution has none
        assert path.is_file(), target
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_headings_go_down_level_by_level(page):
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    levels = [len(signs) for signs in re.findall(r"^(#+) ", text, re.M)]
    assert all(level <= before + 1 for before, level in pairwise(levels))


def test_the_sidebar_has_five_groups():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^:caption: (.*)$", index, re.M) == [
        "Start", "Annotate", "Record and read", "Running programs and Nsight", "Reference",
    ]  # fmt: skip
    names = re.findall(r"^([\w-]+)$", index, re.M)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["run", "test"])
def test_a_command_of_the_readme_is_one_line(name):
    """.ci/readme.sh runs it word for word."""
    pattern = rf"<!-- command: {name} -->\n```\w+\n(.*?)\n```"
    (command,) = re.findall(pattern, (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert "\n" not in command


def test_pictures_are_small_and_load_nothing():
    pictures = [*(DOCS / "pictures").glob("*.png"), *(DOCS / "pictures").glob("*.svg")]
    if not pictures:
        pytest.skip("a source distribution has no pictures")
    assert sum(picture.stat().st_size for picture in pictures) <= 350_000
    for picture in pictures:
        assert picture.suffix == ".png" or "url(http" not in picture.read_text(encoding="utf-8")
        used = [page for page in (ROOT / "README.md", *DOCS.glob("*.md"))
                if f"pictures/{picture.name})" in page.read_text(encoding="utf-8")]  # fmt: skip
        assert used, picture.name


def test_pages_that_sources_name_exist():
    """In messages, help, docstrings and comments."""
    named = {
        (path.relative_to(ROOT).as_posix(), page)
        for folder in ("python", "src", "tests", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".pyi", ".hpp", ".cpp", ".md")
        for page in re.findall(r"docs/([\w-]+\.md)", path.read_text(encoding="utf-8"))
    }
    assert {(source, page) for source, page in named if page not in PAGES} == set()
