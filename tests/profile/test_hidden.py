# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The standard library and the import machinery in a profile: hidden, or shown where asked for."""

from __future__ import annotations

import json
import sys

import pytest

import nvspan
from helpers.calls import shown
from helpers.reported import run_nvspan
from helpers.traced import needs_library, run_command, run_traced

pytestmark = needs_library

CODE = """
import nvspan, json, threading, functools
def leaf(x): return x
def key(x): return leaf(-x)
@functools.lru_cache
def cached(x): return leaf(x)
def default(x): return leaf(1)
def work():
    json.dumps({"a": object()}, default=default, indent=1)
    functools.reduce(lambda a, b: leaf(a), [1, 2])
    cached(1); cached(1)
profile = nvspan.Profile(linenos=False, hide_stdlib=True%s)
with profile:
    work()
    thread = threading.Thread(target=key, args=(1,)); thread.start(); thread.join()
"""
OWN = "work(default(leaf) <lambda>(leaf) cached(leaf)) key(leaf)"


def test_what_the_library_calls_is_shown_and_the_library_is_not():
    traced = run_traced(CODE % "")
    assert traced.stderr == ""
    assert shown(traced.events) == OWN


def test_patterns_of_what_to_include_decide():
    found = shown(run_traced(CODE % ", include=['json', 'key']").events)
    assert found.startswith("dumps(")
    assert found.endswith(" key")
    assert "leaf" not in found
    assert shown(run_traced(CODE % ", exclude='leaf'").events) == OWN.replace("(leaf)", "")


def test_a_profile_says_what_it_hides():
    assert "hide_stdlib=True" in repr(nvspan.Profile(hide_stdlib=True))
    assert "hide_stdlib=False" in repr(nvspan.Profile())


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("from package import part\n")
    (folder / "package" / "part.py").write_text("import email.message\ndef f(): pass\n")
    (folder / "main.py").write_text(
        "import package, sched\npackage.part.f()\nsched.scheduler().empty()\n"
    )
    return folder / "main.py"


def ranges(*words: object) -> list[str]:
    command = [sys.executable, "-m", "nvspan", *map(str, words)]
    done = run_command(command)
    assert done.stderr == ""
    return [event["message"] for event in done.of_kind("push")]


def test_imports_have_the_module_and_nothing_of_the_machinery(program):
    names = ranges("--profile", program)
    own = ["main.py:1(<module>)", "package/__init__.py:1(<module>)", "part.py:1(<module>)"]
    assert names[:3] == own
    assert "email/__init__.py:1(<module>)" in names
    assert "sched.py:1(<module>)" in names
    assert "part.py:2(f)" in names
    assert not [name for name in names if "frozen importlib" in name or "(empty)" in name]
    assert not [name for name in names if name.startswith(("message.py", "charset.py"))]


FINDER = "def find_spec(*arguments): pass\ndef other(): pass\n"


@pytest.mark.parametrize(
    ("module", "hidden"),
    [("__editable___x_finder", True), ("_editable_skbc_x", True), ("_x_editable_loader", True),
     ("ordinary", False)],
)  # fmt: skip
def test_finders_of_editable_installs_are_machinery(tmp_path, module, hidden):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / f"{module}.py").write_text(FINDER)
    (tmp_path / "main.py").write_text(
        f"import sys\nsys.path.append({str(tmp_path / 'site-packages')!r})\nimport {module}\n"
        f"sys.meta_path.insert(0, {module})\nimport sched\n"
    )
    names = ranges("--profile", tmp_path / "main.py")
    assert f"{module}.py:1(<module>)" in names
    assert (f"{module}.py:1(find_spec)" not in names) == hidden


def test_options_of_the_command(program):
    everything = ranges("--profile", "--show-stdlib", program)
    assert "sched.py:72(empty)" in everything or any("(empty)" in name for name in everything)
    assert any("importlib._bootstrap" in name for name in everything)
    assert ranges("--profile", "--include", "package", "--exclude=part.py", program) == [
        "package/__init__.py:1(<module>)"
    ]


@pytest.mark.parametrize("command", [[], ["record"], ["trace"]])
def test_patterns_without_a_profile_are_refused(command, program):
    done = run_nvspan(*command, "--include", "x", program, check=2)
    assert "--include can be used only with --profile" in done.stderr
    done = run_nvspan(*command, "--show-stdlib", program, check=2)
    assert "--show-stdlib can be used only with --profile" in done.stderr


def test_a_recorded_profile_is_a_table_by_self_time(program, tmp_path):
    path = tmp_path / "run.nvspan"
    done = run_nvspan("record", "-o", path, "--profile", "--include=*.py", "--exclude", "lib*",
                      program)  # fmt: skip
    table = run_nvspan("stats", path).stdout.splitlines()
    assert "nvtx.py:" not in done.stderr + "\n".join(table)
    assert any(line.endswith("  package/__init__.py:1(<module>)") for line in table)
    rows = json.loads(run_nvspan("stats", path, "--format", "json").stdout)["rows"]
    times = [row["self"] for row in rows]
    assert times == sorted(times, reverse=True)
    assert len(rows) > 60 or table[0].split()[0] == "calls"
    by_total = json.loads(run_nvspan("stats", path, "--sort", "total", "--format", "json").stdout)
    totals = [row["total"] for row in by_total["rows"]]
    assert totals == sorted(totals, reverse=True)


MANY = """
import nvspan
names = {}
for i in range(5000):
    exec(compile(f"def f{i}(): pass", f"made.py", "exec"), names)
functions = [names[f"f{i}"] for i in range(5000)]
with nvspan.Profile():
    for function in functions: function()
"""


def test_many_names_are_no_warning():
    traced = run_traced(MANY)
    assert traced.stderr == ""
    assert len(traced.of_kind("push")) == 5000
