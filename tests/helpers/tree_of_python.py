# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of python/nvspan and their imports, read from their source."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from helpers.tree import ROOT, read

PACKAGE = ROOT / "python" / "nvspan"
EXTENSIONS = {"nvspan._core", "nvspan._lines", "nvspan._reader"}
_LAZY = re.compile(r"nvspan[\w.]*:\w+")  # what nvspan._lazy imports: "module:attribute"


def key(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@functools.cache
def files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py*") if path.suffix in {".py", ".pyi"})


@functools.cache
def modules() -> dict[str, Path]:
    """{module: its file}"""
    return {module_name(path): path for path in files() if path.suffix == ".py"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(read(path))


def doc_of(path: Path) -> str | None:
    return ast.get_docstring(tree_of(path))


def is_import_by_name(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
    return called in {"import_module", "__import__"}


@functools.cache
def imports(path: Path) -> list[tuple[str, str]]:
    """(module, when) of each import, by a statement or by a string; `when` is "at once", "later"
    for one in a function, or "for types"."""
    return list(_find_imports(path))


def _find_imports(path: Path) -> Iterator[tuple[str, str]]:
    known = modules().keys() | EXTENSIONS
    todo: list[tuple[ast.AST, str]] = [(tree_of(path), "at once")]
    for node, when in todo:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += [(child, "for types") for child in node.body]
            todo += [(child, when) for child in node.orelse]
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and when == "at once":
            when = "later"
        todo += [(child, when) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.Import):
            yield from ((alias.name, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{key(path)} imports by dots"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else str(node.module), when
        elif is_import_by_name(node) and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value, when
        elif isinstance(node, ast.Constant) and _LAZY.fullmatch(str(node.value)):
            yield node.value.partition(":")[0], "later"


@functools.cache
def uses(path: Path) -> set[str]:
    """The modules of the package that a file imports, for types too."""
    return {name for name, _ in imports(path) if name.split(".")[0] == "nvspan"}
