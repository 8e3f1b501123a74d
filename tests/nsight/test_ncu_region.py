# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""profile_region: what it emits. tests/device/test_cold_context.py has when it warns."""

from __future__ import annotations

import pytest

from helpers.traced import needs_library, run_traced
from nvspan.nsight import profile_region

pytestmark = needs_library


def ranges(traced):
    return [
        (event["kind"], event.get("domain"), event.get("message"))
        for event in traced.events
        if event["kind"] in ("push", "pop")
    ]


def names(traced):
    return [message for kind, _, message in ranges(traced) if kind == "push"]


def test_a_region_is_a_range_of_its_name_and_domain():
    traced = run_traced(
        "import nvspan.nsight\n"
        "with nvspan.nsight.profile_region('work', domain='app'):\n"
        "    with nvspan.nsight.profile_region('inner'): pass\n"
    )
    pushed = [(domain, name) for kind, domain, name in ranges(traced) if kind == "push"]
    assert pushed == [("app", "work"), ("", "inner")] or pushed == [
        ("app", "work"),
        (None, "inner"),
    ]
    assert [kind for kind, _, _ in ranges(traced)] == ["push", "push", "pop", "pop"]


def test_the_first_times_are_left_out():
    traced = run_traced(
        "import nvspan.nsight\n"
        "region = nvspan.nsight.profile_region('work', warmup=2)\n"
        "for i in range(5):\n"
        "    with region: nvspan.mark(str(i))\n"
    )
    assert names(traced) == ["work"] * 3


def test_a_function():
    traced = run_traced(
        "import nvspan.nsight\n"
        "@nvspan.nsight.profile_region(warmup=1)\n"
        "def layer(x, *, y):\n"
        "    return layer(x - 1, y=y) if x else y\n"
        "assert layer(2, y=7) == 7 and layer.__name__ == 'layer'\n"
    )
    assert names(traced) == ["layer", "layer"]


def test_threads_enter_one_region():
    """The warm-up of a thread ends while the range of another one is open."""
    traced = run_traced(
        "import nvspan.nsight, threading\n"
        "region = nvspan.nsight.profile_region('work', warmup=1)\n"
        "first, second = threading.Event(), threading.Event()\n"
        "def other():\n"
        "    with region:\n"
        "        first.set()\n"
        "        second.wait()\n"
        "thread = threading.Thread(target=other)\n"
        "with region:\n"
        "    thread.start()\n"
        "    first.wait()\n"
        "second.set()\n"
        "thread.join()\n"
    )
    found = [event for event in traced.events if event["kind"] in ("push", "pop")]
    assert [event["kind"] for event in found] == ["push", "pop"]
    assert len({event["tid"] for event in found}) == 1


def test_an_error_goes_through_and_the_range_ends():
    traced = run_traced(
        "import nvspan.nsight\n"
        "try:\n"
        "    with nvspan.nsight.profile_region('work'): raise KeyError(1)\n"
        "except KeyError: pass\n"
    )
    assert [kind for kind, _, _ in ranges(traced)] == ["push", "pop"]


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        (1, {}, TypeError, "name must be a str, not 1"),
        ("a", {"warmup": True}, TypeError, "warmup must be an int, not True"),
        ("a", {"warmup": -1}, ValueError, "warmup must be 0 or more, not -1"),
    ],
)
def test_what_makes_no_sense(name, options, error, words):
    with pytest.raises(error, match=words):
        profile_region(name, **options)
