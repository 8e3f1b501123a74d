# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes under nvspan's recorder that run, hang or are killed while a test looks at them."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nvspan
from helpers.lines import expect_line
from helpers.traced import LIBRARY, clean_environment
from nvspan import launch, recorder

# A program that stays in two ranges.
PARKED = """
import nvspan, time
with nvspan.annotate("step"), nvspan.annotate("{name}", domain="{domain}"):
    print("ready", flush=True)
    time.sleep(600)
"""


# The line of `nvspan where` about processes whose lines are not sampled.
NO_LINES = "lines  off; start the program with NVSPAN_RECORD_LINES=armed to see where Python is\n"


class Running:
    """A process that says with a line of output when it has got where it is looked at."""

    def __init__(self, process: subprocess.Popen[str], file: Path) -> None:
        self.process = process
        self.pid = process.pid
        self.file = file

    def wait_for(self, word: str = "ready") -> None:
        expect_line(self.process, word)

    def say(self) -> None:
        """Lets a program go on that waits for a line of input."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextmanager
def running(folder: Path, command: list[str] | str, mode: str = "armed", *, rank=None, until=True,
            domains=None, extra=None):  # fmt: skip
    """A `Running`: a command, or Python code; killed at the end."""
    if isinstance(command, str):
        command = [sys.executable, "-c", command]
    name = f"run-{'x' if rank is None else rank}.nvspan"
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(folder / name, mode, domains)
    environment.update(extra or {})
    if rank is not None:
        environment["RANK"] = str(rank)
    process = subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    found = Running(process, folder / name)
    try:
        if until:
            found.wait_for()
        yield found
    finally:
        found.end()


def paths(snapshot: nvspan.live.snapshot.Snapshot) -> dict[str, str]:
    """Of a snapshot of one process: the open ranges of each thread, by the thread's name."""
    from nvspan.live.model import path_text

    (process,) = snapshot.processes
    return {thread.name: path_text(thread.ranges) for thread in process.threads}


def wait_until(condition, what: str, seconds: float = 30) -> None:
    """Looks again until something is so, which another process brings about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def essential(text: str, pids: dict[int, str]) -> str:
    """The text of ``nvspan where`` without what differs from run to run."""
    for pid, name in pids.items():
        text = re.sub(rf"\b{pid}\b", name, text)
    text = re.sub(r"on \S+:", "on HOST:", text)
    text = re.sub(r"(\d+(\.\d)? (ms|s|min))\b", "TIME", text)
    text = re.sub(r"(at least |>=)TIME", "TIME", text)
    text = re.sub(r"(?<=\S) {2,}(?=\S)", "  ", text)  # columns are as wide as their times
    return re.sub(r", \d+% of a core", ", busy", text)
