# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The addresses that a release writes into its metadata, and how nvspan is cited."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest

from helpers.tree import ROOT

PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def addresses():
    spec = importlib.util.spec_from_file_location(
        "project_urls", ROOT / "cmake" / "project_urls.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def with_urls(addresses):
    return addresses.with_urls


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with CPython 3.11")
def test_one_address_gives_every_page(with_urls):
    import tomllib

    before = tomllib.loads(PYPROJECT)
    after = tomllib.loads(with_urls(PYPROJECT, "https://github.com/owner/nvspan/"))
    assert after["project"].pop("urls") == {
        "Homepage": "https://github.com/owner/nvspan",
        "Documentation": "https://github.com/owner/nvspan/tree/main/docs",
        "Changelog": "https://github.com/owner/nvspan/blob/main/CHANGELOG.md",
        "Issues": "https://github.com/owner/nvspan/issues",
    }
    assert after == before


@pytest.mark.parametrize(
    "address", ["", "nvspan", "http://github.com/owner/nvspan", 'https://github.com/o/"n"']
)
def test_another_address_is_refused(with_urls, address):
    with pytest.raises(ValueError, match="must be like https://"):
        with_urls(PYPROJECT, address)


def test_addresses_are_written_once(with_urls):
    once = with_urls(PYPROJECT, "https://github.com/owner/nvspan")
    with pytest.raises(ValueError, match="already"):
        with_urls(once, "https://github.com/owner/nvspan")


def test_badges_and_links_of_the_readme(addresses):
    text = (
        "# nvspan\n\n<!-- badges -->\n"
        "A [page](docs/record.md#b), [one](https://www.w3.org/x), [here](#cost).\n"
        "![picture](docs/p.png)\n"
    )
    at = "https://github.com/owner/nvspan"
    ci, release = (f"{at}/actions/workflows/{name}.yml" for name in ("ci", "release"))
    assert addresses.with_badges(text, at) == (
        f"# nvspan\n\n[![ci.yml]({ci}/badge.svg)]({ci})\n"
        f"[![release.yml]({release}/badge.svg)]({release})\n"
        f"A [page]({at}/blob/main/docs/record.md#b), [one](https://www.w3.org/x), [here](#cost).\n"
        f"![picture]({at}/raw/main/docs/p.png)\n"
    )
    with pytest.raises(ValueError, match="no line <!-- badges -->"):
        addresses.with_badges("# nvspan\n", at)


def test_the_readme_has_a_place_for_badges_and_no_relative_link_is_left(addresses):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    released = addresses.with_badges(readme, "https://github.com/owner/nvspan")
    assert re.findall(r"\]\((?!https://|#)[^)]*", released) == []


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.*?)"', PYPROJECT, re.MULTILINE)
    assert re.findall("^version: (.*)$", citation, re.MULTILINE) == [version]
