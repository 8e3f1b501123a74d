# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.read on what is no recording, the Arrow interface, filters, and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.packages import needs
from helpers.recorded import record_command
from helpers.traced import clean_environment, needs_library, python
from nvspan._results import MarkRow

pytestmark = needs_library
CORPUS = Path(__file__).parents[1] / "corpus"

CODE = """
import nvspan
for i in range(3):
    with nvspan.annotate("a", domain="d1"):
        with nvspan.annotate("b", category="c", payload=i):
            pass
"""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty: not an nvspan recording"),
        (b"x", "not an nvspan recording"),
        (b"\xffNVSPAR1" + b"\x00" * 100, "cut off in its header: nothing is left"),
        (b"x" * 5000, "not an nvspan recording"),
        (b"\xffNVSPAR1" + b"\x63" * 5000, "recorded by a newer version of nvspan"),
        (b"\xffNVSPAR1" + b"\x00" * 5000, "recorded by an incompatible version of nvspan"),
    ],
)
def test_what_is_no_recording_is_an_error(tmp_path, content, problem):
    path = tmp_path / "x.nvspan"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        nvspan.read(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        nvspan.read(tmp_path / "none.nvspan")
    with pytest.raises(ValueError, match="needs the path of a recording"):
        nvspan.read()


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.nvspan")), ids=lambda path: path.stem)
def test_a_recording_that_is_cut_off_gives_what_is_there(tmp_path, path):
    whole = list(nvspan.read(path).calls())
    content = path.read_bytes()
    for size in (4096, max(len(content) // 2, 4096), len(content) - 100):
        part = tmp_path / f"{size}.nvspan"
        part.write_bytes(content[:size])
        assert len(list(nvspan.read(part).calls())) <= len(whole)


def test_statistics_and_filters():
    recording = record_command([sys.executable, "-c", CODE]).recording
    keys = ("domain", "name", "kind", "calls", "threads")
    rows = sorted(tuple(getattr(row, key) for key in keys) for row in recording.stats().rows
                  if row.domain)  # fmt: skip
    assert rows == [("d1", "a", "push_pop", 3, 1)]
    only = recording.filter(names=["b"])
    assert [row["payload"] for row in only.ranges.rows()] == [0, 1, 2]
    assert [row.name for row in only.stats().rows] == ["b"]
    by_payload = recording.stats("payload", names=["b"]).rows
    assert sorted((row.payload, row.calls) for row in by_payload) == [(0, 1), (1, 1), (2, 1)]
    by_category = recording.stats("category", domains=["NVTX"]).rows
    assert [(row.category_name, row.calls) for row in by_category] == [("c", 3)]
    first = recording.ranges["start"][0]
    assert recording.stats(stop=first).rows == []
    with pytest.raises(ValueError, match="by must be one of"):
        recording.stats("colour")


PARTS = """
import threading, time
import nvspan

def work(number):
    with nvspan.annotate("outer", domain="d1", payload=number):
        with nvspan.annotate("middle", domain="d2"):
            nvspan.mark("mark", domain="d1", payload=number)
            with nvspan.annotate("inner", domain="d1"):
                pass

for number in range(2):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
"""


@needs("pyarrow")
def test_a_filter_holds_for_columns_marks_and_arrow():
    recording = record_command([sys.executable, "-c", PARTS]).recording
    part = recording.filter(domains=["d1"], threads=[1])
    assert part.ranges.text("name") == ["outer", "inner"]
    assert list(part.ranges["parent"]) == [-1, 0]
    assert (len(part.ranges), len(part.marks), len(recording.ranges)) == (2, 1, 6)
    assert list(part.marks["payload"]) == [1]
    assert [row["name"] for row in part.ranges.rows()] == ["outer", "inner"]
    assert sorted(row.name for row in part.stats().rows) == ["inner", "outer"]
    assert part.stats().marks == [MarkRow("d1", "mark", 1)]
    second = recording.ranges["start"][3]
    assert len(recording.filter(start=second).ranges) == 3
    assert len(recording.filter(stop=second, names=["mark"]).marks) == 1
    assert len(recording.filter(min_duration=10**12).ranges) == 0
    assert len(part.filter(names=["inner"]).ranges) == 1
    import pyarrow

    taken = pyarrow.table(part.ranges)
    taken.validate(full=True)
    assert taken.column("name").to_pylist() == ["outer", "inner"]


TOGETHER = """
import threading
import nvspan

both = threading.Barrier(2)

def work(number):
    both.wait()
    for _ in range(3):
        with nvspan.annotate("same", color=number + 1):
            nvspan.mark("mark")
    both.wait()

threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("mode", ["full", "stats"])
def test_statistics_count_threads_and_marks(mode):
    stats = record_command([sys.executable, "-c", TOGETHER], mode=mode).recording.stats()
    assert [(row.name, row.calls, row.threads) for row in stats.rows] == [("same", 6, 2)]
    assert stats.marks == [MarkRow(None, "mark", 6)]
    assert all(row.p50 <= row.p99 <= row.p999 <= row.max for row in stats.rows)


def test_short_ranges_with_an_id_are_left_out():
    code = """
import time
import nvspan
with nvspan.annotate("outer"):
    long = nvspan.start_range("long")
    for i in range(3):
        nvspan.end_range(nvspan.start_range("short"))
    time.sleep(0.3)
    nvspan.end_range(long)
    open_ = nvspan.start_range("left open")
"""
    recording = record_command([sys.executable, "-c", code], min_duration=250_000_000).recording
    rows = [(row["name"], row["parent"]) for row in recording.ranges.rows()]
    assert rows == [("outer", None), ("long", None), ("left open", None)]
    calls = {row.name: (row.calls, row.unclosed) for row in recording.stats().rows}
    assert calls == {"outer": (1, 0), "long": (1, 0), "left open": (0, 1)}


@needs("pyarrow")
def test_arrow_takes_every_table():
    import pyarrow

    recording = record_command([sys.executable, "-c", CODE]).recording
    for name in ("ranges", "marks", "counters", "threads", "domains", "losses"):
        table = getattr(recording, name)
        taken = pyarrow.table(table)
        taken.validate(full=True)
        assert taken.column_names == table.names
        assert taken.to_pylist() == list(table.rows())


def test_the_command_records_and_reports(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(CODE + "print('out')\nraise SystemExit(7)\n")
    command = [sys.executable, "-m", "nvspan", "record", "-o", "run.nvspan", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=clean_environment(), capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "out\n")
    lines = done.stderr.splitlines()
    assert " and no steps, 6 ranges; self time: " in lines[0]
    table = lines.index("") + 1
    assert lines[table].split() == ["range", "calls", "self", "share"]
    assert sorted(line.split()[:2] for line in lines[table + 1 : -2]) == [["a", "3"], ["b", "3"]]
    assert lines[-2].startswith("saved  run.nvspan  ")
    assert lines[-1] == "next   nvspan explain run.nvspan"


def test_the_command_steps_back_where_a_tool_is_attached(tmp_path):
    environment = clean_environment({"NVTX_INJECTION64_PATH": "/no/tool.so"})
    command = [sys.executable, "-m", "nvspan", "record", "-c", "print('out')"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert done.stderr == (
        "nvspan record: not recording: NVTX loads another tool "
        "(NVTX_INJECTION64_PATH=/no/tool.so); unset the variable to record\n"
    )
    assert list(tmp_path.iterdir()) == []


LATE = """
import sys, types, warnings
import nvspan
sys.modules["cupy"] = types.ModuleType("cupy")
warnings.simplefilter("error")
recording = nvspan.record("late.nvspan")
try:
    with recording:
        raise SystemExit("not reached")
except nvspan.NvspanWarning as error:
    print(error)
nvspan.mark("not recorded")
print(nvspan.tool())
warnings.simplefilter("ignore")
with recording:
    nvspan.mark("recorded")
"""


def test_a_warning_that_is_an_error_leaves_nothing_attached(tmp_path):
    done = python("-c", LATE, cwd=tmp_path)
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first.startswith("cupy was imported before the recording started")
    assert second == "None"
    recordings = [nvspan.read(path) for path in sorted(tmp_path.iterdir())]
    marks = [row["name"] for each in recordings for row in each.marks.rows()]
    assert marks == ["recorded"]
