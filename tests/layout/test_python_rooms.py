# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The rooms of python/nvspan and the arrows between them: rooms.toml says them, the imports prove
them. An import within a function counts, and so does one by a string."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from pathlib import Path

import pytest

from helpers.tree import ROOT, circle, cpp_files, read

tomllib = pytest.importorskip("tomllib", reason="the table is read by CPython 3.11 and newer")

PACKAGE = ROOT / "python" / "nvspan"
MOST_FILES = 13
MOST_LINES = 500
# What users import by name lies in the root, and nothing else does.
PUBLIC = {
    "__init__", "__main__", "_core", "_reader", "checking", "colors", "counters", "device",
    "doctor", "launch", "notebook", "nvtx", "payloads", "profiler", "pytest_plugin", "recorder",
    "testing", "tracing",
}  # fmt: skip
EXTENSIONS = {"nvspan._core", "nvspan._reader"}
# file -> why it imports modules whose names it computes
COMPUTED = {
    "_compat/in_place.py": "gives a module of ours to whoever imports one of nvtx",
    "_doctor/process.py": "imports what the user names, in a process of its own",
    "_compat/__init__.py": "stands for modules that are loaded when they are used",
}
# file -> what it may import inside a function, where the user asked for it
LAZY = {
    "colors.py": {"matplotlib"},
    "counters.py": {"numpy"},
    "payloads.py": {"numpy"},
    "export/tables.py": {"pyarrow"},
    "notebook.py": {"IPython"},
    "nsight/results/module_reader.py": {"ncu_report"},
    "nsight/results/result.py": {"pandas", "pyarrow"},
    "recording/frame/__init__.py": {"pandas", "polars", "pyarrow"},
    "recording/table.py": {"pandas", "polars", "pyarrow"},
    "ranks/paths.py": {"fsspec"},
    "cli/live/top.py": {"rich"},
    "live/top/screen.py": {"rich"},
    "report/render.py": {"rich"},
    "torch/_compile/register.py": {"torch"},
    "torch/_loop/auto.py": {"torch"},
    "torch/_loop/transfers.py": {"torch"},
    "torch/_modules/modules.py": {"torch"},
    "torch/_modules/ops.py": {"torch"},
    "torch/_modules/warmup.py": {"torch"},
    "torch/nvtx.py": {"torch"},
    "cli/watch/metrics.py": {"prometheus_client"},
    "watch/prometheus.py": {"prometheus_client"},
    "writer/domain.py": {"numpy"},
    "writer/layout.py": {"numpy"},
    "writer/library.py": {"numpy"},
    "writer/recording.py": {"numpy"},
    "writer/stream.py": {"numpy"},
}
# file -> what it may import at once: pytest itself loads its plugin, torch._dynamo the others
EAGER = {
    "pytest_plugin.py": {"pytest"},
    "torch/_compile/bodies.py": {"torch"},
    "torch/_compile/common.py": {"torch"},
    "torch/_compile/functions.py": {"torch"},
    "torch/_compile/objects.py": {"torch"},
    "torch/_compile/ranges.py": {"torch"},
    "torch/_compile/steps.py": {"torch"},
}


def key(path):
    return path.relative_to(PACKAGE).as_posix()


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def files():
    return sorted(path for path in PACKAGE.rglob("*.py*") if path.suffix in {".py", ".pyi"})


@functools.cache
def paths():
    """{module: its file}"""
    return {module_name(path): path for path in files() if path.suffix == ".py"}


