# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan program``: exit codes, signals, tracebacks and workers are those of plain python."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from helpers.like_python import SCRIPT, WAYS, assert_same, run, start
from helpers.lines import expect_line


@pytest.fixture(params=WAYS)
def way(request):
    if request.param == "nvspan" and not SCRIPT.exists():
        pytest.skip("the nvspan command is not installed beside this python")
    return request.param


ENDINGS = {
    "exit_0": "raise SystemExit",
    "exit_int": "import sys; sys.exit(41)",
    "exit_text": "import sys; sys.exit('what it says')",
    "exit_none": "import sys; sys.exit(None)",
    "exit_object": "import sys; sys.exit(['a', 1])",
    "exit_big": "import sys; sys.exit(2**40)",
    "exit_chained": "try: 1/0\nexcept Exception: raise SystemExit(3)",
    "exception": "def f(x):\n    return 1 / x\nf(0)",
    "own_exception": "class Own(Exception): pass\nraise Own('x')",
    "base_exception": "class Own(BaseException): pass\nraise Own('x')",
    "chained": "try:\n    1/0\nexcept Exception as e:\n    raise KeyError('x') from e",
    "context": "try:\n    1/0\nexcept Exception:\n    {}['x']",
    "syntax_later": "exec('1 +')",
    "syntax": "x = 1\nif x\n    y = 2\n",
    "indentation": "if 1:\nx",
    "import_error": "import no_such_module",
    "deep_import": "import failing",
    "generator_exit": "raise GeneratorExit",
    "interrupt": "raise KeyboardInterrupt",
    "interrupt_hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0])\n"
                      "raise KeyboardInterrupt('x')",
    "hook": "import sys, traceback\ndef hook(t, v, tb):\n"
            "    print('hook', t, v, traceback.extract_tb(tb), v.__traceback__ is tb, tb is "
            "sys.last_traceback, sys.last_value is v, sys.last_type is t)\n"
            "sys.excepthook = hook\n1/0",
    "bad_hook": "import sys\ndef hook(*a): raise ValueError('from the hook')\n"
                "sys.excepthook = hook\n1/0",
    "hook_exits": "import sys\nsys.excepthook = lambda *a: sys.exit(9)\n1/0",
    "no_hook": "import sys\ndel sys.excepthook\n1/0",
    "no_stderr": "import sys\nsys.stderr = None\n1/0",
    "atexit": "import atexit, sys\natexit.register(print, 'first')\n"
              "atexit.register(print, 'second')\n"
              "atexit.register(lambda: print(sys.exc_info(), sys.last_type))\n1/0",
    "atexit_raises": "import atexit, os\natexit.register(os.listdir, 'no_such_folder')",
    "atexit_hook": "import atexit, sys\natexit.register(lambda: print(sys.excepthook is "
                   "sys.__excepthook__))\nraise KeyboardInterrupt",
    "thread": "import threading, time\ndef work():\n    time.sleep(.2); print('thread')\n"
              "threading.Thread(target=work).start()\nprint('main')\n1/0",
    "thread_raises": "import threading\nt = threading.Thread(target=lambda: 1/0, name='w')\n"
                     "t.start(); t.join()",
    "finalizer": "class A:\n    def __del__(self): print('gone')\na = A()\nb = [a]\nb.append(b)",
    "finalizer_raising": "class A:\n    def __del__(self): print('gone')\na = A()\n1/0",
    "os_exit": "import os; os._exit(5)",
    "abort": "import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.abort()",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "handled": "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(7))\n"
               "os.kill(os.getpid(), signal.SIGTERM)",
    "warning": "import warnings\nwarnings.warn('here')\nwarnings.warn('old', DeprecationWarning)",
    "group": "import sys\nif sys.version_info >= (3, 11):\n"
             "    raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
    "notes": "e = ValueError('x')\ngetattr(e, 'add_note', print)('a note')\nraise e",
    "async": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    1/0\n"
             "asyncio.run(f())",
    "main_module": "import pickle\nclass A: pass\nprint(pickle.dumps(A(), 0), A.__module__)\n"
                   "print(type(pickle.loads(pickle.dumps(A()))) is A)",
    "closed_stdout": "import sys\nprint('x')\nsys.stdout.close()",
    "quiet_sigpipe": "import signal; print(signal.getsignal(signal.SIGPIPE))",
}  # fmt: skip


# Every ending of a script, and those in which the forms differ.
IN_EVERY_FORM = ("exit_text", "exception", "chained", "syntax", "interrupt", "hook", "main_module")
CASES = [
    *(("python -m nvspan", "script", name) for name in ENDINGS),
    *(("python -m nvspan", form, name)
      for form in ("module", "code", "stdin", "folder") for name in IN_EVERY_FORM),
    *(("nvspan", form, name) for form in ("script", "module") for name in IN_EVERY_FORM),
]  # fmt: skip


