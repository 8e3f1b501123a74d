# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A trace into a pipe whose reader is slow, stops reading, or goes away."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager

import pytest

from helpers.traced import LIBRARY, clean_environment, needs_library
from nvspan import launch

pytestmark = needs_library

PAGE = 4096
THREADS, MARKS = 3, 100
PROGRAM = """
import signal, sys, threading
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
import nvspan

def work(thread, count, text):
    for i in range(count):
        nvspan.mark(f"{thread} {i} " + text)

threads, count, size = map(int, sys.argv[1:])
text = "x" * size
workers = [threading.Thread(target=work, args=(n, count, text)) for n in range(1, threads)]
for worker in workers:
    worker.start()
work(0, count, text)
for worker in workers:
    worker.join()
print("end")
"""


@contextmanager
def traced_into_pipe(folder, threads, count, size, standard_error=False):
    """A traced program, the end of its pipe that is read, and where its messages go."""
    path = folder / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 2 * PAGE)
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    config = "format=jsonl" if standard_error else f"format=jsonl;file={path}"
    environment[launch.CONFIG_VARIABLE] = config
    command = [sys.executable, "-c", PROGRAM, str(threads), str(count), str(size)]
    writer = os.open(path, os.O_WRONLY) if standard_error else subprocess.PIPE
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=writer,
                               text=True)  # fmt: skip
    if standard_error:
        os.close(writer)
    try:
        yield program, reader
    finally:
        program.kill()
        program.communicate()
        os.close(reader)


def unread(reader):
    return struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]


def is_waiting(program):
    """Every thread of the program sleeps."""
    states = []
    for thread in os.listdir(f"/proc/{program.pid}/task"):
        with open(f"/proc/{program.pid}/task/{thread}/stat") as file:
            states.append(file.read().rpartition(")")[2].split()[0])
    return set(states) == {"S"}


def wait_until_full(program, reader):
    deadline = time.monotonic() + 60
    quiet = 0
    before = -1
    while quiet < 5:
        assert time.monotonic() < deadline
        assert program.poll() is None
        now = unread(reader)
        quiet = quiet + 1 if now > 0 and now == before and is_waiting(program) else 0
        before = now
        time.sleep(0.02)


def drain(reader, piece, pause):
    """All that comes until the writer has gone."""
    os.set_blocking(reader, True)
    parts = []
    while part := os.read(reader, piece):
        parts.append(part)
        time.sleep(pause)
    return b"".join(parts)


@pytest.mark.parametrize(("size", "piece"), [(10, 500), (3 * PAGE, 10_000)])
def test_a_full_pipe_waits_and_nothing_is_lost(tmp_path, size, piece):
    with traced_into_pipe(tmp_path, THREADS, MARKS, size) as (program, reader):
        wait_until_full(program, reader)
        lines = drain(reader, piece, 0.001).splitlines()
        stdout, stderr = program.communicate(timeout=60)
    assert (program.returncode, stdout, stderr) == (0, "end\n", "")
    events = [json.loads(line) for line in lines]
    assert [event for event in events if event["kind"] == "lost"] == []
    seen = {str(thread): [] for thread in range(THREADS)}
    for event in events:
        if event["kind"] == "mark":
            thread, number, text = event["message"].split()
            assert text == "x" * size
            seen[thread].append(int(number))
    assert seen == {str(thread): list(range(MARKS)) for thread in range(THREADS)}


@pytest.mark.parametrize("size", [10, 3 * PAGE])
@pytest.mark.parametrize("threads", [1, THREADS])
def test_a_reader_that_goes_away_from_a_full_pipe_frees_the_program(tmp_path, threads, size):
    with traced_into_pipe(tmp_path, threads, MARKS, size) as (program, reader):
        wait_until_full(program, reader)
        gone = os.open(os.devnull, os.O_RDONLY)
        os.dup2(gone, reader)
        os.close(gone)
        stdout, stderr = program.communicate(timeout=60)
    assert (program.returncode, stdout) == (0, "end\n")
    assert stderr == f"nvspan: stopped tracing into {tmp_path}/pipe: Broken pipe\n"


@pytest.mark.parametrize("standard_error", [False, True])
@pytest.mark.parametrize("size", [10, 3 * PAGE])
def test_a_program_that_waits_can_be_ended(tmp_path, size, standard_error):
    with traced_into_pipe(tmp_path, 1, MARKS, size, standard_error) as (program, reader):
        wait_until_full(program, reader)
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=20) == -signal.SIGTERM
