# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The data of the page: what is merged or left out is counted, and everything else is there."""

from __future__ import annotations

import os
import random
from array import array
from collections import Counter

import pytest

import nvspan
from helpers.page_data import blocks_of, data_of, paths_of, tracks_of
from helpers.written import put, written
from nvspan import _reader
from nvspan.report import page
from nvspan.report.page import data
from nvspan.report.summary import Summary


def timeline_of(recording, **limits):
    return data.timeline(recording, Summary(recording), **limits)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """20,000 ranges of three names on two levels, of very different lengths."""
    rng = random.Random(3)
    calls, at = [], 1000
    for i in range(10_000):
        length = 20_000 if i % 500 == 0 else rng.randrange(20, 400)
        calls += [(at, at + length, f"outer {i % 2}"), (at + 5, at + length - 5, "inner")]
        at += length + rng.randrange(0, 50)
    path = tmp_path_factory.mktemp("many") / "many.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread, domain = writer.thread(process, 77), writer.domain(process, None)
        for which in (0, 1):
            chosen = calls[which::2]
            writer.ranges(
                thread, domain, array("q", [call[0] for call in chosen]),
                array("q", [call[1] for call in chosen]),
                name=writer.strings([call[2] for call in chosen]),
                payload=array("q", range(len(chosen))),
            )  # fmt: skip
    return nvspan.read(path), calls


@pytest.mark.parametrize("limit", [2_000, 20_000, 10_000_000])
def test_no_range_is_lost_where_blocks_are_merged(many, limit):
    recording, calls = many
    timeline = timeline_of(recording, bytes=limit)
    blocks = blocks_of(timeline)
    assert sum(block.count for block in blocks) == len(calls)
    assert sum(block.busy for block in blocks) == sum(end - start for start, end, _ in calls)
    assert (timeline["resolution"] > 0) == (limit < 10_000_000)
    assert all(block.longest < timeline["resolution"] for block in blocks if block.count > 1)
    for block in blocks:
        within = [
            call for call in calls
            if block.start <= call[0] and call[1] <= block.start + block.length
        ] if block.count > 1 and limit == 2_000 else []  # fmt: skip
        assert {call[2] for call in within} >= set(block.names or ()) or not within
    long = [(block.start, block.length) for block in blocks if block.length >= 19_000]
    if timeline["resolution"] < 19_000:
        assert len(long) == 40


