# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program with plain python and with ``nvspan``, to be compared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from helpers.traced import clean_environment

SCRIPT = Path(sys.executable).parent / ("nvspan.exe" if os.name == "nt" else "nvspan")
WAYS = ["python -m nvspan", "nvspan"]


@dataclass
class Ended:
    """How a program ended, and all that it printed."""

    returncode: int
    stdout: str
    stderr: str


def start(way: str, arguments, flags=(), env=None, **options) -> subprocess.Popen[str]:
    """Starts `arguments` as "python", "python -m nvspan" or "nvspan" would run them."""
    interpreter = [sys.executable, *flags]
    command = {
        "python": interpreter,
        "python -m nvspan": [*interpreter, "-m", "nvspan"],
        "nvspan": [*interpreter, str(SCRIPT)],
    }[way]
    return subprocess.Popen(
        [*command, *map(str, arguments)], env=clean_environment(env), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_signals, **options,
    )  # fmt: skip


def default_signals() -> None:
    """Under nohup, or in a shell's background, the tests themselves are started without these."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run(way: str, arguments, *, stdin="", **options) -> Ended:
    """Runs them to their end; `stdin` is what they can read."""
    process = start(way, arguments, stdin=subprocess.PIPE, **options)
    stdout, stderr = process.communicate(stdin, timeout=60)
    return Ended(process.returncode, stdout, stderr)


def assert_same(way: str | None, arguments, nvspan_options=(), **options) -> Ended:
    """Asserts that `way`, None for all, does what plain python does; returns what that was."""
    plain = run("python", arguments, **options)
    for each in WAYS if way is None else [way]:
        if each == "nvspan" and not SCRIPT.exists():
            continue
        ours = run(each, [*nvspan_options, *arguments], **options)
        assert ours == plain, each
    return plain