@functools.cache
def table():
    text = (Path(__file__).parent / "rooms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["python"]


@functools.cache
def tree_of(path):
    return ast.parse(read(path))


def room_of(module):
    """A folder is a room; each module of the root is one of its own."""
    path = paths().get(module)
    if path is None or path.parent == PACKAGE:
        return module
    return ".".join(path.parent.relative_to(PACKAGE.parent).parts)


def is_import_by_name(node):
    if not isinstance(node, ast.Call):
        return False
    called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
    return called in {"import_module", "__import__"}


@functools.cache
def imports(path):
    """(module, is it imported when the file is) of each import, by a statement or by a string;
    those for type checkers left out."""
    return list(find_imports(path))


def find_imports(path):
    modules = paths().keys() | EXTENSIONS
    todo = [(tree_of(path), True)]
    for node, eager in todo:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += [(child, eager) for child in [node.test, *node.orelse]]
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            eager = False
        todo += [(child, eager) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.Import):
            yield from ((alias.name, eager) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{key(path)} imports by dots"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module, eager
        elif is_import_by_name(node) and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value, eager


@functools.cache
def uses(path):
    return {name for name, _ in imports(path) if name.split(".")[0] == "nvspan"}


@functools.cache
def arrows():
    """{room: {room that it imports: the files that do}}, each room once."""
    found = {room_of(module): {} for module in paths()}
    for module, path in paths().items():
        for name in uses(path):
            if room_of(name) != room_of(module):
                found[room_of(module)].setdefault(room_of(name), []).append(key(path))
    return found


def test_the_table_names_every_room():
    assert sorted(table()) == sorted(arrows())
    assert {
        room for entry in table().values() for room in entry["uses"]
    } <= table().keys() | EXTENSIONS


def test_rooms_use_what_the_table_says():
    wrong = {
        f"{room} -> {other}": files
        for room, others in arrows().items()
        for other, files in others.items()
        if other not in table()[room]["uses"]
    }
    assert wrong == {}


def test_the_table_says_no_arrow_that_is_gone():
    found = arrows()
    assert [
        f"{room} -> {other}"
        for room, entry in table().items()
        for other in entry["uses"]
        if other not in found[room]
    ] == []


def test_rooms_close_no_circle():
    assert circle({room: entry["uses"] for room, entry in table().items()}) == []


def test_files_close_no_circle():
    """A file that imports another of its own package does not import the package's __init__."""
    assert circle({module: uses(path) - {module} for module, path in paths().items()}) == []


def test_modules_whose_names_are_computed():
    computing = {
        key(path)
        for path in paths().values()
        for node in ast.walk(tree_of(path))
        if is_import_by_name(node) and not isinstance(node.args[0], ast.Constant)
    }
    assert computing == COMPUTED.keys()


def test_what_cpp_imports_by_name_is_there():
    text = "".join(read(path) for path in cpp_files("src/bindings"))
    named = set(re.findall(r'(?:call_python|PyImport_ImportModule)\("(nvspan[\w.]*)"', text))
    assert named <= paths().keys()
    calls = re.findall(r'call_python\("(nvspan[\w.]*)", "(\w+)"', text)
    missing = [call for call in calls if not hasattr(importlib.import_module(call[0]), call[1])]
    assert missing == []


def test_the_root_holds_what_users_import_by_name():
    assert {path.stem for path in files() if path.parent == PACKAGE} == PUBLIC


def test_a_room_is_small_and_has_a_door():
    rooms = {}
    for path in paths().values():
        if path.parent != PACKAGE:
            rooms.setdefault(path.parent, []).extend([path] if path.stem != "__init__" else [])
    assert {key(room): len(files) for room, files in rooms.items() if len(files) > MOST_FILES} == {}
    doors = [ast.get_docstring(tree_of(room / "__init__.py")) for room in rooms]
    assert all(doors)


def test_files_are_short_enough_to_read():
    lengths = {key(path): len(read(path).splitlines()) for path in paths().values()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_modules_import_nothing_foreign():
    known = set(sys.stdlib_module_names) | {"nvspan", "nvtx", "__future__"}
    wrong = {}
    for path in paths().values():
        eagerly = EAGER.get(key(path), set())
        foreign = {
            (name, eager)
            for name, eager in imports(path)
            if name.split(".")[0] not in known | eagerly
        }
        found = {name for name, eager in foreign if eager}
        found |= {name.split(".")[0] for name, _ in foreign} - LAZY.get(key(path), set())
        if found:
            wrong[key(path)] = found
    assert wrong == {}


def test_annotations_are_not_evaluated():
    def evaluates(tree):
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
        return annotated and "annotations" not in features

    assert [key(path) for path in paths().values() if evaluates(tree_of(path))] == []


def test_stubs_can_be_parsed():
    for path in files():
        if path.suffix == ".pyi":
            tree_of(path)
