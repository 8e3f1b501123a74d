# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Exports for flame graphs: every path with its self time, by thread, with any name."""

from __future__ import annotations

import json

import pytest

import nvspan
from helpers.recorded_loops import unpack
from helpers.reported import recording_of, run_nvspan
from helpers.written import written
from nvspan.export import stacks

CALLS = [(0, 100, "a"), (10, 40, "b"), (20, 30, "a"), (50, 90, "b"), (60, 70, "c;d\n"),
         (200, 220, "b")]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """Nested and recursive calls of one thread, and a device range."""
    written(tmp_path / "a.nvspan", CALLS, [(5, 95, "left out")], [(30, 80, "kernel")])
    return tmp_path / "a.nvspan"


EXPECTED = {
    # The `a` within `b` is in the `a` around it.
    ("torch:a",): 30 + 10,
    ("torch:a", "torch:b"): 20 + 30,
    ("torch:a", "torch:b", "torch:c;d\n"): 10,
    ("torch:b",): 20,
    ("GPU 0 · stream 7", "torch:kernel"): 50,
}


def test_every_path_has_its_self_time(path):
    assert stacks.stacks(nvspan.read(path)) == EXPECTED


def test_collapsed(path, tmp_path):
    out = tmp_path / "out"
    assert run_nvspan("export", path, "--format", "collapsed", "-o", out).stdout == f"{out}\n"
    assert sorted(out.read_text(encoding="utf-8").splitlines()) == sorted([
        "torch:a 40", "torch:a;torch:b 50", "torch:a;torch:b;torch:c,d  10", "torch:b 20",
        "GPU 0 · stream 7;torch:kernel 50",
    ])  # fmt: skip


HOSTILE = {
    "a\nb 7": "a b 7", "c;d;": "c,d,", "\x1b[31m": " [31m", "": "", " ": " ", "\u2028": " ",
    "e 5": "e 5", "\x00f": " f", "g\tg": "g g", "y" * 65_000: "y" * 65_000, "#h": "#h",
    "torch:i": "torch:i", "größe ☃": "größe ☃",
}  # fmt: skip


def test_each_line_is_one_path_whatever_names_hold(tmp_path):
    calls = [(0, 100_000, "outer")]
    calls += [(at * 1000, at * 1000 + 10 + at, name) for at, name in enumerate(HOSTILE, 1)]
    written(tmp_path / "a.nvspan", calls)
    run_nvspan("export", tmp_path / "a.nvspan", "--format", "collapsed", "-o", tmp_path / "out")
    inner = sum(10 + at for at in range(1, len(HOSTILE) + 1))
    assert sorted((tmp_path / "out").read_text(encoding="utf-8").split("\n")) == sorted([
        "", f"torch:outer {100_000 - inner}",
        *(f"torch:outer;torch:{shown} {10 + at}" for at, shown in enumerate(HOSTILE.values(), 1)),
    ])  # fmt: skip
    run_nvspan("export", tmp_path / "a.nvspan", "--format", "speedscope", "-o", tmp_path / "s.json")
    document = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert sorted(frame["name"] for frame in document["shared"]["frames"]) == sorted(
        ["torch:outer", *(f"torch:{name}" for name in HOSTILE)]
    )


def test_a_path_of_very_many_ranges_ends(tmp_path):
    """The time of those within is that of the last: each line would have all those before."""
    count, most = 20_000, stacks.MOST_FRAMES
    calls = [(at, 2 * count - at, f"r{at}") for at in range(count)]
    found = stacks.stacks(written(tmp_path / "a.nvspan", calls))
    whole = tuple(f"torch:r{at}" for at in range(most))
    wanted = {whole[: at + 1]: 2 for at in range(most - 1)}
    assert found == {**wanted, whole: 2 * (count - most + 1)}


def test_speedscope(path):
    ended = run_nvspan("export", path, "--format", "speedscope")
    out = path.with_suffix(".speedscope.json")
    assert ended.stdout == f"{out}\n"
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in document["shared"]["frames"]]
    profile = document["profiles"][0]
    found = {
        tuple(names[i] for i in sample): weight
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True)
    }
    assert found == EXPECTED
    assert (profile["type"], profile["unit"]) == ("sampled", "nanoseconds")
    assert profile["endValue"] == sum(EXPECTED.values())


def test_speedscope_has_a_profile_of_each_thread():
    path = recording_of(
        "import nvspan, threading\n"
        "def work(name):\n"
        "    with nvspan.annotate(name): pass\n"
        "thread = threading.Thread(target=work, args=('other',), name='second')\n"
        "work('main')\nthread.start()\nthread.join()\n"
    )
    out = str(path) + ".json"
    run_nvspan("export", path, "--format", "speedscope", "-o", out)
    with open(out, encoding="utf-8") as file:
        document = json.load(file)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    of_profiles = [
        sorted(names[i] for sample in profile["samples"] for i in sample)
        for profile in document["profiles"]
    ]
    assert of_profiles == [["main", "other"], ["main"], ["other"]]


UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


@pytest.mark.parametrize("loop", ["blocks", "data", "slow", "graph"])
def test_speedscope_keeps_to_the_description_of_its_format(tmp_path, loop):
    """The fields, types and rules that speedscope's description of its files has."""
    path = unpack(loop, tmp_path / f"{loop}.nvspan")
    run_nvspan("export", path, "--format", "speedscope", "-o", tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert set(document) == {
        "$schema", "name", "exporter", "activeProfileIndex", "shared", "profiles",
    }  # fmt: skip
    frames = document["shared"]["frames"]
    for frame in frames:
        assert {key: type(value) for key, value in frame.items()}.items() <= {
            "name": str, "file": str, "line": int, "col": int,
        }.items()  # fmt: skip
        assert frame["name"]
    assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    for profile in document["profiles"]:
        assert set(profile) == {
            "type", "name", "unit", "startValue", "endValue", "samples", "weights",
        }  # fmt: skip
        assert profile["type"] == "sampled"
        assert profile["unit"] in UNITS
        assert profile["startValue"] <= profile["endValue"]
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert all(weight >= 0 for weight in profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"]
        assert all(0 <= i < len(frames) for sample in profile["samples"] for i in sample)
