# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the tables say of real loops adds up to their steps, and they agree with one another."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

import nvspan
from helpers.recorded_loops import LOOPS, unpack, unpack_ranks
from helpers.reported import run_nvspan
from nvspan.answers.compare import compare_steps
from nvspan.answers.findings import analyze
from nvspan.answers.page import sections
from nvspan.report.summary import Summary, call_tree

NAMES = sorted(path.name.removesuffix(".nvspan.xz") for path in LOOPS.glob("*.nvspan.xz"))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    found = {name: nvspan.read(unpack(name, folder / f"{name}.nvspan")) for name in NAMES}
    return {**found, "ranks": nvspan.read(*unpack_ranks(folder))}


@pytest.fixture(params=[*NAMES, "ranks"])
def recording(request, recordings):
    return recordings[request.param]


def test_every_loop_is_here():
    assert NAMES == ["blocks", "data", "fixed", "gpu", "graph", "item", "launch", "saves", "slow"]


def test_phases_and_idle_time_add_up_to_each_step(recording):
    found = recording.steps()
    for row in found.rows():
        assert sum(row["cpu"].values()) == row["duration"]
        assert sum(row["idle"].values()) <= row["duration"]
        assert all(time >= 0 for kind in ("cpu", "gpu", "idle") for time in row[kind].values())
        assert max(row["gpu"].values()) <= row["busy"] <= sum(row["gpu"].values())
        for phase in found.phases:  # idle while the CPU is in the phase
            assert row["idle"][phase] <= row["cpu"][phase]
    typical = found.typical
    assert typical["steps"] + typical["warm_up"] + typical["outliers"] == len(found)
    assert sum(typical["cpu"].values()) == pytest.approx(typical["duration"])
    usual = found.rows(["typical"])
    assert typical["duration"] == pytest.approx(sum(r["duration"] for r in usual) / len(usual))


def test_statistics_agree_with_the_steps_and_their_phases(recording):
    found = recording.steps()
    rows = {(row.domain, row.name): row for row in Summary(recording).rows
            if row.kind == "push_pop" and not row.backward}  # fmt: skip
    step = rows["torch", "step"]
    assert step.calls == len(found) + found.unclosed
    assert step.total == pytest.approx(sum(found["duration"]))
    known = {"data wait": "dataloader.next", "h2d": "h2d", "forward": "forward",
             "backward": "backward", "load": "load", "save": "save"}  # fmt: skip
    for phase in found.phases:
        row = next((r for (_, name), r in rows.items() if name == known.get(phase)), None)
        if row is not None:  # a loader that is asked once more than there are steps
            assert sum(found[f"cpu.{phase}"]) <= row.total * (1 + 1e-9)


def test_the_tree_is_the_time_of_what_is_in_it(recording):
    nodes = [node for node in call_tree(recording) if node.kind == "push_pop"]
    within: dict[int, float] = {}
    for node in nodes:
        if node.parent is not None:
            within[node.parent] = within.get(node.parent, 0.0) + node.total
    for index, node in enumerate(call_tree(recording)):
        if node.kind == "push_pop":
            parts = node.self + within.get(index, 0.0)
            assert parts == pytest.approx(node.total, rel=1e-3)  # each time is rounded to ns
    rows = [row for row in recording.stats().rows if row.kind == "push_pop"]
    roots = sum(node.total for node in nodes if node.parent is None)
    assert sum(row.self for row in rows) == pytest.approx(roots, rel=1e-4)
    assert sum(node.self for node in nodes) == pytest.approx(roots, rel=1e-4)
    totals: dict[tuple, float] = {}
    for node in nodes:
        key = (node.domain, node.name, node.backward)
        totals[key] = totals.get(key, 0.0) + node.total
    for row in rows:
        assert totals[row.domain, row.name, row.backward] == pytest.approx(row.total)


