# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan doctor``: what it finds, in words and as JSON, and that nothing can stop it."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from helpers.compile import make
from helpers.events import plain
from helpers.script import script
from helpers.traced import LIBRARY, needs_library, nvspan_command, run_command
from helpers.tree import ROOT, cpp_files, read
from nvspan import doctor
from nvspan._doctor import tools
from nvspan._doctor.probes import VARIABLES

NAMES = ["versions", "environment", "injection", "tool", "self-test", "clock", "lines",
         "libraries", "driver", "device", "nsys", "ncu", "permissions", "toolkit",
         "packages"]  # fmt: skip


def run(*arguments, **options):
    return nvspan_command("doctor", *arguments, **options)


def report(*arguments, **options):
    done = run("--json", *arguments, **options)
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["ok"] else 1)
    return found


def finding(found, name):
    [one] = [one for one in found["findings"] if one["name"] == name]
    return one


def problems(found):
    return [(one["name"], one["text"]) for one in found["findings"] if one["status"] == "problem"]


@needs_library
def test_where_all_is_well():
    found = report()
    assert (found["ok"], problems(found)) == (True, [])
    names = [one["name"] for one in found["findings"]]  # a machine may have several of one kind
    assert list(dict.fromkeys(names)) == NAMES
    assert finding(found, "self-test")["details"] == {
        "library": LIBRARY,
        "sent": ["push outer", "mark inside", "pop outer", "start span", "end span"],
        "received": ["push outer", "mark inside", "pop outer", "start span", "end span"],
    }
    assert finding(found, "tool")["details"] == {"tool": None, "library": "", "active": False}
    core = [name for name in finding(found, "libraries")["details"]["libraries"] if "_core" in name]
    assert len(core) == 1
    assert "No tool is attached" in found["verdict"]
    assert found["next"][0] == "to see annotations at once: nvspan trace program.py"


@needs_library
def test_in_words():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    named = [line[2:15].strip() for line in done.stdout.splitlines() if line[2:3].strip()]
    assert [name for name in named if name in NAMES] == NAMES
    long = [line for line in done.stdout.splitlines() if len(line) > 110]
    # A path is one word, however deep the tests are installed.
    assert [line for line in long if len(line.split()) > 1] == []


@needs_library
def test_under_a_tool():
    done = run_command([sys.executable, "-m", "nvspan", "doctor", "--json"])
    found = json.loads(done.stdout)
    assert finding(found, "tool")["details"]["tool"] == "nvspan"
    assert found["verdict"] == "Annotations work here, and nvspan gets them."
    assert plain(done.events) == [
        "push [nvspan.doctor] 'outer' depth=0",
        "mark [nvspan.doctor] 'inside'",
        "pop [nvspan.doctor] 'outer' depth=0",
        "start #1 [nvspan.doctor] 'span'",
        "end #1 [nvspan.doctor] 'span'",
    ]


VARIABLE = "NVTX_INJECTION64_PATH"


@needs_library
@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"NVTX_DISABLE": "1"},
         [("environment", "NVTX_DISABLE=1 switches all annotations off")]),
        ({"NVSPAN_LEVEL": "x:y"}, [("environment", "NVSPAN_LEVEL: cannot read 'x:y'")]),
        ({"NVSPAN_DOMAINS": "+"}, [("environment", "NVSPAN_DOMAINS: cannot read '+'")]),
        ({VARIABLE: "/no/such.so"},
         [("injection", f"{VARIABLE}=/no/such.so: there is no such file"),
          ("tool", "/no/such.so is configured but does not listen")]),
        ({VARIABLE: "/"},
         [("injection", f"{VARIABLE}=/: it is a directory"),
          ("tool", "/ is configured but does not listen")]),
        ({"NVTX_INJECTION32_PATH": "/x.so"},
         [("injection", f"NVTX_INJECTION32_PATH is set, but this Python looks at {VARIABLE}")]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)  # fmt: skip
def test_what_the_environment_spoils(env, expected):
    found = report(env=env)
    assert problems(found) == expected
    assert "problem" in found["verdict"]
    assert len(found["next"]) == len(expected)


@needs_library
def test_a_variable_nobody_reads():
    found = report(env={"NVSPAN_DOMIAN": "x"})
    assert found["ok"]
    assert "is NVSPAN_DOMIAN misspelt?" in found["next"]


def test_every_variable_that_nvspan_reads_is_known():
    files = [*(ROOT / "python" / "nvspan").rglob("*.py"), *cpp_files("src")]
    named = {name for file in files for name in re.findall(r'"(NVSPAN_[A-Z_]+)"', read(file))}
    # But tables of exports, and what nvspan trace tells its own program.
    assert named - {"NVSPAN_LOSSES", "NVSPAN_COUNTERS", "NVSPAN_UNTRACED"} == VARIABLES


@needs_library
@pytest.mark.parametrize("content", [b"no library", b"\x7fELF" + b"\1" * 60])
def test_a_tool_that_is_none(tmp_path, content):
    (tmp_path / "tool.so").write_bytes(content)
    found = report(env={VARIABLE: str(tmp_path / "tool.so")})
    assert [name for name, _ in problems(found)] == ["injection", "tool"]


TOOLS = {
    "crashes": ("#include <stdlib.h>\n"
                "extern \"C\" int InitializeInjectionNvtx2(void*) { abort(); }",
                "a program that annotates does not survive: killed by SIGABRT"),
    "hangs": ("#include <unistd.h>\nextern \"C\" int InitializeInjectionNvtx2(void*) "
              "{ for (;;) sleep(1); }",
              "a program that annotates does not survive: no answer after 3 s"),
    "refuses": ("extern \"C\" int InitializeInjectionNvtx2(void*) { return 0; }",
                "tool.so is configured but does not listen"),
}  # fmt: skip


