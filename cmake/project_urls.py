# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Write addresses into pyproject.toml and README.md: project_urls.py https://github.com/owner/nvspan

The tree names no address of its own, because a fork has another. A release writes the one that its
owner set (NVSPAN_PROJECT_URL in the release workflow) before it makes the source distribution: a
table [project.urls], README's badges, and README's links to files, which a package index lacks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

PAGES = {
    "Homepage": "",
    "Documentation": "/tree/main/docs",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


BADGES = "<!-- badges -->\n"


def checked(address: str) -> str:
    """The address without a slash at its end; ValueError for one that is not https."""
    address = address.rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", address):
        raise ValueError(
            f"the project's address must be like https://github.com/owner/name, not {address!r}"
        )
    return address


def with_badges(text: str, address: str) -> str:
    """`text` of a README.md with badges of the project at `address`, and links to its files there.

    Raises ValueError for an address that is not https, and where the text has no place for badges.
    """
    address = checked(address)
    if text.count(BADGES) != 1:
        raise ValueError(f"README.md has no line {BADGES.strip()}")
    runs = [f"{address}/actions/workflows/{name}.yml" for name in ("ci", "release")]
    badges = [f"[![{run.rsplit('/')[-1]}]({run}/badge.svg)]({run})\n" for run in runs]
    text = re.sub(r"(!\[[^]]*\]\()(?!https:|#)", rf"\1{address}/raw/main/", text)
    text = re.sub(r"((?<!!)\[[^]!]*\]\()(?!https:|#)", rf"\1{address}/blob/main/", text)
    return text.replace(BADGES, "".join(badges))


def with_urls(text: str, address: str) -> str:
    """`text` of a pyproject.toml with the addresses of the project at `address`.

    Raises ValueError for an address that is not https, and where the text has such a table.
    """
    address = checked(address)
    if "[project.urls]" in text:
        raise ValueError("pyproject.toml has a table [project.urls] already")
    rows = "".join(f'{name} = "{address}{path}"\n' for name, path in PAGES.items())
    head, found, tail = text.partition("[project.scripts]")
    if not found:
        raise ValueError("pyproject.toml has no table [project.scripts] to write before")
    return f"{head}[project.urls]\n{rows}\n{found}{tail}"


def rewrite(path: Path, change: Callable[[str, str], str], address: str) -> None:
    path.write_text(change(path.read_text(encoding="utf-8"), address), encoding="utf-8")


if __name__ == "__main__":
    root = Path(__file__).parent.parent
    rewrite(root / "pyproject.toml", with_urls, sys.argv[1])
    rewrite(root / "README.md", with_badges, sys.argv[1])
