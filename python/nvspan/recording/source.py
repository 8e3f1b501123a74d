# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Source files as a recording names them: short names, the standard library, texts of lines."""

from __future__ import annotations

import os
import re
import stat
import tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvspan._results.lines import SampledLine
    from nvspan._results.stacks import LiveFrame

_SUFFIXES = (".py", ".pyw")
_MAX_BYTES = 10_000_000
_LIBRARY = re.compile(r"[/\\](?:python|pypy)3\.\d+t?[/\\](?!(?:site|dist)-packages[/\\])|^<frozen ")
_ZIPPED_LIBRARY = re.compile(r"[/\\]python3\d+t?\.zip[/\\]")
_OWN = re.compile(r"[/\\](?:site|dist)-packages[/\\]nvspan[/\\]|[/\\]python[/\\]nvspan[/\\]")


def is_library(file: str) -> bool:
    """Whether a file is of Python's standard library, its import machinery, or nvspan itself.

    >>> is_library("/usr/lib/python3.11/json/decoder.py"), is_library("<frozen runpy>")
    (True, True)
    >>> is_library("/usr/lib/python3.11/site-packages/numpy/random.py"), is_library("train.py")
    (False, False)
    """
    return any(known.search(file) for known in (_LIBRARY, _ZIPPED_LIBRARY, _OWN))


def short_names(files: Iterable[str]) -> dict[str, str]:
    """The last part of each path, with as many folders before it as tell the files apart.

    >>> short_names(["/a/x/io.py", "/a/y/io.py", "/a/train.py"])
    {'/a/x/io.py': 'x/io.py', '/a/y/io.py': 'y/io.py', '/a/train.py': 'train.py'}
    """
    left = list(dict.fromkeys(files))
    names: dict[str, str] = dict.fromkeys(left, "")
    parts = 0
    while left:
        parts += 1
        tails = {file: "/".join(file.rsplit("/", parts)[-parts:]) for file in left}
        counts: dict[str, int] = {}
        for tail in tails.values():
            counts[tail] = counts.get(tail, 0) + 1
        names.update(tails)
        left = [file for file in left if counts[tails[file]] > 1 and tails[file] != file]
    return names


class Sources:
    """Lines of source files, as they were when a recording began.

    A file that has changed since, is larger than 10 MB, or has no name of a Python file, has none.
    """

    def __init__(self, newest: int) -> None:
        """`newest`: when the recording began, in ns since 1970."""
        self._newest = newest
        self._files: dict[str, list[str]] = {}

    def line(self, file: str | None, number: int | None) -> str:
        """The text of a line, without what surrounds it; empty where it is not known."""
        return self._raw(file, number).strip()

    def expression(self, row: SampledLine | LiveFrame) -> str:
        """What of its line a row is; the line where that is not known."""
        text = self._raw(row.file, row.line)
        if row.column is None or row.end_column is None or row.end_line is None:
            return text.strip()
        raw = text.encode()
        if row.end_line == row.line:
            return raw[row.column : row.end_column].decode("utf-8", "replace") or text.strip()
        first = raw[row.column :].decode("utf-8", "replace").strip()
        return f"{first} ..." if first else text.strip()

    def _raw(self, file: str | None, number: int | None) -> str:
        if file is None or number is None:
            return ""
        if file not in self._files:
            self._files[file] = self._lines(file)
        lines = self._files[file]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def _lines(self, file: str) -> list[str]:
        if not file.endswith(_SUFFIXES):
            return []
        try:
            status = os.stat(file)
            if (
                not stat.S_ISREG(status.st_mode)
                or status.st_size > _MAX_BYTES
                or status.st_mtime_ns > self._newest
            ):
                return []
            with tokenize.open(file) as source:
                return source.read().split("\n")
        except (OSError, SyntaxError, ValueError):
            return []
