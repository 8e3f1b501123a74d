# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real programs for the tests of reports, and the command that reads them."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers.recorded import record_command
from helpers.traced import clean_environment

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
def recording_of(code: str = PROGRAM + LOOSE_ENDS, mode: str = "full") -> str:
    """The path of a recording of a program, made once for all tests."""
    folder = tempfile.mkdtemp(prefix="nvspan-report-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return record_command([sys.executable, "-c", code], mode=mode, folder=Path(folder)).files[0]


def run_nvspan(*arguments: object, check: int | None = 0, cwd=None) -> subprocess.CompletedProcess:
    """The nvspan command in a process of its own; `check` is the exit code that it must have."""
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", *map(str, arguments)], capture_output=True, text=True,
        env=clean_environment(), timeout=120, check=False, cwd=cwd, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done
