# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan stats --lines``: its table, CSV and JSON; folded stacks."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest

from helpers.reported import run_nvspan
from helpers.sampled import RUNNING, UNIT, WAITING, SampleChunk, SampledFile


@pytest.fixture
def path(tmp_path):
    """100 steps of a load, of which three quarters are in decode(), and a save, which waits."""
    file = SampledFile()
    main = file.frame("/p/app.py", "main", 50, first_line=40)
    load = file.stack(main, file.frame("/p/app.py", "load", 11, first_line=10))
    decode = file.stack(main, file.frame("/p/lib.py", "decode", 5, first_line=3))
    save = file.stack(main, file.frame("/p/app.py", "save", 20, first_line=19))
    thread = file.thread()
    samples = SampleChunk(0, 1024)
    ranges = []
    for step in range(100):
        at = step * 10_000
        ranges += [
            (at, at + 9990, "step"),
            (at + 1, at + 8000, "load"),
            (at + 8001, at + 9000, "save"),
        ]
        for look in range(10):
            stack, state = ((load, RUNNING) if look < 2 else (decode, RUNNING) if look < 8
                            else (save, WAITING))  # fmt: skip
            samples.sample(at + 1000 * look + 500, thread, stack, state)
    file.ranges(ranges)
    file.samples(samples.note(2, 1000, 1000, 30, 0, 0, 0, 50))
    return file.write(tmp_path / "a.nvspan")


def shown(*words):
    return run_nvspan("stats", *words).stdout.splitlines()


def test_lines_of_the_whole_program(path):
    assert shown("--lines", path) == [
        "1,000 samples of 1 thread, every 1.02 ms: 1.02 s, 80% on a core, 20% waiting",
        "2.9% of the stacks changed too fast to be read",
        "  self    share  on core  waiting   total  samples  line",
        "563 ms  55% ±4%   563 ms           563 ms      600  lib.py:5",
        "256 ms  25% ±3%   256 ms           256 ms      200  app.py:11",
        "205 ms  20% ±3%            205 ms  205 ms      200  app.py:20",
    ]


@pytest.fixture
def path_in_c(tmp_path):
    """A line whose time is in C functions: 60% in one, 20% in another; or 40% in each of two."""
    file = SampledFile()
    (tmp_path / "app.py").write_text("\n" * 8 + "load(rows)\nsave(rows)\n")
    os.utime(tmp_path / "app.py", (0, 0))
    app = str(tmp_path / "app.py")

    def stack(line, c_function, *outer):
        return file.stack(*outer, file.frame(app, "main", line, c_function=c_function))

    library = file.frame("/usr/lib/python3.11/json/decoder.py", "decode", 5,
                         c_function="_json.Scanner")  # fmt: skip
    in_library = file.stack(file.frame(app, "main", 9), library)
    stacks = [in_library] * 6 + [stack(9, "other.load")] * 2 + [stack(9, None)] * 2
    stacks += [stack(10, "a.save"), stack(10, "b.save")] * 4 + [stack(10, None)] * 2
    samples = SampleChunk(0, 1024)
    thread = file.thread()
    for look in range(1000):
        samples.sample(1000 * look, thread, stacks[look % 20], RUNNING)
    file.samples(samples)
    return file.write(tmp_path / "a.nvspan")


def test_the_c_function_with_most_of_a_line(path_in_c):
    found = json.loads("\n".join(shown("--lines", "--format", "json", path_in_c)))
    rows = {row["line"]: row["c_function"] for row in found["rows"]}
    assert rows == {9: "_json.Scanner", 10: None}
    texts = [line.split("app.py:")[1] for line in shown("--lines", path_in_c)[2:]]
    assert texts == ["9   load(rows)  in _json.Scanner()", "10  save(rows)"]


def test_functions_within_a_range_by_their_total(path):
    assert shown("--lines", "load", "--functions", "--sort", "total", path)[2:] == [
        "  self    share  on core  waiting   total  samples  function  line",
        "                                   819 ms        0  main()    app.py:40",
        "563 ms  69% ±4%   563 ms           563 ms      600  decode()  lib.py:3",
        "256 ms  31% ±4%   256 ms           256 ms      200  load()    app.py:10",
    ]


def test_csv_and_json_have_every_digit(path):
    done = run_nvspan("stats", "--lines", "--format", "csv", path)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["file"], row["line"], row["self"], row["waiting"]) for row in rows] == [
        ("/p/lib.py", "5", str(550_000 * UNIT), "0"),
        ("/p/app.py", "11", str(250_000 * UNIT), "0"),
        ("/p/app.py", "20", str(200_000 * UNIT), str(200_000 * UNIT)),
        ("/p/app.py", "50", "0", "0"),
    ]
    found = json.loads(run_nvspan("stats", "--lines=step", "--format", "json", path).stdout)
    assert (found["by"], found["samples"], found["facts"]["torn"]) == ("line", 1000, 30)
    assert [one["name"] for one in found["ranges"]] == [None, "step", "load", "save"]
    assert [row["share"] for row in found["rows"]] == pytest.approx([0.55, 0.25, 0.2, 0])


def test_what_is_not_there_is_said(path, tmp_path):
    done = run_nvspan("stats", "--lines", "loa", path)
    assert (done.stdout, done.stderr) == (
        "", "nvspan: no range with samples matches 'loa'; did you mean 'load'?\n",
    )  # fmt: skip
    file = SampledFile()
    file.ranges([(0, 10, "a")])
    done = run_nvspan("stats", "--lines", file.write(tmp_path / "b.nvspan"))
    assert (done.stdout, done.stderr) == (
        "",
        "nvspan: the recording holds no samples of lines; 'nvspan record --lines auto' takes "
        "them\n",
    )  # fmt: skip


def test_options_that_do_not_go_together(path):
    for words, why in (
        (("--functions",), "--functions needs --lines"),
        (("--lines", "--tree"), "--tree and --lines cannot be used together"),
        (("--lines", "--sort", "p50"), "lines are sorted by self, total, not p50"),
        (("--lines", "--by", "thread"), "--by cannot be used with --lines"),
    ):
        assert why in run_nvspan("stats", *words, path, check=2).stderr


def test_folded_stacks_have_ranges_above_functions(path, tmp_path):
    out = tmp_path / "out"
    run_nvspan("export", path, "--format", "folded", "-o", out)
    assert sorted(out.read_text(encoding="utf-8").splitlines()) == [
        f"step;load;main;decode {550_000 * UNIT}",
        f"step;load;main;load {250_000 * UNIT}",
        f"step;main;save {50_000 * UNIT}",
        f"step;save;main;save {150_000 * UNIT}",
    ]
