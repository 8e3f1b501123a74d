# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Write [project.urls] into pyproject.toml: project_urls.py https://github.com/owner/nvspan

The tree names no address of its own, because a fork has another. A release writes the one that its
owner set (NVSPAN_PROJECT_URL in the release workflow) before it makes the source distribution.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGES = {
    "Homepage": "",
    "Documentation": "/tree/main/docs",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


def with_urls(text: str, address: str) -> str:
    """`text` of a pyproject.toml with the addresses of the project at `address`.

    Raises ValueError for an address that is not https, and where the text has such a table.
    """
    address = address.rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", address):
        raise ValueError(
            f"the project's address must be like https://github.com/owner/name, not {address!r}"
        )
    if "[project.urls]" in text:
        raise ValueError("pyproject.toml has a table [project.urls] already")
    rows = "".join(f'{name} = "{address}{path}"\n' for name, path in PAGES.items())
    head, found, tail = text.partition("[project.scripts]")
    if not found:
        raise ValueError("pyproject.toml has no table [project.scripts] to write before")
    return f"{head}[project.urls]\n{rows}\n{found}{tail}"


if __name__ == "__main__":
    file = Path(__file__).parent.parent / "pyproject.toml"
    file.write_text(with_urls(file.read_text(encoding="utf-8"), sys.argv[1]), encoding="utf-8")
