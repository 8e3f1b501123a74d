# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments of ``nvspan.doctor`` in separate processes, and the code that runs there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile

from nvspan import _core, launch
from nvspan._doctor import tools
from nvspan._runtime.domains import get_domain
from nvspan._runtime.switch import is_active, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_START = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from nvspan._doctor import process
process.answer(sys.argv[2], sys.argv[3:])
"""
_ANSWER = "nvspan-doctor-answer:"


def ask(
    question: str, words: list[str], timeout: float, environment: dict[str, str] | None = None
) -> dict[str, Any]:
    """The answer of another process; with the key "failure" where it gave none."""
    command = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    command += ["-c", _START, json.dumps([*sys.path, os.getcwd()]), question, *words]
    try:
        done = tools.captured(*command, timeout=timeout, environment=environment)
    except subprocess.TimeoutExpired:
        return {"failure": f"no answer after {timeout:g} s"}
    except OSError as error:
        return {"failure": f"cannot run {sys.executable}: {error.strerror}"}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(_ANSWER):
            answer: dict[str, Any] = json.loads(line[len(_ANSWER) :])
            if done.returncode < 0:
                answer["failure"] = _how_it_ended(done)
            return answer
    return {"failure": _how_it_ended(done)}


def _how_it_ended(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        try:
            return f"killed by {signal.Signals(-done.returncode).name}"
        except ValueError:
            return f"killed by signal {-done.returncode}"
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def round_trip(timeout: float) -> tuple[list[str], list[str], dict[str, Any]]:
    """Events that a process sends under nvspan's injection library, those that were received, and
    what the process answered: the `tool` that it had, or a `failure`."""
    wanted = ["push outer", "mark inside", "pop outer", "start span", "end span"]
    with tempfile.TemporaryDirectory(prefix="nvspan-doctor-") as folder:
        file = os.path.join(folder, "events.jsonl")
        environment = launch.child_environment("jsonl", file, ["nvspan.doctor"])
        # The library is tried, not what the user has switched off.
        for name in ("NVTX_DISABLE", "NVSPAN_DOMAINS", "NVSPAN_LEVEL"):
            environment.pop(name, None)
        answer = ask("emit", [], timeout, environment)
        received = []
        if os.path.exists(file):
            with open(file, encoding="ascii", errors="replace") as lines:
                events = [json.loads(line) for line in lines]
            calls = {"push", "pop", "mark", "start", "end"}
            received = [f"{e['kind']} {e['message']}" for e in events if e["kind"] in calls]
    return wanted, received, answer


# In the other process


def answer(question: str, words: list[str]) -> None:
    """Prints the answer to a question of `ask`."""
    found = _ANSWERS[question](words)
    # A line of its own, whatever has been printed before it.
    print(f"\n{_ANSWER}{json.dumps(found)}", flush=True)


def _load(words: list[str]) -> dict[str, Any]:
    import ctypes

    try:
        library = ctypes.CDLL(words[0])
    except OSError as error:
        return {"problem": str(error)}
    if not hasattr(library, "InitializeInjectionNvtx2"):
        return {"problem": "it has no InitializeInjectionNvtx2, so it is not an NVTX tool"}
    return {}


def _emit(_: list[str]) -> dict[str, Any]:
    domain = get_domain("nvspan.doctor")
    with domain.annotate("outer"):
        domain.mark(message="inside")
    domain.end_range(domain.start_range(message="span"))
    return {"tool": tool()}


def _tool(words: list[str]) -> dict[str, Any]:
    name = tool()
    active = is_active()
    _emit(words)
    return {"tool": name, "library": _core.tool_library(), "active": active}


def _libraries(words: list[str]) -> dict[str, Any]:
    from importlib import import_module

    for word in words:
        import_module(word)
    return {"libraries": tools.libraries_with_nvtx()}


def _driver(_: list[str]) -> dict[str, Any]:
    import ctypes

    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return {"problem": f"{name} is not installed"}
    number = ctypes.c_int(0)
    result = library.cuDriverGetVersion(ctypes.byref(number))  # needs no cuInit, makes no context
    if result != 0:
        return {"problem": f"cuDriverGetVersion returned {result}"}
    return {"version": f"{number.value // 1000}.{number.value % 1000 // 10}"}


def _device(_: list[str]) -> dict[str, Any]:
    return {
        "backend": _core.device_backend(True),
        "tool": tool(),
        "problem": _core.device_problem() or None,  # loads the driver's library, and no more
        "library": _core.device_library() or None,
    }


_ANSWERS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "device": _device,
    "driver": _driver,
    "emit": _emit,
    "libraries": _libraries,
    "load": _load,
    "tool": _tool,
}
