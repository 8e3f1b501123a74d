# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a range filter hits in a recording: against the stacks that the program had."""

from __future__ import annotations

import random
import re
import sys

import pytest

import nvspan
from helpers.filtered_kernels import KERNELS as FILTERED
from helpers.filtered_kernels import STACKS
from helpers.length import length
from helpers.recorded import record_command
from helpers.traced import needs_library
from nvspan.nsight import Between, RangeFilter

pytestmark = needs_library
ONE, ANY = Between.ONE, Between.ANY

PROGRAM = """
import threading
import nvspan

def nested(*names, domain="app"):
    for name in names:
        nvspan.push_range(name, domain=domain)
    for name in names:
        nvspan.pop_range(domain=domain)

def work():
    nested("step", "forward", "layer", "mlp")
    nested("step", "layer")
    nested("layer", "step", "step")
    with nvspan.annotate("step"), nvspan.annotate("layer", domain="app"):
        nested("mlp")

work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
first = nvspan.start_range("load", domain="app")
second = nvspan.start_range("copy", domain="app")
third = nvspan.start_range("copy", domain="app")
nvspan.end_range(second)
nvspan.end_range(first)
fourth = nvspan.start_range("load", domain="app")
nvspan.end_range(third)
nvspan.end_range(fourth)
nvspan.end_range(nvspan.start_range("copy", domain="app"))
nvspan.end_range(nvspan.start_range("step", domain="app"))
nvspan.push_range("open", domain="app")
"""


def recorded(code, folder):
    return record_command([sys.executable, "-c", code], folder=folder).recording


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return recorded(PROGRAM, tmp_path_factory.mktemp("evaluate"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("step/", [(None, "step", 2)]),
        ("app@step/", [("app", "step", 8)]),
        ("app@layer/", [("app", "layer", 8)]),
        ("app@step/layer", [("app", "layer", 2)]),
        ("app@step/+/layer", [("app", "layer", 2)]),
        ("app@step/*/layer", [("app", "layer", 4)]),
        ("app@step/*/mlp", [("app", "mlp", 2)]),
        ("app@step/+/+/mlp", [("app", "mlp", 2)]),
        ("app@step/+/mlp", []),
        ("app@layer/*/mlp", [("app", "mlp", 4)]),
        ("app@step/step", [("app", "step", 2)]),
        ("app@[step", [("app", "step", 4)]),
        ("app@[layer", [("app", "layer", 4)]),
        ("app@[layer/mlp]", [("app", "mlp", 2)]),
        ("app@[step/+]", [("app", "forward", 2), ("app", "layer", 2)]),
        ("app@forward/*]", [("app", "forward", 2), ("app", "layer", 2), ("app", "mlp", 2)]),
        ("app@step]", [("app", "step", 8)]),
        ("app@open/", [("app", "open", 1)]),
        ("app@load", [("app", "load", 2)]),
        ("app@step", [("app", "step", 1)]),
        ("app@absent/", []),
        ("nobody@step/", []),
        ("load", []),
        ("regex:a.*@(mlp|forward)/", [("app", "mlp", 4), ("app", "forward", 2)]),
        ("app@step/*", [("app", "step", 8)]),
        ("regex:app@st/", [("app", "step", 8)]),
        ("regex:app@^st$/", []),
        ("regex:app@st/lay", []),
        ("regex:^a$@step/", []),
        ("regex:app@.*/lay.*", [("app", "layer", 4)]),
    ],
)
def test_what_a_filter_hits(recording, text, rows):
    hits = RangeFilter.parse(text).evaluate(recording)
    assert [(row.domain, row.name, row.calls) for row in hits.rows] == rows
    assert hits.calls == sum(row[2] for row in rows)
    assert bool(hits) == bool(rows)
    assert hits.filter == RangeFilter.parse(text)


def test_the_threads_and_the_time(recording):
    main, other = range(len(recording.threads))
    assert RangeFilter("step", domain="app").evaluate(recording).threads == (main, other)
    hits = RangeFilter("load", domain="app", span=True).evaluate(recording)
    assert hits.threads == (main,)
    rows = [r for r in recording.ranges.rows() if (r["name"], r["kind"]) == ("load", 1)]
    assert hits.rows[0].total == sum(row["duration"] for row in rows)
    assert hits.rows[0].threads == (main,)
    unclosed = RangeFilter("open", domain="app").evaluate(recording)
    assert (unclosed.calls, unclosed.rows[0].total) == (1, 0)


