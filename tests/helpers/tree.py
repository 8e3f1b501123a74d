# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The source tree, for tests that read it instead of running it."""

from __future__ import annotations

import functools
import graphlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_DIRS = ("src", "python", "tests", "docs", "examples", "benchmarks", "cmake", ".ci")
TEXT_SUFFIXES = {
    ".cpp", ".hpp", ".h", ".map", ".py", ".pyi", ".pyx", ".md", ".sh", ".toml", ".yaml", ".yml",
    ".txt", ".cmake", ".js", ".css", ".html",
}  # fmt: skip
CODE_SUFFIXES = {".cpp", ".hpp", ".h", ".py", ".pyi", ".pyx", ".sh"}
SKIPPED_DIRS = {"__pycache__", "_build", "build", "dist", "node_modules"}


@functools.cache
def text_files() -> tuple[Path, ...]:
    """Every text file of the project, built and hidden folders left out."""
    return tuple(_text_files())


def _text_files() -> Iterator[Path]:
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and (path.suffix in TEXT_SUFFIXES or path.name == "LICENSE"):
            yield path
    for name in SOURCE_DIRS:
        for path in sorted((ROOT / name).rglob("*")):
            parts = set(path.relative_to(ROOT).parts)
            if path.is_file() and not parts & SKIPPED_DIRS and is_text(path):
                yield path


def is_text(path: Path) -> bool:
    return path.suffix in TEXT_SUFFIXES or path == ROOT / ".ci/run"


def code_files() -> Iterator[Path]:
    for path in text_files():
        if path.suffix in CODE_SUFFIXES or path == ROOT / ".ci/run":
            yield path


@functools.cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def cpp_files(folder: str = "src") -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in {".cpp", ".hpp"}]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(<[^>\n]+>|"[^"\n]+")', re.MULTILINE)


@functools.cache
def includes(path: Path) -> list[str]:
    """The files that a C++ file includes, each with its quotes or angle brackets."""
    return _INCLUDE.findall(read(path))


_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)


@functools.cache
def cpp_code(path: Path) -> str:
    """A C++ file without its comments and the contents of its strings."""
    return _COMMENT_OR_STRING.sub(" ", read(path))


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The names of one circle of {name: names it uses}, or []."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []
