# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where a trace may go: pipes, terminals, devices, and what is refused without waiting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from helpers.traced import LIBRARY, clean_environment, needs_library
from nvspan import launch

pytestmark = needs_library

PROGRAM = """
import nvspan
for i in range(3):
    nvspan.mark("mark", payload=i)
print("end")
"""


def run(file, code=PROGRAM, **options):
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = f"format=jsonl;file={file}"
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, timeout=60, check=True, **options)  # fmt: skip


def marks(lines):
    events = [json.loads(line) for line in lines]
    return [event["payload"] for event in events if event["kind"] == "mark"]


def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = run(tmp_path / "pipe")
    assert done.stdout == "end\n"
    assert done.stderr == (
        f"nvspan: cannot trace into {tmp_path}/pipe: no process reads from this pipe\n"
    )


def test_a_pipe_that_is_read_has_every_event(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    done = run(tmp_path / "pipe")
    assert (done.stdout, done.stderr) == ("end\n", "")
    assert marks(os.read(reader, 1 << 16).splitlines()) == [0, 1, 2]
    os.close(reader)


def test_a_reader_that_goes_away_ends_the_trace_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code = f"""
import os, signal
reader = os.open({str(tmp_path / "pipe")!r}, os.O_RDONLY | os.O_NONBLOCK)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
import nvspan
nvspan.mark("seen")
os.close(reader)
for i in range(100):
    nvspan.mark("not seen")
print("end")
"""
    done = run(tmp_path / "pipe", code)
    assert done.stdout == "end\n"
    assert done.stderr == f"nvspan: stopped tracing into {tmp_path}/pipe: Broken pipe\n"


def test_a_socket_and_a_folder_are_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        done = run(tmp_path / "socket")
    assert done.stdout == "end\n"
    assert done.stderr.endswith(": it is a socket, not a file, a terminal or a pipe\n")
    done = run(tmp_path)
    assert (done.stdout, done.stderr) == (
        "end\n", f"nvspan: cannot trace into {tmp_path}: Is a directory\n",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"])
def test_names_of_open_descriptors_work(name):
    done = run(name)
    assert done.stdout == "end\n"
    assert marks(done.stderr.splitlines()) == [0, 1, 2]


def test_dev_null_takes_everything():
    done = run("/dev/null")
    assert (done.stdout, done.stderr) == ("end\n", "")