def test_several_start_end_ranges_count_while_all_are_open(recording):
    """load and copy are both open twice: until the first load ends, and from the second on."""
    hits = RangeFilter("load", "copy", domain="app", span=True).evaluate(recording)
    assert hits.calls == 2
    rows = [(row.name, row.calls) for row in hits.rows]
    assert sorted(rows) == [("copy", 2), ("load", 2)]
    assert not RangeFilter("load", "step", domain="app", span=True).evaluate(recording)


# --- as ncu does ---

KERNELS_IN_THREADS = """
import threading
import nvspan

def around(domain, kind, names):
    if kind == "push_pop":
        for name in names:
            nvspan.push_range(name, domain=domain)
        for name in names:
            nvspan.pop_range(domain=domain)
        return
    for opened in [nvspan.start_range(name, domain=domain) for name in names]:
        nvspan.end_range(opened)

for stack in {stacks!r}:
    thread = threading.Thread(target=around, args=stack)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The part of a recording with the ranges around each kernel."""
    numbers = [number for number, (_, _, names) in STACKS.items() if names]
    code = KERNELS_IN_THREADS.format(stacks=[STACKS[number] for number in numbers])
    whole = recorded(code, tmp_path_factory.mktemp("kernels"))
    parts = {}
    for row in range(len(whole.threads)):
        part = whole.filter(threads=[row])
        if names := tuple(each["name"] for each in part.ranges.rows()):
            number = numbers[len(parts)]
            assert names == STACKS[number][2]
            parts[number] = part
    assert list(parts) == numbers
    return parts


def open_around(number):
    """The kernels whose ranges are open at some time when those of `number` come and go."""
    domain, kind, names = STACKS[number]
    return {n for n, (d, k, some) in STACKS.items()
            if some and (d, k) == (domain, kind) and some == names[: len(some)]}  # fmt: skip


@pytest.mark.parametrize("text", FILTERED)
def test_a_filter_hits_the_ranges_of_the_kernels_that_ncu_profiles(kernels, text):
    filter = RangeFilter.parse(text)
    assert {number for number, part in kernels.items() if filter.evaluate(part)} == {
        number for number in kernels if open_around(number) & FILTERED[text]
    }


def test_statistics_alone_are_refused(tmp_path):
    recording = record_command(
        [sys.executable, "-c", PROGRAM], folder=tmp_path, mode="stats"
    ).recording
    with pytest.raises(ValueError, match="has statistics only: record without --mode stats"):
        RangeFilter("step").evaluate(recording)


# --- against all the stacks of a program with random ones ---

RANDOM = """
import random
import nvspan

chance = random.Random({seed})
depths = {{"": 0, "d": 0}}
for _ in range(1500):
    domain = chance.choice(["", "d", "d", "d"])
    if depths[domain] and chance.random() < 0.5:
        nvspan.pop_range(domain=domain or None)
        depths[domain] -= 1
    else:
        nvspan.push_range(chance.choice("abc"), domain=domain or None)
        depths[domain] += 1
"""


def stacks(recording):
    """The stack in the domain "d" whenever a range was pushed there."""
    made, open_names = [], []
    for call in recording.calls():
        if call.get("domain") != "d":
            continue
        if call["kind"] == "push":
            open_names.append(call["message"])
            made.append("/".join(open_names))
        elif call["kind"] == "pop":
            open_names.pop()
    return made


def expected(filter, every):
    """A stack is a text, a path an expression for it."""
    words = {ONE: "[abc]/", ANY: "(?:[abc]/)*"}
    body = "".join(words.get(item) or f"{item}/" for item in filter.path)
    start = "^" if filter.bottom else "(?:^|/)"
    match = re.compile(f"{start}{body}$").search
    return sum(match(stack + "/") is not None for stack in every)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_stacks(seed, tmp_path):
    recording = recorded(RANDOM.format(seed=seed), tmp_path)
    every, chance, hit = stacks(recording), random.Random(seed), 0
    times = length(150, 30)
    for _ in range(times):
        path = [chance.choice("abc") for _ in range(chance.randint(1, 3))]
        for place in range(len(path) - 1, 0, -1):
            path[place:place] = chance.choices([ONE, ANY], k=chance.choice([0, 1, 1, 2]))
        filter = RangeFilter(*path, domain="d", bottom=chance.random() < 0.3)
        calls = filter.evaluate(recording).calls
        assert calls == expected(filter, every), filter
        hit += calls > 0
    assert hit > times / 3


def test_a_part_of_a_recording(recording):
    part = recording.filter(threads=[0])
    assert RangeFilter("step", domain="app").evaluate(part).calls == 4
    assert isinstance(part, nvspan.Recording)