def test_modules_are_no_more_than_what_they_are_in(recordings):
    found = recordings["blocks"].modules()
    for options in ({"fold": True}, {"fold": False}):
        rows = found.rows(**options)
        around: list[dict] = []
        sums: dict[int, dict[str, float]] = {}
        for row in rows:
            del around[row["level"] :]
            if around:
                parts = sums.setdefault(id(around[-1]), {})
                for time in ("forward_cpu", "backward_cpu"):
                    parts[time] = parts.get(time, 0.0) + (row[time] or 0.0)
            around.append(row)
        for row in rows:
            for time, inner in sums.get(id(row), {}).items():
                assert row[time] is None or inner <= row[time]
    steps = recordings["blocks"].steps()
    model = found.rows()[0]
    kept = steps.rows(["typical"])
    assert (found.steps, found.span) == (len(kept), sum(row["duration"] for row in kept))
    assert model["forward_cpu"] <= sum(row["cpu"]["forward"] for row in kept)
    assert model["backward_cpu"] <= sum(row["cpu"]["backward"] for row in kept)


def test_the_page_and_the_comparison_have_the_same_steps(recording):
    found = recording.steps()
    bars = sections(analyze(recording))["steps"]
    assert bars["each"] == 1
    assert [sum(bar[2]) for bar in bars["bars"]] == list(found["duration"])
    assert [sum(bar[2]) for bar in bars["bars"]] == [sum(r["cpu"].values()) for r in found.rows()]
    rows = {row["name"]: row for row in compare_steps(recording, recording)
            if row["kind"] == "step_cpu"}  # fmt: skip
    assert rows["step"]["before"]["mean"] == found.typical["duration"]
    for phase in found.phases:
        small = found.typical["cpu"][phase] < found.typical["duration"] / 1000
        assert small or rows[phase]["before"]["mean"] == found.typical["cpu"][phase]
    assert {row["change"] for row in rows.values()} == {0}


def ns(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


TIME = r"[\d.]+ (?:s|ms|us|ns)\b"


def test_the_figures_of_findings_are_those_of_the_steps(recording):
    found = recording.steps()
    for one in analyze(recording).findings:
        if one.kind in ("bound-data", "bound-cpu"):
            longest = max(found.typical["idle"].values())
            assert ns(re.search(TIME, one.text)[0]) == pytest.approx(longest, rel=5e-3)
        elif one.kind == "bound-launch" and "waits" in one.text:
            idle = sum(found.typical["idle"].values())
            assert ns(re.search(TIME, one.text)[0]) == pytest.approx(idle, rel=5e-3)


def test_what_the_commands_print_adds_up(tmp_path):
    path = unpack("data", tmp_path / "data.nvspan")
    rows = list(csv.DictReader(io.StringIO(run_nvspan("steps", "--format", "csv", path).stdout)))
    for row in rows:
        phases = sum(int(value) for key, value in row.items() if key.startswith("cpu."))
        assert phases == int(row["duration"])
    table = run_nvspan("steps", path).stdout.splitlines()
    first = next(i for i, line in enumerate(table) if line.startswith("phase "))
    last = next(i for i, line in enumerate(table) if line.startswith("step  ") and i > first)
    times = [list(map(ns, re.findall(TIME, line))) for line in table[first + 1 : last + 1]]
    for column in (0, 2):  # CPU and GPU idle; work of two phases may overlap
        assert sum(line[column] for line in times[:-1]) == pytest.approx(
            times[-1][column], rel=6e-3
        )
    shares = [float(found[0]) for line in table[first + 1 : last]
              if (found := re.findall(r"([\d.]+)%", line))]  # fmt: skip
    assert sum(shares) == pytest.approx(100, abs=2)
    tree = json.loads(run_nvspan("stats", "--tree", "--format", "json", path).stdout)["rows"]
    steps = next(row for row in tree if row["name"] == "step" and row["kind"] == "push_pop")
    assert steps["total"] == sum(int(row["duration"]) for row in rows)
