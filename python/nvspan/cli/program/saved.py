# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The files that a run wrote, as its last lines name them: one by one, or many by a pattern."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from glob import glob

from nvspan._runtime.warnings import plain_text

_MAX_LINES, _MAX_TEXT = 3, 200  # files with a line each; characters of a pattern


def saved_lines(paths: Sequence[str], samples: int, after: str) -> list[str]:
    """The lines about the files, and the one with the next command, ``nvspan AFTER FILES``."""
    from nvspan.answers.words import paths_text
    from nvspan.recording.time_text import counted

    names = [_short_path(path) for path in paths]
    count = f", {counted(samples, 'sample')}" if samples else ""
    pattern = files_pattern(names) if len(names) > _MAX_LINES else None
    if pattern is None:
        lines = [f"saved  {plain_text(name)}  {size_text(_size(path))}"
                 f"{count if len(paths) == 1 else ''}"
                 for path, name in zip(paths, names, strict=True)]  # fmt: skip
        return [*lines, f"next   nvspan {after} {paths_text(names)}"]
    size = size_text(sum(map(_size, paths)))
    line = f"saved  {pattern}  {counted(len(paths), 'file')}, {size}{count}"
    if others := len(set(glob(pattern)) - set(names)):
        line += f"; the pattern takes {counted(others, 'file')} of other runs too"
        pattern = paths_text(names)
    return [line, f"next   nvspan {after} {pattern}"]


def files_pattern(names: Sequence[str]) -> str | None:
    """A pattern of the shell that takes these files, and if a short one can no other; None: their
    names mean something to a shell.

    >>> files_pattern(["no/run-7.nvspan", "no/run.nvspan"])
    'no/run{-7,}.nvspan'
    """
    start = _common_start(names)
    end = _common_start([name[len(start) :][::-1] for name in names])[::-1]
    middles = [name[len(start) : len(name) - len(end)] for name in names]
    if any(text and shlex.quote(text) != text for text in (start, end, *middles)):
        return None
    pattern, exact = f"{start}*{end}", f"{start}{{{','.join(middles)}}}{end}"
    if set(glob(pattern)) == set(names) or len(exact) > _MAX_TEXT:
        return pattern
    return exact


def size_text(size: float) -> str:
    """
    >>> size_text(999), size_text(1_240_000)
    ('999 B', '1.24 MB')
    """
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    same = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, min(len(first), len(last)))]


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _short_path(path: str) -> str:
    """The path from the current directory, if it is below it."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
