# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Who imports whom in the Python package: _core <- API <- report <- cli, and nothing foreign."""

from __future__ import annotations

import ast
import sys

import pytest

from helpers.tree import ROOT, relative

PACKAGE = ROOT / "python" / "nvspan"
MODULES = [pytest.param(path, id=relative(path)) for path in sorted(PACKAGE.rglob("*.py*"))
           if path.suffix in {".py", ".pyi"}]  # fmt: skip
LAYERS = {"_core": 0, "export": 2, "nsight": 2, "report": 2, "cli": 3, "__main__": 3}
API_LAYER = 1
# file -> what it may import inside a function, where the user asked for it
LAZY = {
    "colors.py": {"matplotlib"},
    "counters.py": {"numpy"},
    "payloads.py": {"numpy"},
    "report/render.py": {"rich"},
    "export/tables.py": {"pyarrow"},
    "torch/_loop/auto.py": {"torch"},
    "torch/_compile/register.py": {"torch"},
    "torch/_modules/modules.py": {"torch"},
    "torch/_modules/ops.py": {"torch"},
    "torch/_loop/transfers.py": {"torch"},
    "torch/nvtx.py": {"torch"},
}
# file -> what it may import at once: pytest itself loads its plugin, torch._dynamo the others
EAGER = {
    "pytest_plugin.py": {"pytest"},
    "torch/_compile/bodies.py": {"torch"},
    "torch/_compile/objects.py": {"torch"},
    "torch/_compile/ranges.py": {"torch"},
}


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module):
    parts = module.split(".")
    return LAYERS.get(parts[1], API_LAYER) if len(parts) > 1 else API_LAYER


def imports(path):
    """(module, is it imported when the file is) of each import statement."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = module_name(path).split(".")
    if path.stem != "__init__":
        package = package[:-1]
    lazy = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lazy.update(id(child) for child in ast.walk(node))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            lazy.update(id(child) for child in ast.walk(node))
    for node in ast.walk(tree):
        eager = id(node) not in lazy
        if isinstance(node, ast.Import):
            yield from ((alias.name, eager) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, node.module] if node.module else base)
            if name in {"nvspan", ""}:
                yield from ((f"nvspan.{alias.name}", eager) for alias in node.names)
            else:
                yield name, eager


@pytest.mark.parametrize("path", MODULES)
def test_a_module_imports_no_higher_layer(path):
    if path.suffix == ".pyi":
        return  # a stub may name the types of any layer
    own = layer_of(module_name(path))
    higher = [name for name, _ in imports(path)
              if name.split(".")[0] == "nvspan" and layer_of(name) > own]  # fmt: skip
    assert higher == []


@pytest.mark.parametrize("path", MODULES)
def test_a_module_imports_nothing_foreign(path):
    known = set(sys.stdlib_module_names) | {"nvspan", "__future__"}
    if path.suffix == ".pyi":
        known.add("typing_extensions")  # a stub is read by the type checker alone
    lazy = LAZY.get(path.relative_to(PACKAGE).as_posix(), set())
    known |= EAGER.get(path.relative_to(PACKAGE).as_posix(), set())
    foreign = {(name, eager) for name, eager in imports(path) if name.split(".")[0] not in known}
    assert {name for name, eager in foreign if eager} == set()
    assert {name.split(".")[0] for name, _ in foreign} <= lazy


@pytest.mark.parametrize("path", MODULES)
def test_annotations_are_not_evaluated(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    features = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    }
    annotated = any(
        getattr(node, "annotation", None) or getattr(node, "returns", None)
        for node in ast.walk(tree)
    )
    assert not annotated or "annotations" in features or path.suffix == ".pyi"
