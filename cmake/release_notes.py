# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Print what CHANGELOG.md says of a version: release_notes.py 0.1.0

Exits with 1 where a release of it would contradict itself: pyproject.toml or CITATION.cff has
another version, or the changelog has no section `## [0.1.0] - 2026-12-01`, or has entries that are
unreleased.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def notes(root: Path, version: str) -> str:
    """The section of `version`. Raises ValueError with the reason why it cannot be released."""
    for name, pattern in (
        ("pyproject.toml", r'^version = "(.*?)"'),
        ("CITATION.cff", "^version: (.*)$"),
    ):
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != version:
            raise ValueError(f"{name} has version {found and found[1]}, not {version}")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    if any(section.startswith("[Unreleased]") and section.count("\n- ") for section in sections):
        raise ValueError("CHANGELOG.md has entries that are unreleased")
    heading = re.compile(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n\s*")
    for section in sections:
        if found := heading.match(section):
            return section[found.end() :].strip() + "\n"
    raise ValueError(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'")


if __name__ == "__main__":
    try:
        print(notes(ROOT, sys.argv[1]), end="")
    except ValueError as error:
        sys.exit(f"release_notes.py: {error}")
