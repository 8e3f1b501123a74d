# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a recording with samples: its flame graph of ranges, functions and lines."""

from __future__ import annotations

import math
import os

import pytest

import nvspan
from helpers.page_data import data_of, hottest_of, sampled_of, tracks_of
from helpers.sampled import BEGIN, RUNNING, UNIT, WAITING, SampleChunk, SampledFile
from nvspan.report import page
from nvspan.report.page import data


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "app.py"
    path.write_text("def main():\n    load()\n    save(</script>)\n", encoding="utf-8")
    os.utime(path, ns=(0, 0))
    return str(path)


def program(path, source, *, ranges=True):
    """Ten steps of 10,000 units: 8,000 on a core below load(), which calls itself, 2,000 in save(),
    which waits; and a thread of a pool that only waits."""
    file = SampledFile()
    load = file.stack(
        file.frame(source, "main", 2), *(file.frame("/p/lib.py", "load", line, first_line=4)
                                         for line in (6, 6, 5))
    )  # fmt: skip
    shallow = file.stack(
        file.frame(source, "main", 2), file.frame("/p/lib.py", "load", 5, first_line=4)
    )
    save = file.stack(file.frame(source, "main", 3), file.frame(source, "save", 3, first_line=3))
    idle = file.stack(file.frame("/p/pool.py", "wait", 1))
    thread, other = file.thread(), file.thread(99)
    samples = SampleChunk(0, 1024)
    named = []
    for step in range(10):
        at = step * 10_000
        named += [(at, at + 9990, "step"), (at + 1, at + 8000, "load")]
        for look in range(500, 10_000, 1000):
            stack = shallow if look < 1000 else load if look < 8000 else save
            samples.sample(at + look, thread, stack, WAITING if stack == save else RUNNING)
            samples.sample(at + look, other, idle, WAITING)
    if ranges:
        file.ranges(named)
    file.samples(samples)
    return nvspan.read(file.write(path))


def sampled(recording, size=data.PAGE):
    return data_of(page.html(recording, size=size))["sampled"]


