# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are frozen while their program never rests, and who may ask for it."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

import nvspan
from helpers.bundles import bundles, reasons
from helpers.compile import build
from helpers.lines import next_line
from helpers.live import running, wait_until
from helpers.traced import needs_library, nvspan_command
from nvspan import _reader

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "nested.cpp"


def freeze(folder, last=3600.0, most=1000):
    watcher = _reader.Watcher(os.fsencode(folder), 0, 0, [], [], last, 0.001, most, b"", False)
    bundle, problem = watcher.trigger_now("asked", "why")
    return os.fsdecode(bundle), os.fsdecode(problem)


def command(*words):
    return nvspan_command(*words)


def check_ranges(recording):
    """Names say which range they lie in: (level, number of the one around it, own number)."""
    ranges = recording.ranges
    rows = zip(ranges.text("name"), ranges.text("domain"), strict=True)
    count = 0
    for name, domain in rows:
        level, _, _ = map(int, name.split(":"))
        assert domain == ("even", "odd")[level % 2]
        count += 1
    return count


@pytest.mark.parametrize("mode", ["ring=1", "armed", "stats"])
def test_a_copy_is_whole_while_the_program_never_rests(tmp_path, mode):
    with running(tmp_path, [str(build(PROGRAM))], mode) as run:
        wait_until(lambda: moves(run.file), "no event")
        for number in range(8):
            copy = tmp_path / f"copy-{number}.nvspan"
            assert freeze_file(run.file, copy) == ""
            recording = nvspan.read(copy)
            assert recording.problems == []
            (process,) = nvspan.where(copy, samples=1).processes
            assert (process.state, process.pid) == ("frozen", run.pid)
            for thread in process.threads:
                outer = 0
                for level, (domain, name) in enumerate(thread.ranges):
                    found, around, own = map(int, name.split(":"))
                    assert (domain, found, around) == (("even", "odd")[level % 2], level, outer)
                    outer = own
            if mode == "ring=1":
                assert check_ranges(recording) > 0


def moves(file):
    """Whether its threads have had events: "ready" comes before them."""
    if not file.exists():
        return False
    look = nvspan.where(file, samples=2, interval=0.05)
    return any(thread.moved for process in look.processes for thread in process.threads)


def freeze_file(source, copy):
    """Freezes one file; what went wrong."""
    folder = copy.with_suffix(".folder")
    folder.mkdir()
    (folder / source.name).symlink_to(source)
    bundle, problem = freeze(folder)
    (Path(bundle) / source.name).rename(copy)
    return problem


def test_only_the_last_seconds_are_kept(tmp_path):
    code = """
import sys, time, nvspan
for number in range(40_000):
    with nvspan.annotate("early"):
        pass
time.sleep(2)
late = time.monotonic()
for number in range(5_000):
    with nvspan.annotate("late"):
        pass
print("ready", late, sep="\\n", flush=True); sys.stdin.readline()
"""
    with running(tmp_path, code, "full") as run:
        late = float(next_line(run.process))
        whole, _ = freeze(tmp_path)
        calls = {row.name: row.calls for row in nvspan.read(whole).stats().rows}
        assert calls == {"early": 40_000, "late": 5_000}
        os.rename(whole, tmp_path / "kept")
        (tmp_path / "nvspan.trigger").unlink()
        # From the middle of the two seconds without an event.
        short, problem = freeze(tmp_path, last=time.monotonic() - late + 1)
        assert problem == ""
        recording = nvspan.read(short)
        assert recording.problems == []
        calls = {row.name: row.calls for row in recording.stats().rows}
        assert calls["late"] == 5_000
        assert calls.get("early", 0) < 30_000


def test_a_flag_file_that_others_may_write_is_refused(tmp_path):
    with running(tmp_path, "import nvspan\nwith nvspan.annotate('a'):\n input(print('ready'))",
                 "ring=1", extra={"PYTHONUNBUFFERED": "1"}) as run:  # fmt: skip
        flag = tmp_path / "nvspan.trigger"
        flag.touch()
        flag.chmod(0o666)
        done = command("trigger", tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            f"nvspan trigger: {flag}: others than its owner may write it: it is not used\n"
        )
        assert bundles(tmp_path) == []
        flag.chmod(0o600)
        flag.write_text("nvspan-trigger-/../../evil 99999999999999999999\n")
        done = command("trigger", run.pid, "--why", "a look")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip() == str(bundles(tmp_path)[0])
        flag.unlink()
        flag.symlink_to(tmp_path / "elsewhere")
        done = command("trigger", tmp_path)
        assert done.returncode == 1
        assert re.search("nvspan.trigger: Too many levels of symbolic links", done.stderr)


