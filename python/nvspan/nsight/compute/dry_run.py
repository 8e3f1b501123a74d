# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dry recordings: the first steps of a program, recorded to learn its ranges."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, glob
from itertools import compress

import nvspan.recording
from nvspan import launch, recorder
from nvspan._runtime import gpu_work
from nvspan.recording import Recording

_NAME = "dry-{pid}.nvspan"
_ENDED, _PUSH_POP = 0, 0
_FIRST_LOOK, _GRACE, _LEAST_MORE = 0.1, 5.0, 5.0  # seconds
_MOST_LINES = 20


class DryRunError(RuntimeError):
    """A program that could not be recorded; the message says what it did."""


@dataclass(frozen=True)
class DryRun:
    """A dry recording.

    Attributes:
        recording: what the program emitted, of all its processes.
        whole: whether the program ended by itself.
    """

    recording: Recording
    whole: bool


def steps_in(recording: Recording) -> int:
    """How many steps ended: ranges of `nvspan.step`, `nvspan.torch.auto` or torch.profiler, else
    calls of the outermost range that ended most often."""
    steps = traced = 0
    for row in recording.stats().rows:
        if row.kind != "push_pop":
            continue
        if row.name == "step":
            steps = max(steps, row.calls)
        elif (row.name or "").startswith("ProfilerStep#"):
            traced += row.calls
    return max(steps, traced) or _outermost(recording)


def _outermost(recording: Recording) -> int:
    ranges = recording.ranges
    columns = ("depth", "kind", "end_reason")
    is_whole = (
        depth == 0 and kind == _PUSH_POP and reason == _ENDED
        for depth, kind, reason in zip(*(ranges[name] for name in columns), strict=True)
    )
    names = zip(ranges["thread"], ranges["domain"], ranges["name"], strict=True)
    return max(Counter(compress(names, is_whole)).values(), default=0)


def dry_run(
    command: Sequence[str],
    *,
    steps: int = 3,
    seconds: float = 120.0,
    is_enough: Callable[[Recording], bool] = lambda recording: True,
    tell: Callable[[str], None] = lambda text: None,
) -> DryRun:
    """Records a program until it has made `steps` steps and `is_enough` says so, or to its end;
    then the program is ended. What it prints is not shown, and no file is left.

    Args:
        command: the program's command line.
        seconds: the longest that this takes. A program that has made its steps but not what is
            asked for gets three times as long as they took.
        is_enough: whether a recording has all that is asked for. A program that goes on is looked
            at again; of one that ended nothing more will come.
        tell: is called with a sentence about what is going on.

    Raises:
        DryRunError: the program failed, or made no NVTX call.
        RuntimeError: nvspan was built without NVTX here.
    """
    tell(
        f"recording the first {steps} steps of the program, to know its ranges (--using FILE "
        "takes a recording that exists)"
    )
    with tempfile.TemporaryDirectory(prefix="nvspan-dry-") as folder:
        whole = _record(command, folder, steps, seconds, is_enough)
        recording = _read(folder)
    if recording is None:
        raise DryRunError(
            "the program made no NVTX call in its dry run: it has no ranges, or it uses no NVTX "
            "that a tool can see ('nvspan doctor' says which)"
        )
    return DryRun(recording, whole)


def _read(folder: str) -> Recording | None:
    """What is recorded; None where there is nothing yet."""
    paths = [path for path in sorted(glob(f"{escape(folder)}/*.nvspan")) if os.path.getsize(path)]
    return nvspan.recording.read(*paths) if paths else None


def _record(
    command: Sequence[str],
    folder: str,
    steps: int,
    seconds: float,
    is_enough: Callable[[Recording], bool],
) -> bool:
    """Runs the program until there is enough of it; whether it ended by itself."""
    environment = dict(os.environ)
    library = launch.injection_library()
    environment[launch.INJECTION_VARIABLE] = library
    path = os.path.join(folder, _NAME)
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(path, cuda="kernels")
    gpu_work.add_to_environment(environment, "kernels", library)
    said = os.path.join(folder, "said.txt")
    with open(said, "wb") as output:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise DryRunError(f"cannot run {command[0]!r}: {error.strerror}") from None
        try:
            code = _wait(process, folder, steps, seconds, is_enough)
        finally:
            _end(process)
    if code:
        ending = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise DryRunError(f"the program failed in its dry run ({ending}):\n{_last(said)}")
    return code is not None


def _wait(
    process: subprocess.Popen[bytes],
    folder: str,
    steps: int,
    seconds: float,
    is_enough: Callable[[Recording], bool],
) -> int | None:
    """The exit code; None if the program still runs and there is enough of it."""
    began = time.monotonic()
    until = began + seconds
    reached = False
    pause = _FIRST_LOOK
    while (now := time.monotonic()) < until:
        try:
            return process.wait(min(pause, until - now))
        except subprocess.TimeoutExpired:
            pass
        looked = time.monotonic()
        recording = None
        with suppress(OSError, ValueError):  # of a file whose head is being written
            recording = _read(folder)
        if recording is not None and steps_in(recording) >= steps:
            if is_enough(recording):
                return None
            if not reached:
                reached = True
                until = min(until, looked + max(_LEAST_MORE, 2 * (looked - began)))
        # Looking takes a fifth of the time at most, however long the recording becomes.
        pause = max(_FIRST_LOOK, 4 * (time.monotonic() - looked))
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program, and what it started in its session."""
    for number, wait in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):  # all have ended
            break
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait)
    process.wait()


def _last(path: str) -> str:
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return "".join(file.readlines()[-_MOST_LINES:]).rstrip()
