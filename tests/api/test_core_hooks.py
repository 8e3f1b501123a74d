# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension module is told of Python: its hooks, torch's functions, sources of streams."""

from __future__ import annotations

import re
import subprocess
import sys
from types import ModuleType

import pytest

from helpers.traced import python
from helpers.tree import ROOT
from nvspan import _core
from nvspan._adapters.hooks import HOOKS, load_hook

HEADER = (ROOT / "src/bindings/support/python_hooks.hpp").read_text()


def test_the_package_has_every_hook():
    assert list(HOOKS) == re.findall(r"^  X\((\w+)\)", HEADER, re.M)
    assert all(callable(load_hook(name)) for name in HOOKS)


ALONE = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("nvspan._core", {_core.__file__!r})
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
def said(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as error:
        print(type(error).__name__, error)
"""


def said_by(code):
    """What a program prints that has the extension module and not the package."""
    command = [sys.executable, "-c", ALONE + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_without_hooks_a_call_that_needs_one_says_so():
    lines = said_by("said(core.mark, 'x', color=(1, 0, 0)); said(core.mark, 'x', color='red')")
    assert lines == ["RuntimeError nvspan is not fully imported"]


def test_a_hook_is_loaded_by_name_until_it_is_there():
    lines = said_by(
        "loaded = [OSError('no file'), 3, lambda value: print(value) or 7]\n"
        "def load(name):\n"
        "    print('load', name)\n"
        "    found = loaded.pop(0)\n"
        "    if isinstance(found, OSError): raise found\n"
        "    return found\n"
        "core.set_hook_loader(load)\n"
        "for _ in range(4): said(core.mark, 'x', color=(1, 0, 0))\n"
        "said(core.set_hook_loader, 3)\n"
    )
    assert lines == [
        *["load color_from_object", "OSError no file"],
        *["load color_from_object", "TypeError color_from_object must be callable, not 3"],
        *["load color_from_object", "(1, 0, 0)", "(1, 0, 0)"],
        "TypeError load must be callable, not 3",
    ]


def test_missing_functions_of_torch_are_named():
    with pytest.raises(TypeError, match=r"too: 'tensor_type', .*'is_node_reached'$"):
        _core._set_torch_functions(compiler={})


def test_hooks_are_imported_when_they_are_called():
    code = (
        "import sys, nvspan\n"
        "lazy = ['nvspan._adapters.hooks', 'nvspan._decorate.dispatch', 'nvspan._decorate.codegen',"
        " 'nvspan._decorate.device', 'nvspan._decorate.payload_values', 'nvspan.torch']\n"
        "print([name for name in lazy if name in sys.modules])\n"
        "nvspan.annotate(lambda: 0)\n"
        "nvspan.mark('x', payload={1})\n"
        "print([name for name in lazy if name in sys.modules])\n"
    )
    out = python("-W", "ignore", "-c", code, check=True).stdout
    before, after = out.splitlines()
    assert before == "[]"
    assert "nvspan._decorate.dispatch" in after
    assert "nvspan._decorate.payload_values" in after


@pytest.fixture
def frameworks(monkeypatch):
    """Two frameworks, of which the first that has a stream is taken."""
    streams = {}
    for name in ("hookless_one", "hookless_two"):
        _core._add_stream_source(name, lambda name=name: streams[name])
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    return streams


@pytest.mark.parametrize(("first", "second", "handle"), [(77, 88, 77), (0, 88, 88), (0, 0, 0)])
def test_a_source_tells_the_current_stream(frameworks, first, second, handle):
    frameworks.update(hookless_one=first, hookless_two=second)
    assert _core._stream_target(None) == (handle, -1)


def test_a_framework_that_is_not_loaded_is_not_asked(frameworks, monkeypatch):
    monkeypatch.delitem(sys.modules, "hookless_one")
    frameworks.update(hookless_two=88)  # asking the first would raise
    assert _core._stream_target(None) == (88, -1)


def test_a_source_is_replaced_by_name(frameworks):
    _core._add_stream_source("hookless_one", lambda: 99)
    assert _core._stream_target(None) == (99, -1)


@pytest.mark.parametrize("arguments", [(), ("a",), (1, print), ("a", 1), ("a", print, 3)])
def test_a_source_is_a_name_and_a_function(arguments):
    with pytest.raises(TypeError, match="a module's name and a function"):
        _core._add_stream_source(*arguments)