def test_the_bytes_keep_to_their_limit(many):
    sizes = {}
    for limit in (2_000, 20_000, 10_000_000):
        tracks = timeline_of(many[0], bytes=limit, payload_bytes=0)["tracks"]
        sizes[limit] = sum(len(track["data"]) * 3 // 4 for track in tracks)
    assert sizes[2_000] <= 2_000 < sizes[20_000] <= 20_000 < sizes[10_000_000]


def test_a_coarse_timeline_says_what_it_lacks(many):
    timeline = timeline_of(many[0], bytes=20_000, payload_bytes=1000)
    kept = [block.payload for block in blocks_of(timeline) if block.payload is not None]
    assert "are merged with their neighbours in the timeline" in timeline["note"]
    assert (
        f"Payloads are shown for {len(kept):,} of the 20,000 ranges and marks" in timeline["note"]
    )
    assert 0 < len(kept) < 500


def test_levels_and_tracks_past_the_limits_are_counted(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        domain = writer.domain(process, None)
        for tid in range(3):
            thread = writer.thread(process, tid + 1)
            levels = [(depth, 100 - depth, f"level {depth}") for depth in range(5)]
            put(writer, thread, domain, levels)
    timeline = timeline_of(nvspan.read(path), levels=3, tracks=2)
    assert timeline["note"] == (
        "4 ranges at great depth are not drawn. "
        "5 ranges and marks of further threads and streams are not drawn."
    )
    assert [[len(level) for level in levels] for _, levels in tracks_of(timeline)] == [
        [1, 1, 1, 0]
    ] * 2


def test_ranges_of_domains_that_do_not_nest_lie_on_levels_of_their_own(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread = writer.thread(process, 1)
        one, two = writer.domain(process, "one"), writer.domain(process, "two")
        events = [(0, one, "a"), (10, two, "b"), (20, one, None), (30, one, "c"), (40, two, None),
                  (50, one, None)]  # fmt: skip
        for at, domain, name in events:
            if name is None:
                writer.pops(thread, domain, at)
            else:
                writer.pushes(thread, domain, at, name=writer.strings([name]))
    ((_, levels),) = tracks_of(timeline_of(nvspan.read(path)))
    assert [[(b.name, b.start, b.length) for b in level] for level in levels] == [
        [("one:a", 0, 20)], [("two:b", 10, 30)], [("one:c", 30, 20)], []
    ]  # fmt: skip


def test_a_counter_keeps_its_extremes(tmp_path):
    values = [float(i % 97) for i in range(50_000)]
    values[31_234], values[40_001] = 1e6, -1e6
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread, domain = writer.thread(process, 1), writer.domain(process, "d")
        counter = writer.counter(process, domain, "size", unit="B")
        writer.samples(thread, counter, array("q", range(0, 500_000, 10)), array("d", values))
    (found,) = timeline_of(nvspan.read(path), points=500)["counters"]
    assert (found["label"], found["unit"], found["samples"]) == ("d:size", "B", 50_000)
    assert len(found["times"]) <= 500
    assert (max(found["greatest"]), min(found["least"])) == (1e6, -1e6)
    assert found["last"][-1] == values[-1]


def test_launches_lead_from_the_thread_to_the_stream(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread, domain = writer.thread(process, 5, "main"), writer.domain(process, "d")
        put(writer, thread, domain, [(100, 200, "launches")])
        writer.device_ranges(
            process, domain, array("q", [300, 500]), array("q", [400, 600]), device=0, stream=7,
            name=writer.strings(["kernel", "replayed"]), correlation=array("Q", [1, 2]),
            launched=array("q", [150, 0]), tid=5,
        )  # fmt: skip
    (_, (track, levels)) = tracks_of(timeline_of(nvspan.read(path)))
    assert track["label"] == "GPU 0 · stream 7"
    assert [(b.name, b.launcher) for b in levels[0]] == [("d:kernel", "main"), ("d:replayed", None)]
    assert levels[0][0].launched == 150


def test_durations_of_a_name_are_those_of_every_call(many):
    timeline = timeline_of(many[0], bytes=2_000)
    counted = {key[0]: sum(key[6][1::2]) for key in timeline["keys"]}
    assert counted == Counter(name for _, _, name in many[1])
    assert {key[0]: key[4] for key in timeline["keys"]} == counted


def test_the_flame_graph_counts_recursion_once(tmp_path):
    calls = [(0, 100, "f"), (10, 90, "g"), (20, 80, "f"), (30, 40, "h"), (200, 250, "f")]
    icicle = data.flame(written(tmp_path / "a.nvspan", calls), _summary(tmp_path / "a.nvspan"))
    ((root, paths),) = paths_of(icicle)
    assert root[2:] == ["thread", "thread 1"]
    assert [(path.names, path.calls, path.total, path.own) for path in paths] == [
        (("torch:f",), 3, 150, 120),
        (("torch:f", "torch:g"), 1, 80, 20),
        (("torch:f", "torch:h"), 1, 10, 10),
    ]


def _summary(path):
    return Summary(nvspan.read(path))


def test_the_flame_graph_of_steps_has_those_of_each_kind(tmp_path):
    calls = []
    for i in range(10):
        start, length = 1000 * i, 900 if i == 7 else 100
        calls += [(start, start + length, "step"), (start + 10, start + length - 10, "work")]
    recording = written(tmp_path / "a.nvspan", calls)
    icicle = data.flame(recording, Summary(recording), recording.steps())
    assert icicle["groups"] == ["9 typical steps", "step #7 (outlier)"]
    found = {root[0]: paths for root, paths in paths_of(icicle, 1)}
    assert [(path.names[-1], path.calls, path.total) for path in found[0]] == [
        ("torch:step", 9, 900), ("torch:work", 9, 720),
    ]  # fmt: skip
    assert [(path.names[-1], path.calls, path.total) for path in found[1]] == [
        ("torch:step", 1, 900), ("torch:work", 1, 880),
    ]  # fmt: skip


def test_small_paths_are_folded_and_counted(tmp_path):
    calls = [(0, 100_000, "top")]
    calls += [(10 * i + 1, 10 * i + 3 + i % 5, f"small {i}") for i in range(500)]
    calls += [(50_000, 80_000, "large")]
    recording = written(tmp_path / "a.nvspan", calls)
    icicle = data.flame(recording, Summary(recording), nodes=50)
    ((_, paths),) = paths_of(icicle)
    assert [path.names[-1] for path in paths[:1]] == ["torch:top"]
    assert "torch:large" in {path.names[-1] for path in paths}
    assert len(paths) <= 50
    assert len(paths) + paths[0].folded == 502
    assert icicle["note"].startswith(f"{paths[0].folded:,} paths that took little time")


def test_ranges_without_a_name_are_on_the_page(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread, domain = writer.thread(process, 1), writer.domain(process, "d")
        starts, ends = (array("q", range(first, 1000 + first, 100)) for first in (0, 50))
        writer.ranges(thread, domain, starts, ends)
    held = data_of(page.html(nvspan.read(path)))
    ((_, levels),) = tracks_of(held["timeline"])
    assert len(levels[0]) == 10


def test_a_widget_is_of_known_parts(tmp_path):
    recording = written(tmp_path / "a.nvspan", [(0, 10, "load")])
    for wrong in ((), ("table",), "timeline"):
        with pytest.raises(ValueError, match="parts must be of 'timeline', 'icicle', not "):
            page.widget(recording, wrong)
    text = page.widget(recording, ("icicle",))
    assert '"timeline":' not in text
    assert " id=" not in text
