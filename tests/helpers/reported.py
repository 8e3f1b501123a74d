# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real programs for the tests of reports, and the command that reads them."""

from __future__ import annotations

import atexit
import functools
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import preloaded
from helpers.recorded import record_command
from helpers.traced import clean_environment, python

# Two threads, two domains, nesting across them, every simple payload, spans that overlap and one
# that another thread ends, marks, a range that never ends and a pop of nothing.
PROGRAM = """
import threading, time
import nvspan

data = nvspan.get_domain("data")

def work(n):
    for i in range(n):
        with nvspan.annotate("outer", domain="data", color="#ff00ff00", category="io", payload=i):
            with nvspan.annotate("inner", payload=i / 2):
                time.sleep(0.0002)
            nvspan.mark("tick", domain="data", payload=-1)

thread = threading.Thread(target=work, args=(5,), name="loader")
thread.start()
thread.join()
work(3)
a = nvspan.start_range("span a")
b = nvspan.start_range("span b")
c = nvspan.start_range("handed over", domain="data")
nvspan.end_range(a)
nvspan.end_range(b)
ender = threading.Thread(target=nvspan.end_range, args=(c,))
ender.start()
ender.join()
"""
LOOSE_ENDS = """
nvspan.pop_range(domain="data")
nvspan.push_range("never closed")
"""


@functools.cache
def recording_of(
    code: str = PROGRAM + LOOSE_ENDS,
    *arguments: str,
    mode: str = "full",
    env: tuple[tuple[str, str | None], ...] = (),
) -> str:
    """The path of a recording of a program, made once for all tests."""
    folder = tempfile.mkdtemp(prefix="nvspan-report-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, "-c", code, *arguments]
    return record_command(command, mode=mode, env=dict(env), folder=Path(folder)).files[0]


# The commands that read recordings; the others start programs, which find what a new process has.
READING = ("diff", "explain", "export", "import", "kernels", "modules", "ranks", "report", "stats",
           "steps")  # fmt: skip
_FORKED = {*READING, "view", "ncu"}  # ncu starts its programs by commands of their own
_PACKAGES = ("answers", "cli", "export", "imports", "nsight", "ranks", "recording", "report")


def nvspan_done(*arguments: object, cwd=None, **variables) -> subprocess.CompletedProcess[str]:
    """The nvspan command in a process of its own. One that reads runs where all that it needs is
    imported, which takes five times as long as its work. `variables` are of its environment."""
    words = ["-m", "nvspan", *map(str, arguments)]
    environment = clean_environment(variables)
    if arguments and arguments[0] in _FORKED:
        modules = [f"nvspan.{name}.*" for name in _PACKAGES]
        server = preloaded.server(*modules, environment=environment)
        if server.starts_as(environment):
            done = server.run(words, environment, 120, cwd=cwd)
            streams = [io.TextIOWrapper(io.BytesIO(said)).read()
                       for said in (done.stdout, done.stderr)]  # fmt: skip
            return subprocess.CompletedProcess(words, done.returncode, *streams)
    return python(*words, env=variables, cwd=cwd)


def run_nvspan(*arguments: object, check: int | None = 0, cwd=None) -> subprocess.CompletedProcess:
    """The nvspan command in a process of its own; `check` is the exit code that it must have."""
    done = nvspan_done(*arguments, cwd=cwd)
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done
