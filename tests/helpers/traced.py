# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs in fresh processes, with nvspan's injection library as their NVTX tool."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from helpers import preloaded
from nvspan import launch

CALLS = ("mark", "push", "pop", "start", "end")
_VARIABLES = (
    "NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE", "NVTX_DISABLE",
)  # fmt: skip

try:
    LIBRARY: str = launch.injection_library()
except RuntimeError:
    LIBRARY = ""

needs_library = pytest.mark.skipif(not LIBRARY, reason="nvspan was built without NVTX")


@dataclass
class Traced:
    """What a program did: its events in the order of their lines, and how it ended."""

    events: list[dict[str, Any]] = field(default_factory=list)
    returncode: int = 0
    stdout: str = ""
    stderr: str = ""

    def calls(self, *keys: str) -> list[tuple[Any, ...]]:
        """The marks and ranges as tuples of the named fields; a field that one lacks is None."""
        return [tuple(event.get(key) for key in keys) for event in self.of_kind(*CALLS)]

    def of_kind(self, *kinds: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] in kinds]


def crashed_at_its_end(done: Any) -> bool:
    """Whether a program with daemon threads may have met CPython 3.10's crash at exit.

    When the interpreter is gone, it still hands the GIL to threads that wait for it, and they read
    the interpreter. Without nvspan, but with a library whose destructor takes 20 ms, 84 of 300
    programs end so.
    """
    return sys.version_info < (3, 11) and done.returncode == -signal.SIGSEGV


def read_events(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The events of a jsonl trace. A name that was not UTF-8 has surrogates for its bytes."""
    text = Path(path).read_text(encoding="ascii")
    assert text == "" or text.endswith("\n"), "the last line is incomplete"
    return [json.loads(line) for line in text.splitlines()]


def change(environment: dict[str, str], variables: Mapping[str, str | None] | None) -> None:
    """Sets variables of an environment; None removes one."""
    for key, value in (variables or {}).items():
        environment.pop(key, None)
        if value is not None:
            environment[key] = value


def clean_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """This process's environment without a tool, and without what nvspan's own programs read;
    None in `extra` removes a variable."""
    made = {
        key: value
        for key, value in os.environ.items()
        if key not in _VARIABLES and not key.startswith("NVSPAN_")
    }
    change(made, extra)
    return made


def python(
    *words: object, env: Mapping[str, str | None] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A new Python with these words, run to its end. `options` as for ``subprocess.run``, which
    captures text, has no input and checks no exit code unless they say it."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    pipes |= {} if "input" in options else {"stdin": subprocess.DEVNULL}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env=clean_environment(env),
        **{**pipes, "text": True, "timeout": 120, "check": False, **options},
    )


def nvspan_command(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """``nvspan`` with these words, as `python` runs it."""
    return python("-m", "nvspan", *words, **options)


def run_command(
    command: list[str],
    *,
    env: Mapping[str, str | None] | None = None,
    timeout: float = 240,
    check: bool = True,
    stdin: str | None = None,
    domains: list[str] | None = None,
    traced: bool = True,
) -> Traced:
    """Runs any command, traced into a file of its own."""
    if traced and not LIBRARY:
        pytest.skip("nvspan was built without NVTX")
    with tempfile.TemporaryDirectory(prefix="nvspan-traced-") as folder:
        file = Path(folder) / "trace.jsonl"
        environment = clean_environment()
        if traced:
            environment = launch.child_environment("jsonl", file, domains, environment=environment)
        change(environment, env)
        given = None if stdin is None else stdin.encode()
        done = preloaded.run(command, environment, timeout, given)
        result = Traced(
            read_events(file) if file.exists() else [],
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        )
    if check:
        assert result.returncode == 0, f"exit code {result.returncode}\n{result.stderr}"
    return result


def _python(code: str | Path, args: tuple[object, ...], python: str) -> list[str]:
    program = [str(code)] if isinstance(code, Path) else ["-c", code]
    return [python, *program, *map(str, args)]


def run_traced(
    code: str | Path,
    *args: object,
    env: Mapping[str, str | None] | None = None,
    python: str = sys.executable,
    timeout: float = 240,
    check: bool = True,
    stdin: str | None = None,
    domains: list[str] | None = None,
) -> Traced:
    """Runs Python source text, or the script at a Path, and returns every event of it.

    `check` asserts that it exits with 0. `env` adds variables to the environment, None removes one.
    """
    command = _python(code, args, python)
    return run_command(command, env=env, timeout=timeout, check=check, stdin=stdin, domains=domains)


def run_plain(
    code: str | Path,
    *args: object,
    env: Mapping[str, str | None] | None = None,
    python: str = sys.executable,
    timeout: float = 240,
    check: bool = True,
    stdin: str | None = None,
) -> Traced:
    """Like `run_traced`, with no tool at all: `events` is empty."""
    command = _python(code, args, python)
    return run_command(command, env=env, timeout=timeout, check=check, stdin=stdin, traced=False)
