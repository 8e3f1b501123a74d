# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dry recordings: when the program is ended, what is kept, and programs that fail."""

from __future__ import annotations

import os
import sys
import time

import pytest

from helpers.traced import needs_library
from nvspan.nsight import range_filters
from nvspan.nsight.compute.dry_run import DryRunError, dry_run, steps_in

pytestmark = needs_library

# Notes each run, and makes a step every 10 ms.
LOOP = """
import os, sys, time
import nvspan
with open("runs", "a") as file:
    file.write(f"{os.getpid()}\\n")
for number in range(int(sys.argv[1])):
    with nvspan.annotate("forward", domain="torch"):
        with nvspan.annotate("layer"), nvspan.annotate("layer"):
            pass
    if number == 40:
        nvspan.end_range(nvspan.start_range("late"))
    time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.py").write_text(LOOP)
    return tmp_path


def loop(count, **options):
    return dry_run([sys.executable, "loop.py", str(count)], **options)


def runs(folder):
    return [int(line) for line in (folder / "runs").read_text().split()]


def has(name):
    def is_enough(recording):
        try:
            return bool(range_filters(name, recording))
        except ValueError:
            return False

    return is_enough


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_short_program_is_recorded_to_its_end():
    found = loop(2, steps=3)
    assert found.whole
    rows = {(row.domain, row.name): row.calls for row in found.recording.stats().rows}
    assert rows == {("torch", "forward"): 2, (None, "layer"): 4}


def test_a_long_program_is_ended_after_its_steps(folder):
    found = loop(100_000, steps=3)
    assert not found.whole
    assert 3 <= steps_in(found.recording) < 3000
    assert not any(map(is_running, runs(folder)))


def test_a_program_goes_on_until_the_range_is_there(folder):
    found = loop(100_000, steps=3, is_enough=has("late"))
    assert not found.whole
    assert has("late")(found.recording)


def test_what_never_comes_is_not_waited_for():
    began = time.monotonic()
    found = loop(100_000, steps=3, is_enough=has("absent"))
    assert not found.whole
    assert time.monotonic() - began < 60
    assert steps_in(found.recording) > 40


def test_a_program_of_no_steps_has_its_time():
    code = "import nvspan, time\nwith nvspan.annotate('import'): pass\ntime.sleep(600)"
    found = dry_run([sys.executable, "-c", code], steps=3, seconds=1)
    assert not found.whole
    assert [row.name for row in found.recording.stats().rows] == ["import"]


def test_each_dry_run_is_fresh_and_leaves_no_file(folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    (folder / "temporary").mkdir()
    said = []
    for _ in range(2):
        found = loop(2, tell=said.append)
        assert list((folder / "temporary").iterdir()) == []
        assert steps_in(found.recording) == 2
    assert len(runs(folder)) == 2
    assert all(text.startswith("recording the first 3 steps") for text in said)


def test_what_a_program_started_is_ended_with_it(folder):
    code = "import subprocess, sys\nsubprocess.run([sys.executable, 'loop.py', '100000'])"
    dry_run([sys.executable, "-c", code], steps=3)
    until = time.monotonic() + 20
    while any(map(is_running, runs(folder))) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, runs(folder)))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no data')", r"failed in its dry run \(exit code 1\):\nno data"),
        ("import os; os.kill(os.getpid(), 9)", r"failed in its dry run \(signal 9\)"),
        ("pass", "made no NVTX call in its dry run"),
    ],
)
def test_programs_that_cannot_be_recorded(code, words):
    with pytest.raises(DryRunError, match=words):
        dry_run([sys.executable, "-c", code])


def test_a_program_that_is_not_there():
    with pytest.raises(DryRunError, match="cannot run 'nowhere': No such file"):
        dry_run(["nowhere"])