def test_functions_are_below_the_ranges_in_which_they_ran(tmp_path, source):
    held = sampled(program(tmp_path / "a.nvspan", source))
    found = [(path.names[1:], *(time // UNIT for time in (sum(path.times), path.own)), path.folded)
             for path in sampled_of(held)]  # fmt: skip
    main, load, save = "main()  app.py:1", "load()  lib.py:4", "save()  app.py:3"
    assert found == [
        (("step",), 100_000, 0, 0),
        (("step", "load"), 80_000, 0, 0),
        (("step", "load", main), 80_000, 0, 0),
        (("step", "load", main, load), 80_000, 80_000, 0),
        (("step", main), 20_000, 0, 0),
        (("step", main, save), 20_000, 20_000, 0),
    ]
    assert held["roots"] == [[0, "thread 42"]]
    assert held["looks"] == [
        ["step", "", None, 0], ["load", "", None, 0], [main, "", None, 0, "app.py"],
        [load, "", None, 0, "lib.py"], [save, "", None, 0, "app.py"],
    ]  # fmt: skip
    assert held["note"] == ""
    assert held["facts"] == (
        "100 samples of 2 threads, every 1.02 ms: 102 ms, 80% on a core, 20% waiting; "
        "1 thread that only waited left out (102 ms)"
    )


def test_each_function_has_its_lines_with_their_source(tmp_path, source):
    paths = {path.names[-1]: path for path in sampled_of(
        sampled(program(tmp_path / "a.nvspan", source)))}  # fmt: skip
    # A function that calls itself counts at its innermost line.
    assert paths["load()  lib.py:4"].lines == {5: (80_000 * UNIT, 80_000 * UNIT, "")}
    assert paths["save()  app.py:3"].lines == {
        3: (20_000 * UNIT, 20_000 * UNIT, "save(</script>)"),
    }
    assert paths["save()  app.py:3"].times == (0, 0, 20_000 * UNIT)
    assert paths["main()  app.py:1"].lines == {
        3: (20_000 * UNIT, 0, "save(</script>)"),
    }


def test_a_source_file_that_has_changed_since_has_no_text(tmp_path, source):
    os.utime(source)
    os.utime(source, ns=(4 * 10**18, 4 * 10**18))
    held = sampled(program(tmp_path / "a.nvspan", source))
    assert held["texts"] == [""]


def test_a_program_without_ranges_has_its_functions(tmp_path, source):
    held = data_of(page.html(program(tmp_path / "a.nvspan", source, ranges=False)))
    assert [path.names for path in sampled_of(held["sampled"])] == [
        ("thread 42", "main()  app.py:1"),
        ("thread 42", "main()  app.py:1", "load()  lib.py:4"),
        ("thread 42", "main()  app.py:1", "save()  app.py:3"),
    ]
    assert held["rows"] == []


def test_a_recording_without_samples_has_no_such_graph(tmp_path):
    file = SampledFile()
    file.ranges([(0, 10, "a")])
    assert sampled(nvspan.read(file.write(tmp_path / "a.nvspan"))) is None


def test_small_functions_and_lines_are_folded_and_counted(tmp_path):
    """A page holds as much of 400 functions as of ten: their time stays in what is around them."""
    file = SampledFile()
    main = file.frame("/p/app.py", "main", 2)
    thread, samples = file.thread(), SampleChunk(0, 1024)
    at = 0
    for number in range(400):
        stack = file.stack(main, file.frame("/p/app.py", f"f{number}", 10 + number))
        for _ in range(20 if number < 5 else 1):
            at += 1000
            samples.sample(at, thread, stack)
    file.samples(samples)
    recording = nvspan.read(file.write(tmp_path / "a.nvspan"))
    held = sampled(recording, data.PAGE._replace(sampled=8))
    found = {path.names[1:]: path for path in sampled_of(held)}
    top = found[("main()  app.py:1",)]
    large = [(f"f{number}()  app.py:1",) for number in range(5)]
    assert set(found) == {top.names[1:], *((*top.names[1:], *name) for name in large)}
    assert (top.folded, sum(top.times), top.own) == (395, 495_000 * UNIT, 0)
    assert held["note"] == ("395 paths that took little time are folded into the path around them.")
    assert sum(len(path.lines) for path in found.values()) == 6
    everything = sampled_of(sampled(recording))
    assert (len(everything), sum(len(path.lines) for path in everything)) == (401, 401)


def test_deep_stacks_end_at_the_last_floor(tmp_path):
    file = SampledFile()
    frames = [file.frame("/p/app.py", f"f{depth}", 5) for depth in range(300)]
    thread, samples = file.thread(), SampleChunk(0, 1024)
    samples.sample(1000, thread, file.stack(*frames))
    file.samples(samples)
    (*_, deepest) = sampled_of(sampled(nvspan.read(file.write(tmp_path / "a.nvspan"))))
    assert (len(deepest.names), deepest.names[-1], deepest.own) == (
        257, "f255()  app.py:1", 1000 * UNIT,
    )  # fmt: skip


def stretches(end=99_500):
    """What ran on which level, from when to when in units: a stack is there from the middle between
    two looks on."""
    load, save = "load()  lib.py:4", "save()  app.py:3"
    inner = []
    for step in range(10):
        at = 10_000 * step
        inner += [(load, max(at, 500), at + 8000), (save, at + 8000, min(at + 10_000, end))]
    return [[("main()  app.py:1", 500, end)], inner, []]


def units(levels):
    return [
        [(one.name, (one.start - BEGIN) / UNIT, (one.start + one.length - BEGIN) / UNIT)
         for one in level]
        for level in levels
    ]  # fmt: skip


def test_the_timeline_has_a_track_of_samples_below_each_threads_ranges(tmp_path, source):
    timeline = data_of(page.html(program(tmp_path / "a.nvspan", source)))["timeline"]
    (ranges, of_ranges), (samples, of_samples) = tracks_of(timeline)
    assert [level[0].name for level in of_ranges[:-1]] == ["step", "load"]
    assert (samples["label"], samples["kind"], samples["below"], samples["main"]) == (
        "thread 42 · samples", "samples", 0, True,
    )  # fmt: skip
    assert units(of_samples) == stretches()
    assert (samples["ranges"], ranges["label"]) == (30, "thread 42")
    assert [key[0] for key in timeline["keys"] if key[1] == "function"] == [
        "main()  app.py:1", "load()  lib.py:4", "save()  app.py:3",
    ]  # fmt: skip
    assert timeline["note"] == ""


def test_without_ranges_the_timeline_is_that_of_samples(tmp_path, source):
    timeline = data_of(page.html(program(tmp_path / "a.nvspan", source, ranges=False)))["timeline"]
    ((samples, levels),) = tracks_of(timeline)
    assert units(levels) == stretches()
    assert "below" not in samples
    assert ((timeline["first"] - BEGIN) / UNIT, (timeline["last"] - BEGIN) / UNIT) == (500, 99_500)


def test_samples_before_the_first_range_move_no_range(tmp_path):
    file = SampledFile()
    stack = file.stack(file.frame("/p/app.py", "load", 5))
    samples = SampleChunk(0, 1024)
    for at in (1000, 2000, 3000):
        samples.sample(at, file.thread() if at == 1000 else 1, stack)
    file.ranges([(2500, 4000, "step")])
    file.samples(samples)
    timeline = data_of(page.html(nvspan.read(file.write(tmp_path / "a.nvspan"))))["timeline"]
    (_, of_ranges), (_, of_samples) = tracks_of(timeline)
    assert units(of_ranges) == [[("step", 2500, 4000)], []]
    assert units(of_samples) == [[("load()  app.py:1", 1000, 3000)], []]
    assert (timeline["first"] - BEGIN) / UNIT == 1000


def test_short_stretches_are_merged_and_lose_no_time(tmp_path, source):
    size = data.PAGE._replace(sampled_bytes=60)
    timeline = data_of(page.html(program(tmp_path / "a.nvspan", source), size=size))["timeline"]
    _, (_, levels) = tracks_of(timeline)
    assert sum(block.count for block in levels[1]) == 20
    assert sum(block.busy for block in levels[1]) == 99_000 * UNIT
    assert len(levels[1]) < 20
    assert timeline["note"].startswith("Stretches of samples shorter than ")


def test_shares_have_the_intervals_of_stats(tmp_path):
    """Of all threads together: in all, in a range, and in the only function of it."""
    file = SampledFile()
    first, second = (file.stack(file.frame("/p/app.py", "load", line, first_line=3))
                     for line in (4, 5))  # fmt: skip
    save = file.stack(file.frame("/p/lib.py", "save", 9, first_line=8))
    main, other = file.thread(), file.thread(7)
    samples = SampleChunk(0, 1024)
    end = 0
    for look in range(1, 1500):
        end = 1000 * look
        samples.sample(end, main, save if look > 1200 else second if look // 90 % 3 else first)
        if look < 700:
            samples.sample(end, other, second if look % 5 else first)
        elif look == 700:
            samples.note(3, other)
    file.ranges([(0, 1200_500, "load"), (1200_501, end + 1, "save")])
    file.ranges([(0, 700_500, "load")], tid=7)
    file.samples(samples)
    recording = nvspan.read(file.write(tmp_path / "a.nvspan"))
    held = sampled(recording)
    lines = recording.lines()
    looks = {"load": "load()  app.py:3", "save": "save()  lib.py:8"}

    def margins(rows):
        return {(looks[row.function], row.line): math.ceil(10_000 * row.margin) for row in rows}

    in_all = {(held["looks"][look][0], line): margin
              for node, look, line, margin in hottest_of(held) if node < 0}  # fmt: skip
    assert in_all == margins(lines.rows)
    assert len(in_all) == 3
    paths = {path.names[1:]: path for path in reversed(sampled_of(held))}  # of the first thread
    in_load = margins(lines.within("load").rows)
    assert paths[("load",)].hot == in_load
    assert paths[("save",)].hot == margins(lines.within("save").rows)
    of_load = paths[("load", looks["load"])].margins
    assert {(looks["load"], line): margin for line, margin in of_load.items()} == in_load
