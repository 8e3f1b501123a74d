# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""install_as_nvtx and --as-nvtx: third-party code that imports nvtx gets nvspan."""

from __future__ import annotations

import sys

import pytest

from helpers.events import plain
from helpers.traced import needs_library, run_command, run_plain, run_traced

# A package as others write them: it imports nvtx in every way there is.
LIBRARY = {
    "__init__.py": "from third import by_name, by_parts, by_optional, half_private",
    "by_name.py": "import nvtx\n@nvtx.annotate('by_name', domain='third')\ndef work(): pass\n",
    "by_parts.py": "from nvtx import annotate, mark, get_domain as domain\nimport nvtx as n\n"
                   "from nvtx import colors\nfrom nvtx.colors import color_to_hex\n"
                   "def work():\n"
                   "    with annotate('by_parts', color=color_to_hex('red')): mark('m')\n"
                   "    assert n.colors is colors and colors.color_to_hex is color_to_hex\n",
    "by_optional.py": "try:\n    from nvtx._lib import writer\nexcept ImportError as error:\n"
                      "    writer = None; reason = str(error)\n",
    "half_private.py": "import nvtx.nvtx\nimport nvtx._lib.lib as lib\nimport nvtx._lib\n"
                       "from nvtx._lib.lib import NvtxWarning\n"
                       "import importlib\n"
                       "assert importlib.import_module('nvtx.nvtx') is nvtx.nvtx\n"
                       "def work():\n    nvtx.nvtx.push_range('half'); nvtx.pop_range()\n"
                       "    assert lib is nvtx._lib.lib\n",
}  # fmt: skip
PROGRAM = """
import third
third.by_name.work(); third.by_parts.work(); third.half_private.work()
print(third.by_optional.reason)
import nvspan, nvtx
assert nvtx.annotate is nvspan.annotate and third.half_private.NvtxWarning is nvspan.NvspanWarning
"""
EVENTS = [
    "push [third] 'by_name' depth=0",
    "pop [third] 'by_name' depth=0",
    "push [] 'by_parts' depth=0",
    "mark [] 'm'",
    "pop [] 'by_parts' depth=0",
    "push [] 'half' depth=0",
    "pop [] 'half' depth=0",
]
REASON = (
    "nvspan has no nvtx._lib.writer yet, and stands in place of the nvtx package here "
    "(install_as_nvtx or --as-nvtx)"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "third").mkdir()
    for name, text in LIBRARY.items():
        (tmp_path / "third" / name).write_text(text)
    return tmp_path


@needs_library
def test_a_package_that_imports_nvtx_in_every_way(folder):
    (folder / "program.py").write_text("import nvspan; nvspan.install_as_nvtx()\n" + PROGRAM)
    done = run_traced(folder / "program.py")
    assert plain(done.events) == EVENTS
    assert done.stdout == f"{REASON}\n"


@needs_library
def test_the_command_line_option(folder):
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "nvspan", "--as-nvtx", str(folder / "program.py")]
    done = run_command(command)
    assert plain(done.events) == EVENTS
    assert done.stdout == f"{REASON}\n"


WORKERS = """
import sys
from nvtx import annotate
def work(x):
    with annotate(f"work {x}"):
        return x, annotate.__module__
if __name__ == "__main__":
    import multiprocessing, subprocess
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, [1]), flush=True)
        pool.close(); pool.join()
    code = "import nvtx, nvtx.colors; nvtx.mark('other'); print(nvtx.annotate.__module__)"
    subprocess.run([sys.executable, "-c", code], check=True)
"""


@needs_library
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_below_have_it_too(tmp_path, method):
    (tmp_path / "program.py").write_text(WORKERS)
    command = [sys.executable, "-m", "nvspan", "--as-nvtx", str(tmp_path / "program.py"), method]
    done = run_command(command)
    assert done.stdout.split("\n") == ["[(1, 'nvspan')]", "nvspan", ""]
    assert plain(done.events) == ["push [] 'work 1' depth=0", "pop [] 'work 1' depth=0",
                                  "mark [] 'other'"]  # fmt: skip


def test_a_process_below_without_nvspan_gets_the_real_one(tmp_path):
    (tmp_path / "nvspan.py").write_text("raise ImportError('there is none')\n")
    (tmp_path / "nvtx.py").write_text("NAME = 'the real one'\n")
    code = (
        "import os, subprocess, sys\n"
        "env = dict(os.environ, PYTHONPATH=os.environ['PYTHONPATH'] + os.pathsep + sys.argv[1])\n"
        "command = [sys.executable, '-S', '-c', 'import nvtx; print(nvtx.NAME)']\n"
        "subprocess.run(command, env=env, check=True)\n"
    )
    command = [sys.executable, "-m", "nvspan", "--as-nvtx", "-c", code, str(tmp_path)]
    assert run_command(command, traced=False).stdout == "the real one\n"


def test_what_is_missing_says_so():
    done = run_plain("""
import importlib, sys
import nvspan
nvspan.install_as_nvtx()
import nvtx
def failure(code):
    try: exec(code)
    except Exception as error: print(type(error).__name__, error, sep=": ")
    else: print("no error:", code)
failure("nvtx._lib.writer"); failure("import nvtx._lib.writer")
failure("from nvtx._lib import writer"); failure("from nvtx._metadata import PayloadSchemaKey")
failure("nvtx.no_such_name"); failure("from nvtx import no_such_name"); failure("import nvtx.none")
print("nvtx.writer" in sys.modules, nvtx.numpy_dtype is nvspan.numpy_dtype)
print(nvtx.writer.Session is importlib.import_module("nvspan.writer").Session)
from nvtx import writer
from nvtx.writer import Session
print(writer is nvtx.writer, writer.Session is Session)
""")
    end = "yet, and stands in place of the nvtx package here (install_as_nvtx or --as-nvtx)"
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        f"AttributeError: nvspan has no nvtx._lib.writer {end}",
        f"ImportError: nvspan has no nvtx._lib.writer {end}",
        f"ImportError: nvspan has no nvtx._lib.writer {end}",
        f"ImportError: nvspan has no nvtx._metadata.PayloadSchemaKey {end}",
        "AttributeError: module 'nvtx' (nvspan) has no attribute 'no_such_name'",
    ]
    assert lines[5].startswith("ImportError: cannot import name 'no_such_name' from 'nvtx'")
    assert lines[6:] == [
        "ModuleNotFoundError: No module named 'nvtx.none'",
        "False True",
        "True",
        "True True",
    ]


