# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The extras: each is documented, adds to an installed nvspan, and needs no compiler."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

from helpers.tree import ROOT

tomllib = pytest.importorskip("tomllib", reason="pyproject.toml is read by CPython 3.11 and newer")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OF_DEVELOPERS = {"dev", "docs", "test", "test-all"}
OF_USERS = sorted(set(EXTRAS) - OF_DEVELOPERS)
VERSIONS = [line.rpartition(" ")[2] for line in PROJECT["classifiers"]
            if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)]  # fmt: skip


def requirements(extra):
    found = []
    for requirement in EXTRAS[extra]:
        own = re.match(r"nvspan\[(.*?)\]", requirement)
        if own:
            found += [one for name in own[1].split(",") for one in requirements(name.strip())]
        else:
            found.append(requirement)
    return found


def requirements_on(extra, version):
    """Those of an extra that a CPython of this version needs, without their markers."""
    found = map(Requirement, requirements(extra))
    return [
        str(one).partition(";")[0].strip()
        for one in found
        if one.marker is None or one.marker.evaluate({"python_version": version})
    ]


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_table_of_extras_has_each():
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE))) == sorted(EXTRAS)
    assert "pip install 'nvspan[EXTRA]'" in text


def test_messages_and_pages_name_extras_that_exist():
    sources = [*(ROOT / "python").rglob("*.py"), *documents()]
    named = {
        extra.strip()
        for path in sources
        for found in re.findall(r"pip install '?(?:nvspan|\.)\[([\w,-]+)\]",
                                path.read_text(encoding="utf-8"))
        for extra in found.split(",")
    }  # fmt: skip
    assert {"view", "parquet"} < named
    assert named - {"EXTRA"} <= set(EXTRAS)


def test_what_adds_an_extra_to_an_installed_nvspan_does_not_build_it():
    """`pip install '.[view]'` would build nvspan again; pip takes nvspan[view] as installed."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = text.index("pip install .")
    again = re.findall(r"pip install '\.\[([\w-]+)\]'", text[first:])
    assert set(again) <= OF_DEVELOPERS


@pytest.mark.skipif(os.environ.get("NVSPAN_SLOW") != "1", reason="NVSPAN_SLOW=1 asks an index")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("extra", OF_USERS)
def test_an_extra_is_made_of_wheels(extra, version, tmp_path):
    needed = requirements_on(extra, version)
    if not needed:
        pytest.skip(f"the extra adds nothing on CPython {version}")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
         "--only-binary", ":all:", "--python-version", version, "--target", tmp_path,
         *needed],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "No module named pip" in done.stderr:
        pytest.skip("this interpreter has no pip")
    assert done.returncode == 0, done.stderr
