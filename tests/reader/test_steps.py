# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps: phases, the GPU's work and its idle time, nanosecond by nanosecond; which are typical."""

from __future__ import annotations

import os
import random
from array import array
from pathlib import Path
from typing import Any

import pytest

import nvspan
from nvspan import _reader
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN

Range = tuple[int, int, str, str]  # start, end, name, domain
Op = tuple[int, int, int]  # called, start, end


def written(
    path: Path, threads: dict[int, list[Range]], ops: dict[int, list[Op]] | None = None,
    kind: str = "push_pop", numbers: bool = False,
) -> nvspan.Recording:  # fmt: skip
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        calls, work = writer.domain(process, CALL_DOMAIN), writer.domain(process, WORK_DOMAIN)
        number = 0
        for tid, ranges in threads.items():
            thread = writer.thread(process, tid)
            for count, (start, end, name, domain) in enumerate(ranges):
                more: dict[str, Any] = {"payload": array("q", [count])} if numbers else {}
                writer.ranges(thread, writer.domain(process, domain), array("q", [start]),
                              array("q", [end]), name=writer.strings([name]), kind=kind,
                              **more)  # fmt: skip
            for called, start, end in (ops or {}).get(tid, ()):
                number += 1
                writer.ranges(thread, calls, array("q", [called]), array("q", [called + 1]),
                              payload=array("Q", [number]), kind="start_end")  # fmt: skip
                writer.device_ranges(
                    process, work, array("q", [start]), array("q", [end]), device=0, stream=7,
                    correlation=array("q", [number]), launched=array("q", [called]), tid=tid,
                )  # fmt: skip
    return nvspan.read(path)


def steps_of(rng: random.Random, name: str) -> list[Range]:
    """Steps with phases that nest, and in another domain ones that do not nest in those."""
    ranges, at = [], rng.randint(0, 50)
    for _ in range(rng.randint(1, 8)):
        length = rng.randint(150, 400)
        times = rng.sample(range(at + 1, at + length), 12)
        ranges.append((at, at + length, name, "torch"))
        a, b, c, d = sorted(times[:4])
        ranges += [(a, d, "outer", "torch"), (b, c, "inner", "torch")]
        e, f, g, h = sorted(times[4:8])
        ranges += [(e, f, "load", "data"), (g, h, "cudaDeviceSynchronize", "data")]
        i, j = sorted(times[8:10])
        ranges.append((i, j, "unnamed", "else"))
        at += length + rng.randint(1, 90)
    return ranges


