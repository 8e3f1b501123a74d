# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan program``: what the program finds is what plain python gives it."""

from __future__ import annotations

import os
import py_compile
import sys
import zipfile

import pytest

from helpers.like_python import SCRIPT, WAYS, assert_same, run

SHOW = r"""
import sys, os, atexit
import __main__
def show(when):
    names = dict(vars(__main__))
    print(when, list(names))
    for name in ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__",
                 "__cached__", "__annotations__", "__builtins__"):
        print(" ", name, __import__("re").sub(" at 0x[0-9a-f]+", "", repr(names.get(name, "none"))))
show("main")
print(__name__, __main__ is sys.modules["__main__"], show.__module__)
print(sys.argv, sys.flags, sys.warnoptions, sys._xoptions)
print(sys.path, sys.path_importer_cache.get(__file__ if "__file__" in globals() else "", 0))
print(sys.stdin.isatty(), repr(sys.stdin.read()))
atexit.register(show, "exit")
"""


@pytest.fixture(params=WAYS)
def way(request):
    if request.param == "nvspan" and not SCRIPT.exists():
        pytest.skip("the nvspan command is not installed beside this python")
    return request.param


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "program.py").write_text(SHOW)
    (tmp_path / "program.py").write_text(SHOW)
    (tmp_path / "link.py").symlink_to("sub/program.py")
    (tmp_path / "no_suffix").write_text(SHOW)
    (tmp_path / "trace").write_text("print('the script')\n")
    package = tmp_path / "package"
    package.mkdir()
    for name in ("__init__", "__main__", "module"):
        (package / f"{name}.py").write_text(SHOW if name != "__init__" else "")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "compiled.pyc"))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["program.py"], ["program.py", "--profile", "-x", "--", "-m", "trace", ""],
        ["./program.py", "a"], ["sub/../program.py"], ["sub/program.py"], ["link.py"],
        ["no_suffix"], ["compiled.pyc", "x"], ["package"], ["./package", "-h"], ["app.zip", "x"],
        ["-m", "program", "-m", "x"], ["-mprogram"], ["-m", "package", "a"],
        ["-m", "package.module"], ["-m", "package.__main__"], ["-c", SHOW],
        ["-c", SHOW, "-c", "x"], ["-c" + SHOW, "x"],
        ["-", "a", "b"], ["./trace"],
    ],
    ids=lambda arguments: "_".join(arguments)[:40].replace("\n", "_").replace("/", "."),
)  # fmt: skip
@pytest.mark.parametrize("flags", [(), ("-I", "-X", "dev"), ("-O", "-W", "ignore", "-B")], ids=str)
def test_what_a_program_finds(folder, arguments, flags):
    stdin = SHOW if arguments[0] == "-" else "some input\n"
    done = assert_same(None, arguments, flags=flags, cwd=folder, stdin=stdin)
    if "-I" not in flags or (arguments[0] != "-m" and not arguments[0].startswith("-mp")):
        assert done.returncode == 0
        assert "exit" in done.stdout or arguments == ["./trace"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P came with Python 3.11")
@pytest.mark.parametrize("arguments", [["sub/program.py"], ["package"], ["-m", "json.tool"],
                                       ["-c", SHOW]], ids=lambda a: a[-1][:12].strip())  # fmt: skip
@pytest.mark.parametrize("how", ["-P", "PYTHONSAFEPATH"])
def test_a_safe_path_stays_safe(way, folder, arguments, how):
    flags, env = (("-P",), None) if how == "-P" else ((), {"PYTHONSAFEPATH": "1"})
    assert_same(way, arguments, flags=flags, env=env, cwd=folder, stdin="{}")


def test_an_absolute_script_is_run_from_anywhere(way, folder):
    assert_same(way, [folder / "sub" / "program.py", "x"], cwd="/")


def test_the_interpreters_environment_is_honoured(way, folder):
    env = {"PYTHONPATH": str(folder / "sub"), "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "1"}
    assert_same(way, ["program.py"], env=env, cwd=folder)


def test_files_beside_the_program_replace_no_module_of_ours(way, folder):
    # All that the command itself imports, and more: none of them may be taken from here.
    for name in ("argparse", "ast", "linecache", "textwrap", "nvspan", "typing", "marshal"):
        (folder / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    (folder / "quiet.py").write_text("import sys; print(sys.path[0])\n")
    if way == "nvspan":
        assert_same(way, ["quiet.py"], cwd=folder)
        assert_same(way, ["-c", "import sys; print(sys.path[0])"], cwd=folder)
    else:
        (folder / "nvspan.py").unlink()  # python itself looks there for -m
        assert_same(way, ["quiet.py"], cwd=folder)


@pytest.mark.parametrize("name", ["trace", "doctor"])
def test_a_command_wins_over_a_file_of_its_name(way, folder, name):
    (folder / name).write_text("print('the script')\n")
    done = run(way, [name, "--help"], cwd=folder)
    assert f"usage: nvspan {name}" in done.stdout
    assert run(way, [f"./{name}"], cwd=folder).stdout == "the script\n"
    assert run(way, ["--", name], cwd=folder).stdout == "the script\n"


def test_futures_of_ours_do_not_reach_the_program(way, folder):
    code = "def f(x: 1 + 1): pass\nprint(f.__annotations__)"
    (folder / "futures.py").write_text(code)
    assert assert_same(way, ["futures.py"], cwd=folder).stdout == "{'x': 2}\n"
    assert assert_same(way, ["-c", code], cwd=folder).stdout == "{'x': 2}\n"


def test_without_anything_there_is_help(way):
    done = run(way, [])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: nvspan ")
    assert run(way, ["--help"]).stdout == run(way, ["-h"]).stdout == done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--no-such-option", "x.py"], "unknown option: --no-such-option"),
        (["--profile"], "no program to run"),
        (["--as-nvtx", "--"], "no program to run"),
        (["-m"], "argument -m: expected one argument"),
        (["-c"], "argument -c: expected one argument"),
    ],
)
def test_a_command_line_that_makes_no_sense(way, arguments, problem):
    done = run(way, arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"nvspan: error: {problem}\n"


def test_few_modules_are_there_before_the_program(way, folder):
    code = "import sys; print(*sorted(sys.modules))"
    plain = set(run("python", ["-c", code]).stdout.split())
    ours = set(run(way, ["-c", code]).stdout.split())
    extra = {name for name in ours - plain if not name.startswith("nvspan")}
    if way == "python -m nvspan":
        assert extra & {"argparse", "typing", "dataclasses", "subprocess", "json"} == set()
    assert os.sep not in "".join(extra)
