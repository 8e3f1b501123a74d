# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The include rules of the C++ sources, proved from their text: no compiler is needed."""

from __future__ import annotations

import re

from helpers.tree import ROOT, cpp_code, cpp_files, includes, relative

PYTHON_HEADER = "src/bindings/support/py.hpp"
PYBIND11_ROOMS = ("src/bindings/module/", "src/bindings/reader/")
NVTX_LAYERS = {"annotate", "inject", "nvtx"}


def layer_of(path):
    return path.relative_to(ROOT / "src").parts[0]


def project_includes(path):
    return [name[1:-1] for name in includes(path) if name.startswith('"')]


def calls(pattern, paths):
    """{file: what of its code matches}, files without a match left out."""
    found = {relative(path): re.findall(pattern, cpp_code(path)) for path in paths}
    return {name: matches for name, matches in found.items() if matches}


def test_project_includes_are_spelt_from_the_root():
    wrong = [
        (relative(path), name)
        for path in cpp_files()
        for name in project_includes(path)
        if ".." in name.split("/") or not (ROOT / "src" / name).is_file()
    ]
    assert wrong == []


def test_a_source_includes_its_own_header_first():
    wrong = []
    for path in cpp_files():
        header = path.with_suffix(".hpp")
        # in the bindings Python's header has to come before any other
        first = [name for name in project_includes(path) if name != "bindings/support/py.hpp"][:1]
        own = header.relative_to(ROOT / "src").as_posix()
        if path.suffix == ".cpp" and header.exists() and first != [own]:
            wrong.append(relative(path))
    assert wrong == []


def test_one_header_names_python():
    named = {relative(path) for path in cpp_files() if "<Python.h>" in includes(path)}
    assert named <= {PYTHON_HEADER}


def test_python_is_not_reached_below_the_bindings():
    below = [path for path in cpp_files() if layer_of(path) != "bindings"]
    assert calls(r"\bPy[A-Z]\w*|\bpybind11\b", below) == {}


def test_one_header_gives_the_gil_back_and_takes_it():
    """So that there is one place to look at for what happens where a thread cannot have it."""
    taking = (
        r"\bPyEval_(?:Save|Restore|Acquire|Release)\w*|\bPyGILState_(?:Ensure|Release)"
        r"|\bPy_(?:BEGIN|END|BLOCK|UNBLOCK)_(?:ALLOW_)?THREADS|\bgil_scoped_\w+|\bcall_guard"
    )
    assert calls(taking, cpp_files()).keys() == {PYTHON_HEADER}


def test_threads_are_held_in_every_extension_module():
    """A frame of a module that is linked otherwise would be unwound without the GIL."""
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    modules = re.findall(r"pybind11_add_module\((\w+)", build)
    assert modules == re.findall(r"^ *nvspan_hold_unwound_threads\((\w+)\)", build, re.MULTILINE)


def test_pybind11_stays_where_speed_does_not_matter():
    users = [
        relative(path)
        for path in cpp_files()
        if any(name.startswith("<pybind11/") for name in includes(path))
    ]
    assert [user for user in users if not user.startswith(PYBIND11_ROOMS)] == []


def test_nvtx_headers_stay_in_the_layers_that_speak_nvtx():
    users = {
        layer_of(path)
        for path in cpp_files()
        if any(name[1:].startswith(("nvtx3/", "nvToolsExt")) for name in includes(path))
    }
    assert users <= NVTX_LAYERS


def test_no_cuda_header():
    users = [
        relative(path)
        for path in cpp_files()
        if any(re.match(r'["<]cuda(?!/)', name) for name in includes(path))
    ]
    assert users == []


def test_the_injection_library_calls_no_nvtx_function():
    its = [path for path in cpp_files() if layer_of(path) in {"inject", "record", "trace"}]
    assert calls(r"(?<![\w.>:])nvtx[A-Z]\w*\s*\(", its) == {}


def test_no_call_into_python_by_a_format():
    """The format "O" spreads a tuple over the arguments; call_method() of py.hpp does not."""
    call = r"\b_?(?:PyObject|PyEval)_(?:CallMethod|CallFunction)(?:_SizeT|Id)?\s*\("
    assert calls(call, cpp_files()) == {}
