# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of code in README.md and docs/*.md, and what they show of the output."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from helpers.tree import ROOT

PAGES = {path.relative_to(ROOT).as_posix(): path
         for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}  # fmt: skip
RUN = ("console", "python")
_FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARKERS = re.compile(r"((?:<!-- [^\n]*? -->\s*?\n\s*?)+)\Z")
_FILE = re.compile(r"# ([\w/.-]+\.(?:py|toml|sh))\n")
_NUMBER = r"(?:(?<![^\s(])[-+])?\d[\d,]*(?:\.\d+)*(?:e[-+]?\d+)?"
_TIME = re.compile(rf"{_NUMBER} (?:ns|us|ms|s)\b")

_NEEDS = {
    "torch": r"\btorch\.|import torch|^\$ (?!.*--dry-run).*torchrun|train_(transformer|ddp)\.py",
    "nsys": r"^\$ nvspan nsys (?!--dry-run)|\.nsys-rep",
    "ncu": r"\.ncu-rep",
    "nsight": r"^import nsight\b",
    "pyarrow": r"parquet",
    "duckdb": r"\bduckdb\.",
    "pandas": r"\bpandas\.",
}


@dataclass
class Block:
    """One fenced block: its language, text, line in the page and the markers above it."""

    language: str
    text: str
    line: int
    markers: list[str] = field(default_factory=list)
    output: str | None = None  # of the block of text below that is marked as its output

    def marked(self, name: str) -> str | None:
        """What follows `name` in a marker, `<!-- not run: why -->`; of `<!-- exact -->` nothing."""
        for marker in self.markers:
            if marker == name or marker.startswith(f"{name}:"):
                return marker[len(name) + 1 :].strip()
        return None

    @property
    def kind(self) -> str:
        """How it is run: "console", "python", as the "cell" of a notebook, or "", not at all."""
        if self.marked("cell") is not None:
            return "cell"
        return self.language if self.language in RUN else ""

    @property
    def skipped(self) -> str | None:
        """Why the block is not run here, as it says itself."""
        if self.marked("command") is not None:
            return ".ci/readme.sh runs it"
        return self.marked("not run")

    @property
    def file(self) -> str | None:
        """The file that a block of Python is, by the name in its first line."""
        found = _FILE.match(self.text)
        return found.group(1) if found else None

    @property
    def needs(self) -> list[str]:
        """What this block runs that a machine may lack."""
        named = self.marked("needs")
        found = [name for name, pattern in _NEEDS.items() if re.search(pattern, self.text, re.M)]
        if self.kind == "cell":
            found.append("IPython")
        return [*found, named] if named else found


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    for fence in _FENCE.finditer(text):
        above = _MARKERS.search(text, 0, fence.start())
        markers = re.findall(r"<!-- (.*?) -->", above.group(1)) if above else []
        line = text.count("\n", 0, fence.start()) + 1
        block = Block(fence.group(1), fence.group(2), line, markers)
        if block.marked("output") is not None:
            found[-1].output = block.text
        found.append(block)
    return found


@dataclass
class Command:
    """One command of a block of console, with what the page shows of its output."""

    line: str
    shown: str
    number: int  # its line in the page


def commands(block: Block) -> list[Command]:
    """The commands of a block: what follows `$ `, to the end of its quotes and continued lines."""
    found: list[Command] = []
    lines = block.text.splitlines()
    while lines:
        line = lines.pop(0)
        number = block.line + block.text.count("\n") - len(lines)
        if not line.startswith("$ "):
            if not found:
                raise ValueError(f"line {number}: a block of console begins with '$ ': {line}")
            found[-1].shown += line + "\n"
            continue
        command = line[2:]
        while lines and not complete(command):
            command += "\n" + lines.pop(0)
        found.append(Command(command, "", number))
    if block.output is not None:
        found[-1].shown += block.output
    return found


def complete(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quotation that is not closed
        return False
    return not command.endswith("\\")


def normal(text: str) -> list[str]:
    """Lines of output without what may differ between two runs: numbers (a time with its unit,
    which follows the number), widths of columns, and the folders of paths."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"[^\s'\"(]*/(?=[^\s/])", "", line)
        line = _TIME.sub("T", line)
        line = re.sub(rf"(?<![A-Za-z_\d.]){_NUMBER}", "N", line)
        lines.append(" ".join(line.split()))
    return [line for line in lines if line]


def like(shown: str, printed: str) -> bool:
    """Whether a line is the one shown, where ` ... ` in the latter stands for any text."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", shown))
    return re.fullmatch(pattern, printed) is not None


def difference(shown: str, printed: str, *, exact: bool = False, some: bool = False) -> str | None:
    """What is wrong with what a page shows, or None.

    `exact`: to the letter. `some`: each shown line is among the printed ones, in their order. Else
    the lines are the same but for numbers, widths and folders, and `...` stands for any lines.
    """
    if exact:
        return None if shown == printed else f"not to the letter:\n{shown}\n--- printed:\n{printed}"
    left = normal(printed)
    free = some
    for line in normal(shown):
        if line == "...":
            free = True
            continue
        ahead = next((i for i, one in enumerate(left) if like(line, one)), None)
        if ahead is None or (ahead and not free):
            return f"shown: {line}\nprinted next: {left[0] if left else '(nothing)'}\n{printed}"
        del left[: ahead + 1]
        free = some
    if left and not free:
        return f"printed, and not shown: {left[0]}\n{printed}"
    return None
