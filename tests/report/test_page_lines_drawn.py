# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph of samples in a browser: functions below ranges, lines on a click, waits."""

from __future__ import annotations

import os

import pytest

import nvspan
from helpers.browser import page as browser_page
from helpers.drawn import opened, settle
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.report import page

MS = 10**6 / 1024  # units


def write(folder, *, ranges=True):
    """A second of load(), at two lines, and half of one in which save() waits; in another thread
    half a second of load()."""
    source = folder / "app.py"
    source.write_text(
        "import json\n\ndef load():\n    decode(1)\n    decode(2)\n", encoding="utf-8"
    )
    os.utime(source, ns=(0, 0))
    file = SampledFile()
    first, second = (file.stack(file.frame(str(source), "load", line, first_line=3))
                     for line in (4, 5))  # fmt: skip
    save = file.stack(file.frame("/p/lib.py", "save", 9, first_line=8))
    main, other = file.thread(), file.thread(7)
    samples = SampleChunk(0, 1000)
    for look in range(1500):
        at = round((look + 1) * MS)
        stack = first if look < 750 else second if look < 1000 else save
        samples.sample(at, main, stack, WAITING if stack == save else RUNNING)
        if look < 500:
            samples.sample(at, other, first)
        elif look == 500:
            samples.note(3, other)  # it ended
    if ranges:
        end = round(1000.5 * MS)
        file.ranges([(0, end, "load"), (end + 1, round(1502 * MS), "save")])
        file.ranges([(0, round(502 * MS), "load")], tid=7)
    file.samples(samples)
    return nvspan.read(file.write(folder / "a.nvspan"))


def show(tab, folder, **given):
    out = folder / "page.html"
    out.write_text(page.html(write(folder, **given)), encoding="utf-8")
    tab.errors = opened(tab, out)
    return tab


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser_page(color_scheme="light") as made:
        yield show(made, tmp_path_factory.mktemp("ranges"))


@pytest.fixture(scope="module")
def bare(tab, tmp_path_factory):
    made = tab.context.browser.new_page()
    return show(made, tmp_path_factory.mktemp("bare"), ranges=False)


@pytest.fixture
def flame(tab):
    tab.reload()
    tab.evaluate("document.getElementById('sampled').scrollIntoView()")
    yield tab.locator("#sampled")
    assert tab.errors == []


def cells(tab):
    """Level, name and time in ms of what is drawn."""
    return [(cell["level"], cell["name"], round(cell["total"] / 1e6))
            for cell in tab.evaluate("nvspan.sampled.drawn()")]  # fmt: skip


def table(flame):
    heads = flame.locator(".hot-lines th").all_inner_texts()
    rows = [row.locator("td").all_inner_texts()
            for row in flame.locator(".hot-lines tbody tr").all()]  # fmt: skip
    return flame.locator(".hot-lines b").inner_text(), heads, rows


def click(tab, flame, name):
    cell = next(cell for cell in tab.evaluate("nvspan.sampled.drawn()") if cell["name"] == name)
    box = flame.locator("canvas").bounding_box()
    place = box["x"] + cell["x"] + cell["width"] / 2, box["y"] + 18 * cell["level"] + 9
    tab.mouse.move(*place)
    tip = flame.locator(".tip").inner_text().splitlines()
    tab.mouse.click(*place)
    return tip


def test_functions_are_below_their_ranges(tab, flame):
    assert cells(tab) == [
        (0, "All threads", 2000), (1, "load", 1500), (2, "load()  app.py:3", 1500),
        (1, "save", 500), (2, "save()  lib.py:8", 500),
    ]  # fmt: skip


def test_a_click_on_a_function_shows_its_lines(tab, flame):
    tip = click(tab, flame, "load()  app.py:3")
    assert tip == [
        "load() app.py:3", "1.50 s, 75% of All threads", "100% of load",
        "self 1.50 s · 1,500 samples · 100% on a core",
    ]  # fmt: skip
    assert table(flame) == (
        "Lines of load() app.py:3",
        ["line", "total", "share", "self", "on core", "waiting", "samples", "text"],
        [["app.py:4", "1.25 s", "83% ±13%", "1.25 s", "1.25 s", "", "1,250", "decode(1)"],
         ["app.py:5", "249 ms", "17% ±13%", "249 ms", "249 ms", "", "250", "decode(2)"]],
    )  # fmt: skip


def test_a_range_shows_its_hottest_lines_and_so_does_the_whole(tab, flame):
    heads = ["line", "self", "share", "on core", "waiting", "samples"]
    title, shown, rows = table(flame)
    assert (title, shown, [row[:3] for row in rows]) == (
        "Hottest lines of All threads", [*heads, "text"],
        [["app.py:4", "1.25 s", "63% ±16%"], ["lib.py:9", "500 ms", "25% ±13%"],
         ["app.py:5", "249 ms", "12% ±10%"]],
    )  # fmt: skip
    click(tab, flame, "save")
    assert table(flame) == (
        "Hottest lines of save", heads,
        [["lib.py:9", "500 ms", "100% ±0.6%", "", "500 ms", "500"]],
    )  # fmt: skip


def test_time_on_a_core_and_waits_are_apart(tab, flame):
    kind, where = flame.locator("select").nth(0), flame.locator("select").nth(1)
    assert kind.locator("option").all_inner_texts() == ["all time", "on a core", "waiting"]
    assert where.locator("option").all_inner_texts() == ["All threads", "thread 42", "thread 7"]
    kind.select_option("on a core")
    where.select_option("thread 42")
    assert [cell for cell in cells(tab) if cell[0] < 2] == [
        (0, "thread 42, on a core", 1000), (1, "load", 1000),
    ]  # fmt: skip
    assert [row[2] for row in table(flame)[2]] == ["75%", "25%"]  # of that no interval is known
    kind.select_option("waiting")
    assert [name for _, name, _ in cells(tab)] == [
        "thread 42, waiting", "save", "save()  lib.py:8",
    ]  # fmt: skip


def test_a_search_counts_functions(tab, flame):
    flame.locator("input[type=search]").fill("LIB.PY")
    assert flame.locator(".found").inner_text() == "25% in 1 name"
    flame.locator("input[type=search]").fill("")


def test_a_button_shows_the_ranges_alone(tab, flame):
    assert [tab.locator(name).is_visible() for name in ("#sampled", "#icicle")] == [True, False]
    tab.get_by_role("button", name="Ranges", exact=True).click()
    settle(tab)
    assert [tab.locator(name).is_visible() for name in ("#sampled", "#icicle")] == [False, True]
    assert [cell["name"] for cell in tab.evaluate("nvspan.icicle.drawn()")] == [
        "All threads", "load", "save",
    ]  # fmt: skip
    tab.get_by_role("button", name="Ranges and functions").click()
    assert [tab.locator(name).is_visible() for name in ("#sampled", "#icicle")] == [True, False]


def test_without_ranges_the_flame_graph_comes_first(bare):
    headings = bare.locator("h2:visible").all_inner_texts()
    assert headings[0] == "Flame graph"
    assert "Ranges" not in headings
    assert cells(bare) == [
        (0, "All threads", 2000), (1, "load()  app.py:3", 1500), (1, "save()  lib.py:8", 500),
    ]  # fmt: skip
    assert bare.errors == []
