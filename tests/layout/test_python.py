# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the modules of python/nvspan: what they import, and when."""

from __future__ import annotations

import ast
import importlib
import re
import sys

from helpers.tree import cpp_files, read
from helpers.tree_of_python import PACKAGE, files, imports, is_import_by_name, key, modules, tree_of

# What users import by name lies in the root, with the results that they get, and nothing else does.
PUBLIC = """
    __init__ __main__ _core _lazy _lines _reader _result checking colors counters device doctor
    launch notebook nvtx payloads profiler pytest_plugin recorder testing tracing
"""
# file -> why it imports modules whose names it computes
COMPUTED = {
    "cli/__init__.py": "imports the one command that is run",
    "cli/export.py": "imports what writes the format that is asked for",
    "_compat/in_place.py": "gives a module of ours to whoever imports one of nvtx",
    "_lazy.py": "imports what tables of attributes name",
    "_doctor/process.py": "imports what the user names, in a process of its own",
    "_compat/__init__.py": "stands for modules that are loaded when they are used",
}
# foreign package -> the modules and rooms that may import it in a function, where the user asked
LATER = {
    "IPython": "notebook",
    "fsspec": "ranks.paths",
    "matplotlib": "colors",
    "numpy": "counters payloads writer",
    "pandas": "nsight.results.result recording.frame recording.table",
    "polars": "recording.frame recording.table",
    "prometheus_client": "cli.metrics watch.prometheus",
    "pyarrow": "export.tables nsight.results.result recording.frame recording.table",
    "sitecustomize": "_startup",
    "rich": "cli.top live.top.screen report.render",
    "torch": "torch",
}
# ... and those that may import it at once: pytest itself loads its plugin, torch._dynamo and
# `nvspan mcp` the others
AT_ONCE = {
    "mcp": "cli.mcp_server",
    "pydantic": "cli.mcp_server",
    "pytest": "pytest_plugin",
    "torch": "torch._compile",
}


def may_import(module, package, when):
    allowed = AT_ONCE if when == "at once" else LATER
    places = f"{allowed.get(package, '')} {AT_ONCE.get(package, '')}".split()
    return any(f"{module}.".startswith(f"nvspan.{place}.") for place in places)


def test_modules_import_nothing_foreign():
    known = set(sys.stdlib_module_names) | {"nvspan", "nvtx", "__future__"}
    wrong = {}
    for module, path in modules().items():
        for name, when in imports(path):
            package = name.split(".")[0]
            is_known = when == "for types" or package in known
            if not is_known and not may_import(module, package, when):
                wrong.setdefault(module, []).append((package, when))
    assert wrong == {}


def test_modules_whose_names_are_computed():
    computing = {
        key(path)
        for path in modules().values()
        for node in ast.walk(tree_of(path))
        if is_import_by_name(node) and not isinstance(node.args[0], ast.Constant)
    }
    assert computing == COMPUTED.keys()


def test_what_cpp_imports_by_name_is_there():
    text = "".join(read(path) for path in cpp_files("src/bindings"))
    named = set(re.findall(r'(?:call_python|PyImport_ImportModule)\("(nvspan[\w.]*)"', text))
    assert named <= modules().keys()
    calls = re.findall(r'call_python\("(nvspan[\w.]*)", "(\w+)"', text)
    missing = [call for call in calls if not hasattr(importlib.import_module(call[0]), call[1])]
    assert missing == []


def test_the_root_holds_what_users_import_by_name():
    assert {path.stem for path in files() if path.parent == PACKAGE} == set(PUBLIC.split())


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

    assert [key(path) for path in modules().values() if evaluates(tree_of(path))] == []


def test_stubs_can_be_parsed():
    for path in files():
        if path.suffix == ".pyi":
            tree_of(path)
