# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The include rules of the C++ sources, proved from their text: no compiler is needed."""

from __future__ import annotations

import re

from helpers.tree import ROOT, cpp_code, cpp_files, includes, relative

PYTHON_HEADER = "src/bindings/support/py.hpp"
PYBIND11_FILES = {
    "src/bindings/module/check_functions.cpp",
    "src/bindings/module/device_functions.cpp",
    "src/bindings/module/domain_functions.cpp",
    "src/bindings/module/module.hpp",
    "src/bindings/module/module.cpp",
    "src/bindings/module/process_functions.cpp",
    "src/bindings/reader/external_writer.cpp",
    "src/bindings/reader/external_writer.hpp",
    "src/bindings/reader/given/event_rows.hpp",
    "src/bindings/reader/given/given_column.hpp",
    "src/bindings/reader/given/given_payload.hpp",
    "src/bindings/reader/import/import_objects.cpp",
    "src/bindings/reader/import/import_objects.hpp",
    "src/bindings/reader/live/live_files.cpp",
    "src/bindings/reader/live/live_files.hpp",
    "src/bindings/reader/projection.cpp",
    "src/bindings/reader/ranks/rank_heat.cpp",
    "src/bindings/reader/ranks/rank_heat.hpp",
    "src/bindings/reader/ranks/rank_job.cpp",
    "src/bindings/reader/ranks/rank_job.hpp",
    "src/bindings/reader/ranks/rank_summary.cpp",
    "src/bindings/reader/ranks/rank_summary.hpp",
    "src/bindings/reader/import/trace_import.cpp",
    "src/bindings/reader/import/trace_import.hpp",
    "src/bindings/reader/reader_object.cpp",
    "src/bindings/reader/reader_object.hpp",
    "src/bindings/reader/stats_dict.cpp",
    "src/bindings/reader/watch/watch_object.cpp",
    "src/bindings/reader/watch/watch_object.hpp",
    "src/bindings/reader/values/column.cpp",
    "src/bindings/reader/values/column.hpp",
    "src/bindings/reader/values/methods.hpp",
    "src/bindings/reader/values/named_values.hpp",
    "src/bindings/reader/values/text.hpp",
    "src/bindings/module/torch_functions.cpp",
    "src/bindings/reader/module/module.cpp",
    "src/bindings/reader/steps.cpp",
    "src/bindings/reader/reports.cpp",
    "src/bindings/reader/reports.hpp",
}
NVTX_LAYERS = {"annotate", "inject", "nvtx"}


def layer_of(path):
    return path.relative_to(ROOT / "src").parts[0]


def project_includes(path):
    return [name[1:-1] for name in includes(path) if name.startswith('"')]


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
    reached = [
        relative(path)
        for path in cpp_files()
        if layer_of(path) != "bindings" and re.search(r"\bPy[A-Z]\w*|\bpybind11\b", cpp_code(path))
    ]
    assert reached == []


def test_one_header_gives_the_gil_back_and_takes_it():
    """So that there is one place to look at for what happens where a thread cannot have it."""
    taking = re.compile(
        r"\bPyEval_(?:Save|Restore|Acquire|Release)\w*|\bPyGILState_(?:Ensure|Release)"
        r"|\bPy_(?:BEGIN|END|BLOCK|UNBLOCK)_(?:ALLOW_)?THREADS|\bgil_scoped_\w+|\bcall_guard"
    )
    takers = {relative(path) for path in cpp_files() if taking.search(cpp_code(path))}
    assert takers == {PYTHON_HEADER}


def test_threads_are_held_in_every_extension_module():
    """A frame of a module that is linked otherwise would be unwound without the GIL."""
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    modules = re.findall(r"pybind11_add_module\((\w+)", build)
    assert modules == re.findall(r"^ *nvspan_hold_unwound_threads\((\w+)\)", build, re.MULTILINE)


def test_pybind11_stays_in_the_module_files():
    users = {
        relative(path)
        for path in cpp_files()
        if any(name.startswith("<pybind11/") for name in includes(path))
    }
    assert users <= PYBIND11_FILES


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
    call = re.compile(r"(?<![\w.>:])nvtx[A-Z]\w*\s*\(")
    calls = {
        relative(path): call.findall(cpp_code(path))
        for path in cpp_files()
        if layer_of(path) in {"inject", "record", "trace"}
    }
    assert {name: found for name, found in calls.items() if found} == {}


def test_no_call_into_python_by_a_format():
    """The format "O" spreads a tuple over the arguments; call_method() of py.hpp does not."""
    call = re.compile(r"\b_?(?:PyObject|PyEval)_(?:CallMethod|CallFunction)(?:_SizeT|Id)?\s*\(")
    calls = {relative(path): call.findall(cpp_code(path)) for path in cpp_files()}
    assert {name: found for name, found in calls.items() if found} == {}