def expected(
    ranges: list[Range], ops: list[Op], busy: set[int], phases: list[str]
) -> list[dict[str, Any]]:
    """Each step by the definition: what is open at each nanosecond, the last to open first."""
    found = []
    for start, end, _, _ in sorted(r for r in ranges if r[2] == "step"):
        row: dict[str, Any] = {
            "start": start, "duration": end - start, "cpu": dict.fromkeys([*phases, "other"], 0),
            "idle": dict.fromkeys([*phases, "other", "synchronising"], 0),
        }  # fmt: skip
        in_phase = {}
        for at in range(start, end):
            inside = [r for r in ranges if start <= r[0] <= at < r[1]]
            phase = max((r[0], r[2]) for r in [*inside, (start, end, "other", "")] if r[2] in phases
                        or r[2] == "other")[1]  # fmt: skip
            waits = any(r[2] == "cudaDeviceSynchronize" for r in inside)
            row["cpu"][phase] += 1
            if at not in busy:
                row["idle"]["synchronising" if waits else phase] += 1
            in_phase[at] = phase
        own = {op: in_phase[op[0]] for op in ops if op[0] in in_phase}
        row["gpu"] = {
            phase: len({at for op in own if own[op] == phase for at in range(op[1], op[2])})
            for phase in [*phases, "other"]
        }
        row["busy"] = len({at for op in own for at in range(op[1], op[2])})
        row["ops"] = len(own)
        ahead = sorted(op[1] - op[0] for op in own)
        row["ahead"] = ahead[(len(ahead) - 1) // 2] if ahead else None
        found.append(row)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_every_nanosecond_is_in_one_phase(tmp_path, seed):
    rng = random.Random(seed)
    phases = ["outer", "inner", "load"]
    ranges = steps_of(rng, "step")
    ends = {time for r in ranges for time in r[:2]}
    until = max(ends)
    ops = []
    for _ in range(rng.randint(0, 25)):
        called = rng.choice([t for t in range(1, until) if t not in ends])
        start = called + rng.randint(1, 60)
        ops.append((called, start, start + rng.randint(1, 40)))
    ops = [*{op[0]: op for op in ops}.values()]
    recording = written(tmp_path / "a.nvspan", {1: ranges}, {1: ops})
    found = recording.steps(phases=phases)
    assert found.phases == [*phases, "other"]
    busy = {at for op in ops for at in range(op[1], op[2])}
    wanted = expected(ranges, ops, busy, phases)
    keys = wanted[0].keys() - (set() if ops else {"idle"})
    assert [{key: row[key] for key in keys} for row in found.rows()] == [
        {key: row[key] for key in keys} for row in wanted
    ]
    assert found.outside == len(ops) - sum(row["ops"] for row in wanted)
    assert found.has_work == bool(ops)
    for name in found.names:
        if name.startswith("cpu."):
            assert list(found[name]) == [row["cpu"][name[4:]] for row in wanted]


def test_work_of_other_threads_belongs_to_the_step_around_its_launch(tmp_path):
    """Autograd launches from threads of its own while the loop's thread is in backward."""
    threads = {1: [(0, 100, "step", "torch"), (10, 40, "forward", "torch"),
                   (50, 90, "backward", "torch")], 2: [(55, 80, "evaluate", "torch")]}  # fmt: skip
    ops = {1: [(20, 30, 60)], 2: [(60, 70, 130)]}
    found = written(tmp_path / "a.nvspan", threads, ops).steps()
    assert found.phases == ["forward", "backward", "other"]
    assert found.rows()[0]["gpu"] == {"forward": 30, "backward": 60, "other": 0}
    assert found.rows()[0]["busy"] == 90


def durations(times: list[int]) -> list[Range]:
    ranges, at = [], 0
    for time in times:
        ranges.append((at, at + time, "step", "torch"))
        at += time + 10
    return ranges


@pytest.mark.parametrize(
    ("times", "states"),
    [
        ([900, 300, 100, 100, 101, 99, 100, 100, 102, 100], "wwtttttttt"),
        ([100, 101, 100, 300, 99, 100, 100, 30, 100, 100], "tttotttott"),
        ([900, 100, 100, 100], "tttt"),  # too few to tell
        ([100, 80, 120, 100, 90, 110, 124, 100], "tttttttt"),  # within a quarter
        ([100] * 8, "tttttttt"),
    ],
)
def test_warm_up_and_outliers(tmp_path, times, states):
    found = written(tmp_path / "a.nvspan", {1: durations(times)}).steps()
    assert "".join(row["state"][0] for row in found.rows()) == states
    kept = [time for time, state in zip(times, states, strict=True) if state == "t"]
    assert found.typical["duration"] == pytest.approx(sum(kept) / len(kept))
    assert found.typical["warm_up"] == states.count("w")
    assert found.typical["outliers"] == states.count("o")
    assert (found.typical["min"], found.typical["max"]) == (min(kept), max(kept))


def test_each_thread_has_a_warm_up_of_its_own(tmp_path):
    threads = {1: durations([500] + [100] * 9), 2: durations([1000] + [400] * 9)}
    found = written(tmp_path / "a.nvspan", threads).steps()
    assert [row["duration"] for row in found.rows(["warm-up"])] == [500, 1000]


def test_the_range_that_repeats_is_the_step_where_none_is_called_so(tmp_path):
    us = 1000
    ranges = [(0, 10_000 * us, "main", "app")]
    for i in range(6):
        at = 100 + 1000 * i
        inner = [
            (0, 900, "turn", "app"),
            (10, 500, "read", "app"),
            (20, 60, "parse", "app"),
            (600, 800, "write", "disk"),
            (620, 660, "read", "app"),
        ]
        ranges += [((at + a) * us, (at + b) * us, *name) for a, b, *name in inner]
    found = written(tmp_path / "a.nvspan", {1: ranges}).steps()
    assert found.step == "app:turn"
    assert found.phases == ["read", "write", "other"]
    # Only what is directly within a step is a phase: `parse` is in `read`, the second `read` in
    # `write`.
    expected = {"read": 490 * us, "write": 200 * us, "other": 210 * us}
    assert [row["cpu"] for row in found.rows()] == [expected] * 6


def test_recursion_and_steps_in_steps(tmp_path):
    ranges = [(0, 100, "step", "torch"), (10, 90, "step", "torch"), (20, 80, "forward", "torch"),
              (30, 40, "forward", "torch")]  # fmt: skip
    found = written(tmp_path / "a.nvspan", {1: ranges}).steps()
    assert [(row["start"], row["duration"]) for row in found.rows()] == [(0, 100)]
    assert found.rows()[0]["cpu"] == {"forward": 60, "other": 40}


def test_start_end_ranges_are_steps_too(tmp_path):
    ranges = [(0, 100, "step", "torch"), (10, 50, "forward", "torch"), (40, 60, "loss", "torch")]
    found = written(tmp_path / "a.nvspan", {1: ranges}, kind="start_end").steps()
    assert found.rows()[0]["cpu"] == {"forward": 30, "loss": 20, "other": 50}


def test_numbers_are_payloads(tmp_path):
    recording = written(tmp_path / "a.nvspan", {1: durations([50] * 3)}, numbers=True)
    assert [row["number"] for row in recording.steps().rows()] == [0, 1, 2]


def test_a_part_by_time_and_thread(tmp_path):
    recording = written(tmp_path / "a.nvspan", {1: durations([90] * 5), 2: durations([40] * 5)})
    first = min(recording.ranges["start"])
    part = recording.filter(start=first + 100, stop=first + 300, threads=[0])
    assert [row["start"] for row in part.steps().rows()] == [100, 200]


def test_names_that_do_not_exist(tmp_path):
    recording = written(tmp_path / "a.nvspan", {1: durations([90] * 3)})
    with pytest.raises(ValueError, match=r"no range is called 'stpe'; the nearest is 'step'"):
        recording.steps("stpe")
    with pytest.raises(ValueError, match=r"no range is called 'forwrad'"):
        recording.steps(phases=["forwrad"])
    with pytest.raises(ValueError, match="at most 64 phases"):
        recording.steps(phases=[str(i) for i in range(65)])
    other = written(tmp_path / "b.nvspan", {1: [(0, 10, "once", "app")]})
    with pytest.raises(ValueError, match="no range repeats as the body of a loop"):
        other.steps()


def test_columns_that_do_not_exist(tmp_path):
    found = written(tmp_path / "a.nvspan", {1: durations([90] * 3)}).steps()
    for name in ("cpu", "cpu.none", "none"):
        with pytest.raises(KeyError):
            found[name]
