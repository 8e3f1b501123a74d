# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""When the trace cannot be written: one line says so, and the program goes on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading

import pytest

from helpers.traced import clean_environment, needs_library, run_traced
from nvspan import launch

pytestmark = needs_library

PROGRAM = """
import nvspan
for i in range(1000):
    with nvspan.annotate("range"): pass
print("done")
"""


def environment(config):
    return clean_environment(
        {launch.INJECTION_VARIABLE: launch.injection_library(), launch.CONFIG_VARIABLE: config}
    )


def test_a_file_size_limit(tmp_path):
    out = tmp_path / "trace.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(f"format=jsonl;file={out}"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr == f"nvspan: stopped tracing into {out}: File too large\n"
    assert out.stat().st_size == 10000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk():
    done = run_traced(PROGRAM, env={"NVSPAN_TRACE": "file=/dev/full"})
    assert done.stdout == "done\n"
    assert done.stderr == "nvspan: stopped tracing into /dev/full: No space left on device\n"


def test_a_file_that_cannot_be_made(tmp_path):
    done = run_traced(PROGRAM, env={"NVSPAN_TRACE": f"file={tmp_path}"})
    assert done.stdout == "done\n"
    assert done.stderr == f"nvspan: cannot trace into {tmp_path}: Is a directory\n"


def test_a_reader_that_goes_away():
    code = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" + PROGRAM
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment("format=text"), stderr=writer,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writer)
    os.read(reader, 100)
    os.close(reader)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "done\n")


def test_a_slow_reader_loses_nothing():
    """Standard error is a pipe that does not block, as under some terminals and runners."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment("format=text"), stderr=writer,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writer)
    chunks = []

    def read_slowly():
        while chunk := os.read(reader, 4000):
            chunks.append(chunk)

    thread = threading.Thread(target=read_slowly)
    thread.start()
    output, _ = process.communicate(timeout=60)
    thread.join()
    os.close(reader)
    assert output == "done\n"
    lines = b"".join(chunks).decode().splitlines()
    assert len(lines) == 2001
    assert all(line.endswith("─ range") for line in lines[1:])


def test_standard_error_is_closed():
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, PROGRAM],
        env=environment("format=text"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n")
