# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""When `nvspan record` samples lines: unless it is told not to, and how often in which mode."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import nvspan
from helpers.traced import clean_environment
from nvspan import doctor

pytest.importorskip("nvspan._lines")
WAITS = "import time\nimport nvspan\nnvspan.mark('here')\ntime.sleep(0.5)\n"


def record(tmp_path, source, *options, **environment):
    """What `nvspan record` wrote to standard error, and the recordings in order of their start."""
    program = tmp_path / "program.py"
    program.write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "record", "-o", str(tmp_path / "run-{pid}.nvspan"),
         *options, str(program)],
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    recordings = [nvspan.read(str(path)) for path in tmp_path.glob("run-*.nvspan")]
    return done.stderr, sorted(recordings, key=lambda one: one.processes[0].start)


@pytest.mark.parametrize(
    ("options", "environment", "samples"),
    [
        ((), {}, True),
        (("--mode", "ring=4"), {}, True),
        (("--lines", "off"), {}, False),
        (("--profile",), {}, False),
        (("--mode", "stats"), {}, False),
        (("--mode", "armed"), {}, False),
        ((), {"NVSPAN_RECORD_LINES": "off"}, False),
        (("--lines", "100"), {"NVSPAN_RECORD_LINES": "off"}, True),
        (("--lines", "off"), {"NVSPAN_RECORD_LINES": "100"}, False),
        (("--profile", "--lines", "auto"), {}, True),
        (("--mode", "stats"), {"NVSPAN_RECORD_LINES": "100"}, True),
    ],
)
def test_when_lines_are_sampled(tmp_path, options, environment, samples):
    said, (recording,) = record(tmp_path, WAITS, *options, **environment)
    lines = recording.lines(show_stdlib=True)
    assert (lines.samples > 0) is samples
    if samples:
        assert (lines.rows[0].function, lines.rows[0].line) == ("<module>", 4)
    assert "lines are not sampled" not in said


def test_a_program_without_ranges_has_a_recording(tmp_path):
    said, (recording,) = record(tmp_path, "import time\ntime.sleep(0.5)\n")
    assert recording.lines().samples > 0
    saved, after = said.splitlines()[-2:]
    assert re.fullmatch(r"saved  .* kB, [\d,]+ samples?", saved)
    assert after.startswith("next   nvspan stats --lines ")


LONG = """
import time
import nvspan
def first():
    end = time.monotonic() + 3
    while time.monotonic() < end:
        for i in range(100):
            pass
def second():
    for _ in range(10):
        time.sleep(0.1)
first()
with nvspan.annotate("here"):
    second()
"""


@pytest.mark.parametrize("mode", ["stats", "armed"])
def test_modes_without_events_keep_the_newest_samples(tmp_path, mode):
    _, (recording,) = record(tmp_path, LONG, "--mode", mode, "--lines", "10000")
    lines = recording.lines(by="function", show_stdlib=True)
    names = {row.function for row in lines.rows if row.total > lines.total / 10}
    assert names == {"<module>", "first", "second"}
    assert recording.problems == []
    assert len(recording.marks) == 0


MANY = """
import threading, time
def deep(n, end):
    while time.monotonic() < end:
        deep(n - 1, end) if n else time.sleep(0)
def early():
    time.sleep(0.2)
early()
end = time.monotonic() + 10
threads = [threading.Thread(target=deep, args=(n, end)) for n in range(40)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_a_recording_without_events_stays_small(tmp_path):
    _, (recording,) = record(tmp_path, MANY, "--mode", "armed", "--lines", "10000")
    (path,) = tmp_path.glob("run-*.nvspan")
    lines = recording.lines()
    assert path.stat().st_size < 4_000_000
    is_there = any(row.function == "early" for row in lines.rows)
    assert is_there == (lines.facts.missing == 0)  # the first samples are the first to go


SPAWNS = """
import subprocess, sys, time
end = time.monotonic() + 4
while time.monotonic() < end:
    sum(range(1000))
subprocess.run(["sh", "-c", sys.executable + " -c 'import time; time.sleep(1.5)'; true"])
"""


def test_a_program_that_is_started_goes_on_at_its_parents_rate(tmp_path):
    _, (parent, child) = record(tmp_path, SPAWNS)
    periods = [one.lines().facts.period for one in (parent, child)]
    assert periods[0] > 1_000_000
    looks = child.lines().facts.looks
    assert looks < 1.5 * 1e9 / periods[0] * 1.5  # 1,500 at the first rate


ELSEWHERE = """
import sys
from nvspan._runtime import lines
from nvspan.cli import record
lines.unproved = lambda: "aarch64"
record.main([*sys.argv[1:], "-c", "import nvspan; nvspan.mark('a')"])
"""


def test_where_sampling_was_not_proved_it_is_off_and_that_is_said(tmp_path):
    last = []
    for options in ([], ["--lines", "auto"]):
        words = ["-o", str(tmp_path / f"run{len(options)}.nvspan"), *options]
        done = subprocess.run([sys.executable, "-c", ELSEWHERE, *words], env=clean_environment(),
                              capture_output=True, text=True, check=True)  # fmt: skip
        last.append(done.stderr.splitlines()[-1])
    assert last[0] == "nvspan record: lines are off by default with aarch64: --lines auto"
    assert last[1].startswith("next ")
    processes = [nvspan.read(str(tmp_path / f"run{i}.nvspan")).lines().facts.processes
                 for i in (0, 2)]  # fmt: skip
    assert processes == [0, 1]


def test_doctor_says_how_often():
    (finding,) = [one for one in doctor.collect(timeout=60)["findings"] if one["name"] == "lines"]
    assert (finding["status"], finding["advice"]) == ("ok", None)
    assert finding["details"]["period"] >= 1_000_000
    assert " Hz at first, then " in finding["text"]