def test_so_many_bundles_are_written_and_no_more(tmp_path):
    with running(tmp_path, "import nvspan\nwith nvspan.annotate('a'):\n input(print('ready'))",
                 "ring=1", extra={"PYTHONUNBUFFERED": "1"}):  # fmt: skip
        for number in range(10):  # none of them is a bundle
            (tmp_path / f"nvspan-trigger-{number}").mkdir()
            (tmp_path / f"nvspan-trigger-file-{number}").touch()
        assert command("trigger", tmp_path).returncode == 0
        assert len(list(filter(reasons, bundles(tmp_path)))) == 1
        (tmp_path / "nvspan.trigger").unlink()  # the next one joins no bundle of a moment ago
        for number in range(9):
            (tmp_path / f"nvspan-trigger-{number}" / "why.jsonl").touch()
        done = command("trigger", tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            f"nvspan trigger: {tmp_path}: there are 10 bundles: none is written until some are "
            "removed\n"
        )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["trigger", "nothing"], 1,
         "nvspan trigger: 'nothing' is neither a process id nor a directory"),
        (["trigger", "1", "--last", "x"], 2, "must be a time such as 30s, 200ms or 5min, not 'x'"),
        (["trigger", "."], 1, "nothing is recorded there"),
        (["trigger", ".", "--when", "stal:3s"], 2, "trigger 'stal:3s': is none of"),
        (["trigger", ".", "--when", "exception"], 2,
         "signal and exception are seen by the process alone: set NVSPAN_TRIGGER there"),
        (["trigger", ".", "--when", "keep:3"], 2, "nothing to watch for"),
        (["trigger", "none", "--when", "killed"], 2, "there is no directory 'none'"),
        (["trigger", ".", "--when", "killed", "--last", "5s"], 2,
         "--last cannot be used with --when, which takes last:TIME and env:NAMES"),
        (["trigger", ".", "--for", "5s"], 2, "--for needs --when"),
        (["blackbox", ".", "--trigger", "killed"], 2,
         'nvspan blackbox: removed; use nvspan trigger DIRECTORY --when "..."\n'),
        (["record", "--trigger", "change:a", "-c", "1"], 2,
         "trigger 'change:a': changes are not watched for; write slow:a>2 for calls"),
        (["record", "--trigger", "slow:a", "-c", "1"], 2,
         "trigger 'slow:a': needs a range and a factor, as in slow:step>3"),
        (["record", "-o", "{rank}/x.nvspan", "--trigger", "killed", "-c", "1"], 2,
         "the recordings must be in one directory, and"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, monkeypatch, words, code, said):
    monkeypatch.chdir(tmp_path)
    done = command(*words)
    assert done.returncode == code
    assert said in done.stderr


def names_of(recording):
    """Each thread's ranges in the order in which they began."""
    found = {}
    numbers = recording.threads["tid"]
    for row in recording.ranges.rows():
        of = found.setdefault(numbers[row["thread"]], [])
        of.append((row["start"], row["depth"], row["name"]))
    return {tid: [name for _, _, name in sorted(rows)] for tid, rows in found.items()}


def test_copies_of_a_growing_file_hold_all_until_then(tmp_path):
    events = 40_000
    with running(tmp_path, [str(build(PROGRAM)), str(events)], "full") as run:
        wait_until(lambda: moves(run.file), "no event")
        copies = []
        while len(copies) < 4:
            copies.append(tmp_path / f"copy-{len(copies)}.nvspan")
            assert freeze_file(run.file, copies[-1]) == ""
        run.wait_for("done")
        copies.append(tmp_path / "whole.nvspan")
        assert freeze_file(run.file, copies[-1]) == ""
        size = run.file.stat().st_size
        recordings = [nvspan.read(copy) for copy in copies]
    assert [recording.problems for recording in recordings] == [[]] * 5
    found = [names_of(recording) for recording in recordings]
    whole = found[-1]
    assert len(whole) == 2
    rows = recordings[-1].stats().rows
    assert sum(2 * row.calls + row.unclosed for row in rows) == 2 * events
    for copy, recording, names in zip(copies, recordings, found, strict=True):
        assert copy.stat().st_size <= size
        check_ranges(recording)
        assert {tid: whole[tid][: len(each)] for tid, each in names.items()} == names
    counts = [sum(map(len, names.values())) for names in found]
    assert counts == sorted(counts)
    assert 0 < counts[0] < counts[-1]
