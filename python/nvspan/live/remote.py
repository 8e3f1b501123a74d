# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Begins a recording in a running process that has no recorder, by CPython's remote execution.

CPython 3.14 lets a process of the same user hand another one a script, which its main thread runs
when it is next in Python code (``sys.remote_exec``, PEP 768). Both must be of one version.
"""

from __future__ import annotations

import json
import os
import sys

from nvspan.live.process import NoRecordingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ANSWER, _LATE, _SCRIPT = "answer.json", "late", "begin.py"

# What the process runs. Its own nvspan comes first; ours serves where it has none.
_TEMPLATE = """\
import sys
sys.path.append({package!r})
try:
    from nvspan.live.remote import begin
finally:
    sys.path.remove({package!r})
begin({folder!r}, {path!r}, {mode!r})
"""
_kept: list[Any] = []


class NotArmedError(RuntimeError):
    """Why a process could not be made to record."""


def _answer(folder: str, told: dict[str, Any]) -> None:
    path = os.path.join(folder, _ANSWER)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(told, file)
    os.replace(f"{path}.new", path)


def _remove(folder: str) -> None:
    for name in (_SCRIPT, _ANSWER, _LATE):
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            pass
    try:
        os.rmdir(folder)
    except OSError:
        pass


def begin(folder: str, path: str, mode: str) -> None:
    """In the process that was asked: records from now on, and leaves an answer in `folder`.

    It raises nothing: the program goes on as if nobody had asked.
    """
    told: dict[str, Any]
    interrupted = False
    try:
        import warnings

        from nvspan.recorder import record

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            recorder = record(path, mode)
            recorder.start()
        _kept.append(recorder)
        told = {"files": recorder.paths, "notes": [str(each.message) for each in said]}
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        told = {"error": str(error) or type(error).__name__}
    try:
        _answer(folder, told)
        if os.path.exists(os.path.join(folder, _LATE)):  # nobody waits for it any more
            _remove(folder)
    except OSError:
        pass
    if interrupted:
        import _thread

        _thread.interrupt_main()


def arm(pid: int, mode: str, path: str | os.PathLike[str] | None, wait: float) -> dict[str, Any]:
    """Has a process that records nothing begin a recording.

    Args:
        pid: the process: of this user, and of the CPython that runs this.
        mode: as `nvspan.record` has it.
        path: the file; None: ``nvspan-{pid}.nvspan`` in the current directory.
        wait: for how many seconds to wait until the process has got to it.

    Returns:
        `files`, the recordings that it writes, and `notes`, its warnings; or `waiting`, True: it
        runs no Python code in its main thread, and begins when it does.

    Raises:
        NotArmedError: CPython is too old; the process forbids it, is of another version or no
            Python program; or its recorder did not start: with the reason.
    """
    execute: Callable[[int, str], None] | None = getattr(sys, "remote_exec", None)
    if execute is None:
        raise NotArmedError(
            f"{NoRecordingError(pid)}. A program that runs can be armed where it and nvspan run on "
            "CPython 3.14 or newer; this is {}.{}".format(*sys.version_info)
        )
    import tempfile

    target = os.path.abspath(os.fspath(path or "nvspan-{pid}.nvspan"))
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder = tempfile.mkdtemp(prefix="nvspan-start-")
    script = os.path.join(folder, _SCRIPT)
    with open(script, "w", encoding="utf-8") as file:
        file.write(_TEMPLATE.format(package=package, folder=folder, path=target, mode=mode))
    try:
        execute(pid, script)
    except PermissionError:
        _remove(folder)
        raise NotArmedError(
            f"process {pid} may not be changed from here: the system lets its parents do so, or "
            "root (kernel.yama.ptrace_scope)"
        ) from None
    except (OSError, RuntimeError) as error:
        _remove(folder)
        raise NotArmedError(f"process {pid} cannot be armed: {error}") from None
    told = _wait(folder, wait)
    if "error" in told:
        raise NotArmedError(f"process {pid} did not begin a recording: {told['error']}")
    return told


def _wait(folder: str, seconds: float) -> dict[str, Any]:
    import time

    end = time.monotonic() + seconds
    answer = os.path.join(folder, _ANSWER)
    while not os.path.exists(answer) and time.monotonic() < end:
        time.sleep(0.005)
    if not os.path.exists(answer):
        with open(os.path.join(folder, _LATE), "w", encoding="utf-8"):
            pass
    try:
        with open(answer, encoding="utf-8") as file:
            told: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {"waiting": True}
    _remove(folder)
    return told
