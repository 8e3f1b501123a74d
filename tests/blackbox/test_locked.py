# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A process that keeps the file locked by which watchers take turns holds nobody up."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys

import pytest

from helpers.bundles import bundle_of, bundles, reasons
from helpers.live import running, wait_until
from helpers.traced import needs_library, nvspan_command

pytestmark = needs_library
CODE = """
import os, sys, nvspan
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
with nvspan.annotate("first"):
    print("ready", flush=True)
    for line in sys.stdin:
        print(nvspan.trigger(line.strip()), flush=True)
"""


@contextlib.contextmanager
def locked(folder):
    """The flag file, locked by this process; its path and what is said of it."""
    flag = folder / "nvspan.trigger"
    with open(os.open(flag, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield f"{flag}: process {os.getpid()} has locked it"


def test_a_bundle_is_tried_again_until_the_lock_is_gone(tmp_path):
    errors = tmp_path / "errors"
    (folder := tmp_path / "run").mkdir()
    command = [sys.executable, "-c", CODE, str(errors)]
    with running(folder, command, "ring=1") as run:
        with locked(folder) as said:
            for word in ("one", "two"):
                run.process.stdin.write(f"{word}\n")
                run.process.stdin.flush()
                assert run.process.stdout.readline() == "False\n"
            done = nvspan_command("trigger", folder)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == f"nvspan trigger: {said}\n"
            assert sorted(os.listdir(folder)) == ["nvspan.trigger", "run-x.nvspan"]
        bundle = bundle_of(folder, "asked")
        wait_until(lambda: len(reasons(bundle)) == 2, "no second reason")
        assert [reason["why"] for reason in reasons(bundle)] == ["one", "two"]
        assert bundles(folder) == [bundle]
        assert errors.read_text() == f"nvspan: {said}; the bundle is tried again\n"


def test_reasons_beyond_those_that_wait_are_counted(tmp_path):
    errors = tmp_path / "errors"
    (folder := tmp_path / "run").mkdir()
    command = [sys.executable, "-c", CODE, str(errors)]
    words = [f"reason {number}" for number in range(20)]
    with running(folder, command, "ring=1") as run:
        with locked(folder) as said:
            for word in words:
                run.process.stdin.write(f"{word}\n")
                run.process.stdin.flush()
                assert run.process.stdout.readline() == "False\n"
        bundle = bundle_of(folder, "asked")
        wait_until(lambda: len(reasons(bundle)) == 17, "no line of those that were left out")
        lost = "4 reasons not kept: no bundle could be written, and 16 waited already"
        assert [(reason["kind"], reason["why"]) for reason in reasons(bundle)] == [
            *(("asked", word) for word in words[:16]), ("left out", lost),
        ]  # fmt: skip
        assert bundles(folder) == [bundle]
        assert errors.read_text() == f"nvspan: {said}; the bundle is tried again\nnvspan: {lost}\n"


@pytest.mark.parametrize("end", ["by itself", "by a signal"])
def test_a_program_ends_while_the_lock_is_held(tmp_path, end):
    errors = tmp_path / "errors"
    (folder := tmp_path / "run").mkdir()
    command = [sys.executable, "-c", CODE, str(errors)]
    extra = {"NVSPAN_TRIGGER": "signal:TERM"}
    with running(folder, command, "ring=1", extra=extra) as run, locked(folder) as said:
        if end == "by a signal":
            run.process.terminate()
            assert run.process.wait(30) == -signal.SIGTERM
        else:
            run.process.stdin.write("why\n")
            run.process.stdin.close()
            assert run.process.wait(30) == 0
        assert sorted(os.listdir(folder)) == ["nvspan.trigger", "run-x.nvspan"]
        # The signal's former disposition ends the process as its reason is still tried.
        lost = "" if end == "by a signal" else "nvspan: the watching ends: 1 reason in no bundle\n"
        assert errors.read_text() == f"nvspan: {said}; the bundle is tried again\n{lost}"
