# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What names of ranges say: numbered names as one group, waits, places in the code."""

from __future__ import annotations

import pytest

from nvspan._results.loops import LoopName
from nvspan.loops import vocabulary
from nvspan.loops.choosing import unit_of
from nvspan.loops.groups import group_names
from nvspan.loops.vocabulary import is_function, is_wait, place_in_code
from nvspan.recording.label import matches


def names(*called: str, ranges: int = 1, domain: str | None = None) -> list[LoopName]:
    return [LoopName(domain, name, (0, place), ranges, 0) for place, name in enumerate(called)]


@pytest.mark.parametrize(
    ("called", "label", "pattern"),
    [
        (["batch 1", "batch 2"], "batch", "batch *"),
        (["iteration12", "iteration13"], "iteration", "iteration*"),
        (["batch#3", "batch#4"], "batch", "batch#*"),
        (["Epoch 1/10", "Epoch 2/10"], "Epoch", "Epoch */*"),
        (["step[7]", "step[8]"], "step", "step[[]*]"),
        (["req 3f9a2c71", "req 8b1d4e90"], "req", "req *"),
        (["tile 1", "tile 2", "tile 3"], "tile", "tile *"),
    ],
)
def test_numbers_that_count_rounds_are_one_group(called, label, pattern):
    [group], places = group_names(names(*called))
    assert (group.label, group.pattern, group.is_numbered) == (label, pattern, True)
    assert places == [0] * len(called)
    assert all(matches([group.pattern], None, name) for name in called)


@pytest.mark.parametrize(
    ("called", "ranges"),
    [
        (["layer1", "layer2", "layer3"], 50),
        (["worker 0", "worker 1", "worker 2"], 1),
        (["tile 1", "tile 2"], 1),
        (["tile 1", "tile 2", "tile 3"], 50),
        (["conv4x", "conv5x", "conv6x"], 1),
        (["f.py:1(a)", "f.py:2(a)", "f.py:3(a)"], 1),
    ],
)
def test_other_numbers_are_names(called, ranges):
    groups, places = group_names(names(*called, ranges=ranges))
    assert [group.label for group in groups] == called
    assert places == list(range(len(called)))


def test_places_of_modules_count_no_rounds():
    assert len(group_names(names("0", "1", "2", "3", domain="torch"))[0]) == 4
    assert len(group_names(names("0", "1", "2", "3"))[0]) == 1


def test_names_that_a_pattern_takes_are_one_group():
    groups, places = group_names(names("load", "train", "save"), {(0, 0), (0, 2)}, "[ls]*")
    assert [group.label for group in groups] == ["[ls]*", "train"]
    assert places == [0, 1, 0]
    [group], _ = group_names(names("load"), {(0, 0)}, "lo*")
    assert (group.label, group.pattern) == ("load", "lo*")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, True)
            for name in (
                "queue.get",
                "wait for batch",
                "acquire lock",
                "Thread.join",
                "future.result",
                "barrier",
                "cudaStreamSynchronize",
            )
        ),
        *(
            (name, False)
            for name in (
                "hash_join",
                "join",
                "os.path.join",
                "select_action",
                "get",
                "train",
                "str.join",
                "poll sensors",
                "",
            )
        ),
    ],
)
def test_waits(name, expected):
    assert is_wait(name) is expected


def test_no_wait_is_missed_by_its_letters():
    pairs = {" ".join(pair) for pair in vocabulary._WAIT_PAIRS}
    for name in {*vocabulary._WAIT, *vocabulary._WAIT_LAST, *pairs} - {"join"}:  # of tables, too
        assert is_wait(name), name


def test_functions_of_a_profile():
    assert is_function("nvtx.py", "anything")
    assert is_function(None, "loader.py:8(clean)")
    assert not is_function(None, "loader.py")
    assert place_in_code("/srv/loader.py:8(clean)") == ("clean", "/srv/loader.py", 8)
    assert place_in_code("clean") is None


def test_overlapping_steps_are_requests_unless_their_name_says_otherwise():
    assert [
        unit_of(name, overlapping=True) for name in ("handle", "request", "step", "train_step")
    ] == [
        "request",
        "request",
        "step",
        "step",
    ]
    assert unit_of("request", overlapping=False) == "step"