@pytest.mark.parametrize(("way", "form", "name"), CASES, indirect=["way"])
def test_how_a_program_ends(way, tmp_path, form, name):
    text = ENDINGS[name]
    (tmp_path / "failing.py").write_text("def f():\n    raise OSError(2, 'no')\nf()\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(text)
    (tmp_path / "app" / "failing.py").write_text("def f():\n    raise OSError(2, 'no')\nf()\n")
    (tmp_path / "program.py").write_text(text)
    arguments = {"script": ["program.py"], "module": ["-m", "program"], "code": ["-c", text],
                 "stdin": ["-"], "folder": ["app"]}[form]  # fmt: skip
    assert_same(way, arguments, cwd=tmp_path, stdin=text if form == "stdin" else "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["no_such_file.py"], ["no/such/file"], ["/no_such_file.py", "x"], ["empty"], ["secret.py"],
        ["-m", "no_such_module"], ["-m", "no_such.module"], ["-m", "package"], ["-m", "module.py"],
        ["-m", ".x"], ["-m", "bad"], ["bad.zip"], ["bad.pyc"],
    ],
    ids=lambda arguments: arguments[-1].replace("/", "."),
)  # fmt: skip
def test_what_cannot_be_run(way, tmp_path, arguments):
    (tmp_path / "empty").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "module.py").write_text("")
    (tmp_path / "bad.py").write_text("x = (\n")
    (tmp_path / "bad.zip").write_text("PK this is no archive\n")
    (tmp_path / "bad.pyc").write_bytes(b"\0" * 32)
    (tmp_path / "secret.py").symlink_to("secret.py")
    done = assert_same(way, arguments, cwd=tmp_path)
    assert done.returncode != 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_from_outside(way, tmp_path, number):
    # Blocked until it has come, so that it is always the same line that it interrupts.
    (tmp_path / "waits.py").write_text(
        "import signal, sys, time\n"
        "number = int(sys.argv[1])\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {number})\n"
        "print('ready', flush=True)\n"
        "while number not in signal.sigpending(): time.sleep(.01)\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})\n"
    )
    ended = []
    for each in ("python", way):
        process = start(each, ["waits.py", int(number)], cwd=tmp_path, stdin=subprocess.DEVNULL)
        expect_line(process)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        ended.append((process.returncode, stdout, stderr))
    assert ended[0] == ended[1]
    assert ended[0][0] == -number


WORKERS = """
import multiprocessing, os, sys
def square(x):
    return x * x, __name__, os.path.basename(sys.argv[0]), len(sys.path)
class Point:
    def __init__(self, x): self.x = x
def echo(point):
    return type(point).__module__, point.x
print("top", __name__, flush=True)  # a pool kills its workers, whose output may wait
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print(pool.map(square, [2, 3]), pool.map(echo, [Point(5)]))
"""


# Not spawned workers of a folder or package: there plain python imports no __main__ at all.
@pytest.mark.parametrize(
    ("form", "method"),
    [("script", "spawn"), ("script", "forkserver"), ("script", "fork"), ("module", "spawn"),
     ("folder", "fork"), ("package", "fork")],
)  # fmt: skip
def test_worker_processes(way, tmp_path, form, method):
    (tmp_path / "program.py").write_text(WORKERS)
    for name in ("app", "package"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__main__.py").write_text(WORKERS)
    arguments = {"script": ["program.py"], "module": ["-m", "program"], "folder": ["app"],
                 "package": ["-m", "package"]}[form]  # fmt: skip
    flags = ("-W", "ignore::DeprecationWarning")
    done = assert_same(way, [*arguments, method], flags=flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_standard_input_stays_the_programs_own(way, tmp_path):
    (tmp_path / "reads.py").write_text(
        "print(input(), input())\nimport sys; print(sys.stdin.read())"
    )
    assert_same(way, ["reads.py"], cwd=tmp_path, stdin="a\nb\nrest\nmore")


def test_it_stays_interactive_when_asked_to(tmp_path):
    (tmp_path / "program.py").write_text("x = 5\n")
    done = run(
        "python -m nvspan", ["program.py"], flags=("-i", "-q"), cwd=tmp_path, stdin="print(x)\n"
    )
    assert done.stdout.splitlines() == ["5"]
    assert done.returncode == 0


def test_a_debugger_finds_the_program(way, tmp_path):
    (tmp_path / "program.py").write_text("value = 7\nbreakpoint()\nprint('end')\n")
    arguments = ["program.py"]
    done = assert_same(way, arguments, cwd=tmp_path, stdin="p value\nc\n")
    assert "7" in done.stdout


SIGNALS = """
import signal, sys
from nvspan.cli import main
numbers = [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]
signal.signal(signal.SIGUSR1, print)
before = [signal.getsignal(number) for number in numbers]
main(["record", "-o", "run.nvspan", "-c", "import nvspan; nvspan.mark('here')"])
print(before == [signal.getsignal(number) for number in numbers])
"""


def test_a_command_that_is_called_leaves_the_signals_of_its_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SIGNALS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
