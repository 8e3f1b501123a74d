# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU's work of requests that overlap: whose it is, where threads and ranges tell."""

from __future__ import annotations

import json
import os
from array import array

import nvspan
from nvspan import _reader
from nvspan.answers import steps as said

MS = 1_000_000


def written(path, ranges, work):
    """`ranges`: (thread, kind, start, end, name); `work`: (thread or None, launch, start, end).

    Times are ms; without a thread the launch is not known.
    """
    with _reader.ExternalWriter(os.fsencode(path)) as output:
        process = output.process(77)
        threads = [output.thread(process, number) for number in (1, 2, 3)]
        domain = output.domain(process, "app")
        for thread, kind, start, end, name in ranges:
            output.ranges(
                threads[thread], domain, array("q", [MS * start]), array("q", [MS * end]),
                kind=kind, name=output.strings([name]),
            )  # fmt: skip
        for thread, launch, start, end in work:
            known = {} if thread is None else {
                "launched": array("q", [MS * launch]), "tid": thread + 1,
            }  # fmt: skip
            output.device_ranges(
                process, domain, array("q", [MS * start]), array("q", [MS * end]),
                device=0, stream=7, name=output.strings(["work"]), **known,
            )  # fmt: skip
    return nvspan.read(path).steps("request")


def requests(thread, starts, length, kind="start_end"):
    return [(thread, kind, at, at + length, "request") for at in starts]


def shared(steps):
    """What each request has of the GPU: busy ms, pieces, ms by phase."""
    return [
        (row["busy"] / MS, row["ops"], {name: ns / MS for name, ns in row["gpu"].items() if ns})
        for row in steps.rows()
    ]


def test_the_innermost_nested_range_tells_unless_its_request_is_doubtful(tmp_path):
    ranges = requests(0, (0, 10, 20, 30), 40)
    ranges += [(0, "push_pop", at, at + 2, "infer") for at in (32, 34, 36, 38)]
    steps = written(tmp_path / "a.nvspan", ranges, [(0, 33, 50, 53), (0, 37, 60, 61)])
    assert shared(steps) == [(0, 0, {}), (0, 0, {}), (0, 0, {}), (3, 1, {"infer": 3})]
    assert (steps.unshared, steps.outside) == (1, 0)


def test_a_range_of_one_request_alone_is_open(tmp_path):
    ranges = [
        *requests(0, (0,), 100), *requests(0, (50,), 100), *requests(0, (200, 250), 100),
        (0, "start_end", 1, 4, "infer"), (0, "start_end", 51, 54, "infer"),
        (0, "start_end", 201, 204, "infer"), (0, "start_end", 251, 254, "infer"),
    ]  # fmt: skip
    work = [(0, 2, 2, 12), (0, 52, 60, 64), (0, 53, 64, 66), (0, 202, 202, 205), (0, 70, 70, 80)]
    steps = written(tmp_path / "a.nvspan", ranges, work)
    assert shared(steps) == [
        (10, 1, {"infer": 10}), (6, 2, {"infer": 6}), (3, 1, {"infer": 3}), (0, 0, {}),
    ]  # fmt: skip
    assert (steps.unshared, steps.outside, steps.by_run_time) == (1, 0, 0)
    assert said.notes(steps) == [
        "1 piece of the GPU's work are in no request: several were open, and the ranges of the "
        "launching thread do not tell whose it was"
    ]


def test_several_requests_have_a_range_open(tmp_path):
    ranges = [
        *requests(0, (0, 10), 100),
        (0, "start_end", 1, 90, "infer"), (0, "start_end", 11, 95, "infer"),
    ]  # fmt: skip
    steps = written(tmp_path / "a.nvspan", ranges, [(0, 5, 5, 6), (0, 50, 50, 60)])
    assert shared(steps) == [(1, 1, {"infer": 1}), (0, 0, {})]
    assert steps.unshared == 1


def test_a_thread_without_requests(tmp_path):
    """It launches for the only request there is; of several it does not say for which."""
    ranges = [*requests(0, (0, 10), 20), (1, "push_pop", 0, 100, "worker")]
    work = [(1, 5, 5, 6), (1, 15, 15, 17), (1, 29, 29, 33), (1, 50, 50, 60)]
    steps = written(tmp_path / "a.nvspan", ranges, work)
    assert shared(steps) == [(1, 1, {"other": 1}), (4, 1, {"other": 4})]
    assert (steps.unshared, steps.outside) == (1, 1)


def test_a_launch_that_is_not_known_is_of_the_only_request_open(tmp_path):
    work = [(None, 0, 5, 6), (None, 0, 15, 16)]
    steps = written(tmp_path / "a.nvspan", requests(0, (0, 10), 20), work)
    assert shared(steps) == [(1, 1, {"other": 1}), (0, 0, {})]
    assert (steps.unshared, steps.by_run_time) == (1, 1)


def test_requests_of_two_threads(tmp_path):
    """Each thread's work is its own; a third thread's is of neither."""
    ranges = [(thread, "push_pop", at, at + 10, "request") for thread in (0, 1)
              for at in range(0, 60, 10)]  # fmt: skip
    ranges.append((2, "push_pop", 0, 60, "worker"))
    work = [(0, 5, 5, 6), (1, 5, 6, 9), (2, 5, 9, 10)]
    steps = written(tmp_path / "a.nvspan", ranges, work)
    assert sorted(row["busy"] for row in steps.rows())[-2:] == [1 * MS, 3 * MS]
    assert (steps.unshared, steps.outside) == (1, 0)


def test_nothing_is_said_of_an_idle_gpu(tmp_path):
    ranges = requests(0, (0, 10, 20, 30), 40)
    steps = written(tmp_path / "a.nvspan", ranges, [(0, 5, 5, 6)])
    shown = said.render(steps, each=True)
    assert "GPU idle" not in shown
    assert "the GPU works for" in shown
    document = json.loads(said.as_json(steps))
    assert document["limit"]["bound"] is None
    assert not [name for name in said.csv(steps).splitlines()[0].split(",") if "idle" in name]


def test_requests_without_work_have_no_columns_of_it(tmp_path):
    steps = written(tmp_path / "a.nvspan", requests(0, (0, 10, 20, 30), 40), [])
    assert not steps.has_work
    assert "GPU" not in said.render(steps, each=True).partition("cannot tell")[0]
