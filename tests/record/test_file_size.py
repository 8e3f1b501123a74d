# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording takes on disk, who may read it, and whether it holds the command."""

from __future__ import annotations

import os
import stat
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = needs_library
FRESH = True  # a recording holds the command of its process

CHILDREN = """
import os, signal, sys
import nvspan

how = sys.argv[1]
nvspan.mark("parent")
for number in range(20):
    child = os.fork()
    if child == 0:
        with nvspan.annotate("task", payload=number):
            for i in range(10):
                nvspan.mark("item", payload=i)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize("how", ["_exit", "kill"])
@pytest.mark.parametrize("mode", ["full", "stats", "ring=1"])
def test_children_that_do_not_end_in_order_leave_small_files(tmp_path, how, mode):
    done = record_command([sys.executable, "-c", CHILDREN, how], mode=mode, folder=tmp_path)
    assert done.stderr == ""
    sizes = [max(os.stat(path).st_size, os.stat(path).st_blocks * 512) for path in done.files]
    assert len(sizes) == 21
    # A ring's chunks are all of one size, at least 16 KB.
    assert max(sizes) <= (48 if mode == "ring=1" else 16) * 1024
    assert done.recording.problems == []
    rows = {row.name: row.calls for row in done.recording.stats().rows}
    assert rows == {"task": 20}
    if mode != "stats":
        assert done.recording.marks.text("name").count("item") == 200


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027])
def test_permissions_follow_the_umask(tmp_path, mask):
    done = record_command([sys.executable, "-c", "import nvspan; nvspan.mark('x')"],
                          folder=tmp_path, preexec_fn=lambda: os.umask(mask))  # fmt: skip
    (path,) = done.files
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o666 & ~mask


@pytest.mark.parametrize(("value", "kept"), [(None, True), ("1", True), ("0", False)])
def test_the_command_can_be_left_out(tmp_path, value, kept):
    code = "import nvspan; nvspan.mark('x')"
    command = [sys.executable, "-c", code, "--token", "secret-7"]
    done = record_command(command, folder=tmp_path, env={"NVSPAN_RECORD_COMMAND": value})
    (path,) = done.files
    with open(path, "rb") as file:
        assert (b"secret-7" in file.read()) is kept
    assert nvspan.read(path).processes[0].command == (command if kept else [])