@needs_library
@pytest.mark.parametrize("kind", TOOLS)
def test_a_tool_that_misbehaves(tmp_path, kind):
    source, expected = TOOLS[kind]
    (tmp_path / "tool.cpp").write_text(source)
    library = make(tmp_path / "tool.so", [tmp_path / "tool.cpp"], "-shared", "-fPIC")
    found = report("--timeout", "3", env={VARIABLE: str(library)})
    [(name, text)] = problems(found)
    assert name == "tool"
    assert text.endswith(expected)


@needs_library
def test_a_tool_that_takes_the_place_of_ours(tmp_path):
    # As nsys does: whatever the environment says, the library of its own is loaded.
    site = tmp_path / "sitecustomize.py"
    (tmp_path / "mine.cpp").write_text("""
extern "C" int InitializeInjectionNvtx2(void* (*get)(unsigned)) {
  typedef int (*fill)(int, void****, unsigned*);
  void* const* callbacks = static_cast<void* const*>(get(1));
  void*** table = nullptr; unsigned size = 0;
  reinterpret_cast<fill>(callbacks[1])(5, &table, &size);
  *table[1] = reinterpret_cast<void*>(+[](void*, const void*) {});
  return 1;
}
""")
    library = make(tmp_path / "libmine.so", [tmp_path / "mine.cpp"], "-shared", "-fPIC")
    site.write_text(f"import os; os.environ[{VARIABLE!r}] = {str(library)!r}\n")
    found = report(env={"PYTHONPATH": str(tmp_path)})
    one = finding(found, "self-test")
    if one["status"] == "ok":
        pytest.skip("this python has a sitecustomize of its own")
    assert one["text"] == "cannot run: mine takes the place of every other tool"
    assert finding(found, "tool")["details"]["tool"] == "mine"
    assert found["ok"]


def test_importing_what_it_is_told(tmp_path):
    (tmp_path / "own_module.py").write_text("print('noise'); import nvspan\n")
    one = finding(report("--import", "own_module", "--import", "json", cwd=tmp_path), "libraries")
    assert one["details"]["modules"] == ["own_module", "json"]
    found = report("--import", "no_such_module")
    assert problems(found) == [
        ("libraries", "cannot import no_such_module: ModuleNotFoundError: No module named "
                      "'no_such_module'")
    ]  # fmt: skip


def test_tools_are_found(tmp_path):
    said = {
        "nsys": "NVIDIA Nsight Systems version 2025.5.1.121-255136380782v0",
        "ncu": "NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 3)",
    }
    for name, text in said.items():
        script(tmp_path / name, f"#!/bin/sh\ncat <<E\n{text}\nE\n")
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NVSPAN_NSYS": None,
           "NVSPAN_NCU": None}  # fmt: skip
    found = report(env=env)
    assert finding(found, "nsys")["details"]["path"] == str(tmp_path / "nsys")
    assert finding(found, "nsys")["details"]["version"] == "2025.5.1.121"
    assert finding(found, "ncu")["details"]["version"] == "2025.3.1.0"
    assert "to see them in Nsight Systems: nsys profile -t nvtx python program.py" in found["next"]


def test_the_ncu_that_a_variable_names_comes_first(tmp_path):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        script(tmp_path / folder / "ncu", "#!/bin/sh\necho Version 2024.1.1.0\n")
    env = {"PATH": f"{tmp_path / 'first'}{os.pathsep}{os.environ['PATH']}",
           "NVSPAN_NCU": str(tmp_path / "second" / "ncu"), "NVSPAN_STEPS": "1:2"}  # fmt: skip
    found = report(env=env)
    assert finding(found, "ncu")["details"]["path"] == str(tmp_path / "second" / "ncu")
    assert "reads no such variable" not in str(found)


def test_a_tool_that_never_answers_for_its_version(tmp_path):
    script(tmp_path / "nsys", "#!/bin/sh\nexec sleep 100\n")
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NVSPAN_NSYS": None}
    one = finding(report("--timeout", "4", env=env), "nsys")
    assert one["details"]["version"] is None


def test_a_probe_that_fails_or_hangs_is_a_finding(monkeypatch):
    import threading

    from nvspan._doctor import probes

    forever = threading.Event()

    def fails():
        raise RuntimeError("broken")

    monkeypatch.setattr(probes, "probes", lambda *_: [("a", fails), ("b", forever.wait)])
    found = doctor.collect(timeout=0.1)
    forever.set()
    assert [(one["name"], one["status"], one["text"]) for one in found["findings"]] == [
        ("a", "note", "the check failed: RuntimeError: broken"),
        ("b", "note", "no answer after 1.1 s"),
    ]
    assert found["ok"]


def test_collecting_decides_nothing_in_this_process():
    code = (
        "import nvspan, sys\nfrom nvspan import doctor\n"
        "doctor.collect()\nprint(nvspan._core.decided(), 'ctypes' in sys.modules)"
    )
    done = run_command([sys.executable, "-c", code], traced=False)
    assert done.stdout == "False False\n"


def test_toolkit_of_a_folder(tmp_path, monkeypatch):
    (tmp_path / "version.json").write_text('{"cuda" : {"name": "x", "version" : "12.4.1"}}')
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert tools.cuda_toolkit() == (str(tmp_path), "12.4.1")


def test_usage():
    assert run("--help").stdout.startswith("usage: nvspan doctor")
    assert run("--timeout", "0").returncode == 2
    assert run("--extra").returncode == 2
