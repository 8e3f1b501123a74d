# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Print a command line of README.md: the code block after the comment `<!-- command: NAME -->`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def readme_command(name: str, readme: Path = Path("README.md")) -> str:
    pattern = rf"<!-- command: {re.escape(name)} -->\s*```\w*\n(.*?)\n```"
    (block,) = re.findall(pattern, readme.read_text(encoding="utf-8"), re.DOTALL)
    if "\n" in block:
        raise SystemExit(f"the README's {name} command is more than one line")
    return str(block)


if __name__ == "__main__":
    print(readme_command(sys.argv[1]))
