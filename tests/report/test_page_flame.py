# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph in a browser: per thread, rank, stream and step, in two orders, searched."""

from __future__ import annotations

import os
from array import array

import pytest

import nvspan
from helpers.browser import page as browser_page
from helpers.drawn import opened
from nvspan import _reader
from nvspan.report import page

STEPS = 10
ODD = 7  # a step that is longer


def write(path):
    """Two ranks of ten steps each: load, then train, which calls itself; a stream of each."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        for rank in range(2):
            process = writer.process(70 + rank, rank=rank)
            domain = writer.domain(process, None)
            main = writer.thread(process, 70 + rank, "main")

            def ranges(name, starts, ends, thread=main, domain=domain):
                writer.ranges(thread, domain, array("q", starts), array("q", ends),
                              name=writer.strings([name] * len(starts)))  # fmt: skip

            begins = [1000 * i for i in range(STEPS)]
            lengths = [900 if i == ODD else 100 + 100 * rank for i in range(STEPS)]
            ends = [begin + length for begin, length in zip(begins, lengths, strict=True)]
            ranges("step", begins, ends)
            ranges("load", begins, [begin + 20 for begin in begins])
            ranges("train", [begin + 20 for begin in begins], [end - 10 for end in ends])
            ranges("train", [begin + 30 for begin in begins], [end - 20 for end in ends])
            writer.device_ranges(
                process, domain, array("q", [500]), array("q", [540 + 10 * rank]), device=rank,
                stream=7, name=writer.strings(["kernel"]),
            )  # fmt: skip
    return nvspan.read(path)


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flame")
    out = folder / "page.html"
    out.write_text(page.html(write(folder / "a.nvspan")), encoding="utf-8")
    with browser_page(color_scheme="light") as made:
        made.errors = opened(made, out)
        yield made


@pytest.fixture
def flame(tab):
    tab.reload()
    tab.evaluate("document.getElementById('icicle').scrollIntoView()")
    yield tab.locator("#icicle")
    assert tab.errors == []


def cells(tab):
    return [(cell["level"], cell["name"], cell["total"])
            for cell in tab.evaluate("nvspan.icicle.drawn()")]  # fmt: skip


def test_ranks_threads_and_streams_have_flame_graphs_of_their_own(tab, flame):
    where = flame.locator("select").nth(1)
    assert where.locator("option").all_inner_texts() == [
        "All threads", "All GPU streams", "rank 0 (70): threads", "rank 0 (70): GPU",
        "rank 1 (71): threads", "rank 1 (71): GPU", "rank 0 (70): main",
        "rank 0 (70): GPU 0 · stream 7", "rank 1 (71): main", "rank 1 (71): GPU 1 · stream 7",
    ]  # fmt: skip
    totals = {}
    for choice in ("All threads", "rank 0 (70): threads", "rank 1 (71): main", "All GPU streams",
                   "rank 1 (71): GPU 1 · stream 7"):  # fmt: skip
        where.select_option(choice)
        totals[choice] = {name: total for level, name, total in cells(tab) if level == 1}
    assert totals == {
        "All threads": {"step": 4500}, "rank 0 (70): threads": {"step": 1800},
        "rank 1 (71): main": {"step": 2700}, "All GPU streams": {"kernel": 90},
        "rank 1 (71): GPU 1 · stream 7": {"kernel": 50},
    }  # fmt: skip


def test_steps_have_flame_graphs_of_their_own(tab, flame):
    when, where = flame.locator("select").nth(0), flame.locator("select").nth(1)
    labels = when.locator("option").all_inner_texts()
    assert labels[0] == "whole time"
    typical = next(label for label in labels if "typical" in label)
    odd = [label for label in labels if "outlier" in label]
    assert odd
    when.select_option(typical)
    where.select_option("rank 0 (70): main")
    of_typical = {name: total for _, name, total in cells(tab)}
    when.select_option(odd[0])
    of_odd = {name: total for _, name, total in cells(tab)}
    assert of_typical["step"] == (STEPS - 1) * 100
    assert (of_odd["step"], of_odd["train"]) == (900, 870)


def test_recursion_is_one_path_and_the_largest_stands_left(tab, flame):
    flame.locator("select").nth(1).select_option("rank 0 (70): main")
    assert cells(tab) == [
        (0, "rank 0 (70): main", 1800), (1, "step", 1800), (2, "train", 1500), (2, "load", 200),
    ]  # fmt: skip
    flame.locator("select").nth(2).select_option("as they came")
    assert [name for level, name, _ in cells(tab) if level == 2] == ["load", "train"]
    train = next(c for c in tab.evaluate("nvspan.icicle.drawn()") if c["name"] == "train")
    assert (train["calls"], train["self"]) == (2 * STEPS, 1500)


def test_a_search_says_how_much_of_the_time_it_found(tab, flame):
    flame.locator("select").nth(1).select_option("rank 0 (70): main")
    flame.locator("input[type=search]").fill("TRAIN")
    found = [c["name"] for c in tab.evaluate("nvspan.icicle.drawn()") if c["match"]]
    assert found == ["train"]
    assert flame.locator(".found").inner_text() == "83% in 1 name"
    flame.locator("input[type=search]").fill("")


def test_a_click_zooms_and_the_tip_says_what_the_path_took(tab, flame):
    flame.locator("select").nth(1).select_option("rank 0 (70): main")
    load = next(c for c in tab.evaluate("nvspan.icicle.drawn()") if c["name"] == "load")
    box = flame.locator("canvas").bounding_box()
    place = box["x"] + load["x"] + load["width"] / 2, box["y"] + 18 * load["level"] + 9
    tab.mouse.move(*place)
    assert flame.locator(".tip").inner_text().splitlines() == [
        "load", "200 ns, 11% of rank 0 (70): main", "11% of step",
        "self 200 ns · 10 calls, 20 ns each",
    ]  # fmt: skip
    tab.mouse.click(*place)
    assert cells(tab) == [(0, "rank 0 (70): main", 1800), (1, "step", 1800), (2, "load", 200)]
    flame.get_by_role("button", name="Zoom out").click()
    assert len(cells(tab)) == 4