PUBLIC = """
import importlib, sys, types
def names(module):
    return sorted(name for name, value in vars(module).items()
                  if not name.startswith("_") and not isinstance(value, types.ModuleType)
                  and getattr(value, "__module__", "nvtx").startswith(("nvtx", "nvspan")))
def members():
    return {m: names(importlib.import_module(m)) for m in ("nvtx", "nvtx.nvtx", "nvtx._lib.lib")}
real = members()
for name in [name for name in sys.modules if name.split(".")[0] == "nvtx"]: del sys.modules[name]
import nvspan; nvspan.install_as_nvtx()
for module, found in real.items():
    ours = importlib.import_module(module)
    for name in found:
        try: getattr(ours, name)
        except AttributeError as error: print(module, name, "no " + module + "." in str(error))
"""


def test_every_name_of_the_real_one_is_there_or_named_as_missing():
    pytest.importorskip("nvtx")
    lines = run_plain(PUBLIC).stdout.splitlines()
    missing = {tuple(line.split()[:2]) for line in lines}
    # Those whose error does not say that nvspan lacks them.
    silent = [line for line in lines if line.endswith("False")]
    assert {name for module, name in missing if module == "nvtx"} == set()
    assert silent == []


def test_importlib_finds_it():
    done = run_plain("""
import importlib, importlib.util, nvspan
nvspan.install_as_nvtx()
for _ in range(2):
    spec = importlib.util.find_spec("nvtx")
    print(spec.name, spec.origin == nvspan.__file__, importlib.util.find_spec("nvtx._lib.writer"),
          importlib.util.find_spec("nvtx.colors").name)
    import nvtx
print(nvtx.__name__, nvtx.__spec__.name, nvtx.__file__ == nvspan.__file__, nvtx.__path__)
print(importlib.reload(nvtx) is nvtx, nvtx.colors.__name__, nvtx.__version__ == nvspan.__version__)
""")
    assert done.stdout.splitlines() == [
        *["nvtx True None nvtx.colors"] * 2, "nvtx nvtx True []", "True nvtx.colors True",
    ]  # fmt: skip


def test_doing_it_twice_and_in_many_threads_does_it_once():
    done = run_plain("""
import sys, threading, nvspan
found = []
def work():
    nvspan.install_as_nvtx()
    import nvtx
    found.append(nvtx)
threads = [threading.Thread(target=work) for _ in range(20)]
for t in threads: t.start()
for t in threads: t.join()
nvspan.install_as_nvtx()
import nvtx
finders = [type(f).__name__ for f in sys.meta_path].count("_Finder")
print(len({id(n) for n in found}), found[0] is nvtx, finders)
""")
    assert done.stdout == "1 True 1\n"
    assert done.stderr == ""


def test_doing_it_again_while_a_thread_imports_it():
    done = run_plain("""
import sys, nvspan
nvspan.install_as_nvtx()
from nvspan._compat import in_place
load = in_place._Loader.exec_module
def meanwhile(self, module):
    nvspan.install_as_nvtx()
    load(self, module)
in_place._Loader.exec_module = meanwhile
import nvtx
print(sys.modules["nvtx"] is nvtx, sys.modules["nvtx.colors"] is nvtx.colors)
""")
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_after_the_real_one_it_warns_and_serves_later_imports():
    pytest.importorskip("nvtx")
    done = run_plain("""
import types, sys, warnings
early = types.ModuleType("early"); exec("from nvtx import annotate", vars(early))
sys.modules["early"] = early
import nvtx
old = nvtx.annotate
import nvspan
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    nvspan.install_as_nvtx()
    nvspan.install_as_nvtx()
print(len(said), said[0].category.__name__, said[0].filename)
print(said[0].message)
import nvtx
print(nvtx.annotate is nvspan.annotate, old is nvspan.annotate)
with old("still works"): pass
""")
    lines = done.stdout.splitlines()
    assert lines[0] == "1 NvspanWarning <string>"
    assert "was imported before install_as_nvtx() was called" in lines[1]
    assert "keep what they took from it: __main__, early." in lines[1]
    assert lines[2] == "True False"


def test_pickles_go_between_both_names():
    done = run_plain("""
import pickle, nvspan
nvspan.install_as_nvtx()
import nvtx
copy = pickle.loads(pickle.dumps(nvtx.annotate("x", domain="d")))
found = pickle.loads(b"cnvtx.nvtx\\nannotate\\n.")
print(copy.init_args[0], type(copy) is nvspan.annotate, found is type(copy))
""")
    assert done.stdout == "x True True\n"


def test_the_inner_profile_has_the_defaults_of_the_real_one():
    done = run_plain("""
import nvspan
nvspan.install_as_nvtx()
from nvtx._lib.profiler import Profile
print(isinstance(Profile(), nvspan.Profile), repr(Profile()) == repr(nvspan.Profile(True, True)))
""")
    assert done.stdout == "True True\n"
