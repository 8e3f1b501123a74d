# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of the page's scripts as one script.

A module of `scripts` imports others with lines such as ``import { a, b } from "./other.js";`` and
exports with ``export`` before a declaration. The modules follow one another in one function, so a
name at the top of a module is the name of nothing else in another one; a test holds them to it.
"""

from __future__ import annotations

import functools
import os
import re

_FOLDER = os.path.join(os.path.dirname(__file__), "scripts")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://[^\n]*|/\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)


def source(name: str) -> str:
    """The text of a file of `scripts`."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def order(entry: str) -> list[str]:
    """The modules that `entry` needs, itself the last."""
    found: list[str] = []

    def visit(name: str, within: tuple[str, ...]) -> None:
        if name in within:
            raise ValueError(f"modules import each other: {' -> '.join((*within, name))}")
        if name not in found:
            for other in _IMPORT.findall(source(f"{name}.js")):
                visit(other, (*within, name))
            found.append(name)

    visit(entry, ())
    return found


@functools.cache
def script(entry: str) -> str:
    """The module `entry` and what it imports, as the body of a function."""
    parts = [
        _EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", source(f"{name}.js"))))
        for name in order(entry)
    ]
    return '"use strict";\n' + "".join(parts)
