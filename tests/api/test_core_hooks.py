# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension module is told of Python: its hooks, torch's functions, sources of streams."""

from __future__ import annotations

import re
import subprocess
import sys
from types import ModuleType

import pytest

import nvspan
from helpers.tree import ROOT
from nvspan import _core
from nvspan._adapters import hooks

GIVEN = re.findall(
    r"^        (\w+)=", (ROOT / "python/nvspan/_adapters/hooks.py").read_text(), re.M
)


@pytest.fixture
def given(monkeypatch):
    """The hooks that the package hands over, by name."""
    seen = {}
    with monkeypatch.context() as patch:
        patch.setattr(_core, "set_hooks", lambda **kwargs: seen.update(kwargs))
        hooks.hand_over()
    return seen


def test_the_package_hands_every_hook_over(given):
    assert list(given) == GIVEN
    _core.set_hooks(**given)


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


def test_missing_hooks_are_named():
    (line,) = said_by("said(core.set_hooks, decorate=print, scalar=print)")
    expected = ", ".join(repr(name) for name in GIVEN if name not in {"decorate", "scalar"})
    assert line == f"TypeError set_hooks() needs these keyword arguments too: {expected}"


def test_without_hooks_a_call_that_needs_one_says_so():
    lines = said_by("said(core.mark, 'x', color=(1, 0, 0)); said(core.mark, 'x', color='red')")
    assert lines == ["RuntimeError nvspan is not fully imported"]


def test_a_loader_that_fails_is_asked_again():
    lines = said_by(
        "asked = []\n"
        "def load():\n"
        "    asked.append(1)\n"
        "    if len(asked) == 1: raise OSError('no file')\n"
        "core.set_hook_loader(load)\n"
        "for _ in range(2): said(core.mark, 'x', color=(1, 0, 0))\n"
        "said(core.set_hook_loader, 3)\n"
    )
    assert lines == [
        "OSError no file",
        "RuntimeError set_hooks() was not called",
        "TypeError load must be callable, not 3",
    ]


def test_one_hook_may_be_replaced(given):
    class Told(Exception):
        pass

    def color(value):
        raise Told(value)

    _core.set_hooks(**given)
    _core.set_hooks(color_from_object=color)
    try:
        with pytest.raises(Told, match="rosa"):
            nvspan.mark("x", color="rosa")
    finally:
        _core.set_hooks(**given)


def test_an_unknown_hook_is_named(given):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'paint'"):
        _core.set_hooks(**given, paint=print)


def test_a_hook_is_given_by_keyword(given):
    with pytest.raises(TypeError, match=r"no positional arguments \(1 given\)"):
        _core.set_hooks(print, **given)


def test_a_hook_is_callable(given):
    given["generate"] = 3
    with pytest.raises(TypeError, match=r"^generate must be callable, not 3$"):
        _core.set_hooks(**given)


def test_what_was_refused_changes_nothing(given):
    given["domain_handle"] = 3
    with pytest.raises(TypeError):
        _core.set_hooks(**given)
    assert nvspan.get_domain("hooks").handle.name == "hooks"


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
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True,
                         text=True, check=True).stdout  # fmt: skip
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
