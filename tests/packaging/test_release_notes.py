# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The changelog's form, and what a tag must agree with before it is published."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from helpers.tree import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


@pytest.fixture
def tree(tmp_path):
    """A tree of version 1.2.3 that is ready to be released."""
    (tmp_path / "cmake").mkdir()
    script = (ROOT / "cmake" / "release_notes.py").read_text(encoding="utf-8")
    (tmp_path / "cmake" / "release_notes.py").write_text(script, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"  # the only place\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.3\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-12-01\n\n### Fixed\n\n- A.\n\n"
        "## [1.2.2] - 2026-11-01\n\n### Added\n\n- B.\n"
    )
    return tmp_path


def run(tree, version="1.2.3"):
    command = [sys.executable, str(tree / "cmake" / "release_notes.py"), version]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_notes_are_the_section_of_the_version(tree):
    assert run(tree) == (0, "### Fixed\n\n- A.\n", "")


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("pyproject.toml", "1.2.3", "1.2.4", "pyproject.toml has version 1.2.4, not 1.2.3"),
        ("CITATION.cff", "version: 1.2.3", "version: 1.2.2",
         "CITATION.cff has version 1.2.2, not 1.2.3"),
        ("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- C.\n",
         "CHANGELOG.md has entries that are unreleased"),
        ("CHANGELOG.md", " - 2026-12-01", "",
         "CHANGELOG.md has no section '## [1.2.3] - YYYY-MM-DD'"),
    ],
)  # fmt: skip
def test_what_contradicts_the_version_is_refused(tree, file, old, new, why):
    text = (tree / file).read_text()
    (tree / file).write_text(text.replace(old, new))
    assert run(tree) == (1, "", f"release_notes.py: {why}\n")


def test_the_changelog_is_one_of_keep_a_changelog():
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in headings[1:]]
    assert all(released)
    kinds = re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)
    assert [kind for kind in kinds if kind not in KINDS] == []
    assert re.findall(r"^\*\*.*", CHANGELOG, re.MULTILINE) == []
