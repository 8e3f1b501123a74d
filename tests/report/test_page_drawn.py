# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page draws, and what it does when it is used: in a real browser, by pixels and by the
list of what was drawn."""

from __future__ import annotations

import os
from array import array

import pytest

import nvspan
from helpers.browser import page as browser_page
from helpers.drawn import drawn, opened, settle
from helpers.written import put
from nvspan import _reader
from nvspan.report import page

TOMATO, GOLD = 0xFFFF6347, 0xFFFFD700
WHOLE = 1000  # ns
DEEP = 12


def write(path):
    """One process: a thread that launches, a deep thread, a stream, marks and a counter."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        deep = writer.thread(process, 8, "deep")
        main = writer.thread(process, 77, "main")
        domain = writer.domain(process, "d")
        writer.category(domain, 3, "io")

        levels = [(depth, WHOLE - depth, f"level {depth}") for depth in range(DEEP)]
        put(writer, deep, domain, levels)
        put(writer, main, domain, [(0, 400, "outer")], color=TOMATO)
        put(writer, main, domain, [(100, 300, "inner")], category=3, payload=42)
        put(writer, main, domain, [(500, 600, "inner")], category=3, payload=43)
        put(writer, main, domain, [(700, 1000, "outer")], color=TOMATO)
        writer.marks(
            main, domain, array("q", [50, 650]), name=writer.strings(["tick"] * 2), color=GOLD
        )
        writer.device_ranges(
            process, domain, array("q", [450, 620]), array("q", [550, 700]), device=0, stream=7,
            name=writer.strings(["kernel", "copy"]), correlation=array("Q", [1, 2]),
            launched=array("q", [150, 200]), tid=77,
        )  # fmt: skip
        counter = writer.counter(process, domain, "memory", unit="B")
        writer.samples(main, counter, array("q", [0, 500]), array("d", [100.0, 400.0]))
    return nvspan.read(path)


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    out = folder / "page.html"
    out.write_text(page.html(write(folder / "a.nvspan")), encoding="utf-8")
    with browser_page(color_scheme="light") as made:
        made.errors = opened(made, out)
        made.address = out.as_uri()
        yield made


@pytest.fixture
def shown(tab):
    """The page, newly opened, with its timeline in view."""
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(tab.address)
    tab.evaluate("document.getElementById('timeline').scrollIntoView()")
    settle(tab)
    yield tab
    assert tab.errors == []


def lane(tab, label):
    """Where the canvas of a lane is."""
    found = tab.locator(".strip .lane", has=tab.locator(".lane-label", has_text=label))
    return found.locator("canvas").first.bounding_box()


def pixel(tab, label, x, y):
    """Red, green, blue and alpha at a place of a lane's canvas."""
    return tab.evaluate(
        """([label, x, y]) => {
          const lane = nvspan.timeline.all.find(l => l.label?.textContent.includes(label));
          lane.draw();
          return [...lane.canvas.getContext("2d").getImageData(x, y, 1, 1).data]; }""",
        [label, x, y],
    )


def view(tab):
    return tab.evaluate("[nvspan.model.from, nvspan.model.to]")


def click(tab, label, time, y):
    box = lane(tab, label)
    start, end = view(tab)
    tab.mouse.click(box["x"] + (time - start) / (end - start) * box["width"], box["y"] + y)
    settle(tab)


def test_blocks_stand_where_their_times_are_in_their_own_colors(shown):
    width = lane(shown, "main")["width"]
    found = [(b.level, b.name, round(b.x * WHOLE / width), round((b.x + b.width) * WHOLE / width))
             for b in drawn(shown, "main")]  # fmt: skip
    assert found == [
        (0, "d:outer", 0, 399), (0, "d:inner", 500, 599), (0, "d:outer", 700, 999),
        (1, "d:inner", 100, 299), (-1, "d:tick", 50, 50), (-1, "d:tick", 650, 650),
    ]  # fmt: skip
    assert {b.fill for b in drawn(shown, "main") if b.name == "d:outer"} == {"#ff6347"}
    assert pixel(shown, "main", round(width * 0.75), 25) == [255, 99, 71, 255]
    assert pixel(shown, "main", round(width * 0.05), 6) == [255, 215, 0, 255]
    assert pixel(shown, "main", round(width * 0.65), 25) != [255, 99, 71, 255]


def test_lanes_fold(shown):
    labels = shown.locator(".lane-label").all_inner_texts()
    assert labels[:4] == ["time", "▾ main", "▸ deep\n12 levels", "GPU 0 · stream 7"]
    folded = lane(shown, "deep")["height"]
    rows = {b.y: b.height for b in drawn(shown, "deep")}
    assert len(rows) == DEEP
    assert list(rows.values()) == [16] * 4 + [4] * 8  # the outer ones have room for names
    box = lane(shown, "deep")
    for y, level in ((8, 0), (17 * 3 + 8, 3), (17 * 4 + 3, 4), (17 * 4 + 5 * 7 + 3, 11)):
        shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + y)
        tip = shown.locator("#timeline .tip").inner_text()
        assert tip.startswith(f"d:level {level} ")
    shown.locator(".lane-label", has_text="deep").click()
    settle(shown)
    assert lane(shown, "deep")["height"] == folded + 8 * 12
    assert {b.height for b in drawn(shown, "deep")} == {16}
    shown.get_by_role("button", name="Fold all").click()
    assert shown.locator(".lane-label[aria-expanded=true]").count() == 0


def test_the_tip_says_payload_parent_and_category(shown):
    box = lane(shown, "main")
    shown.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 12 + 17 + 8)
    tip = shown.locator("#timeline .tip")
    assert tip.inner_text().splitlines() == [
        "d:inner — 200 ns at 100 ns", "payload: 42", "in: d:outer", "category: io",
    ]  # fmt: skip
    shown.mouse.move(box["x"] + box["width"] * 0.05, box["y"] + 6)
    assert tip.inner_text().splitlines() == ["d:tick (mark) at 50 ns", "in: d:outer"]


def test_a_click_selects_and_shows_the_durations_of_the_name(shown):
    click(shown, "main", 200, 12 + 17 + 8)
    panel = shown.locator(".panel")
    assert panel.locator("b").inner_text() == "d:inner"
    facts = dict(zip(panel.locator("dt").all_inner_texts(), panel.locator("dd").all_inner_texts(),
                     strict=True))  # fmt: skip
    assert facts == {
        "at": "100 ns", "duration": "200 ns", "on": "main", "in": "d:outer", "category": "io",
        "payload": "42", "launched": "2 blocks of GPU work, 180 ns", "calls": "2",
        "in all": "300 ns", "mean": "150 ns",
    }  # fmt: skip
    counts = [int(bar.get_attribute("data-count")) for bar in panel.locator("rect").all()]
    assert (sum(counts), counts[0], counts[-1]) == (2, 1, 1)
    assert panel.locator("rect.own").count() == 1
    assert panel.locator("rect").last.get_attribute("class") == "own"
    shown.keyboard.press("Escape")
    assert not panel.is_visible()


def outlined(tab, label):
    """The ranges of a lane with a dashed outline in the color of what is marked."""
    return tab.evaluate(
        """label => {
          const { all, keys, model, theme } = nvspan.timeline;
          const lane = all.find(l => l.label?.textContent.includes(label));
          const color = [1, 3, 5].map(i => parseInt(theme.mark.slice(i, i + 2), 16));
          const pen = lane.canvas.getContext("2d"), width = lane.canvas.width;
          return lane.track.levels.flatMap((level, row) => [...level.start].map((start, i) => {
            const x = Math.round((start - model.from) / (model.to - model.from) * width) - 3;
            const { data } = pen.getImageData(x, Math.floor(lane.topOf(row)), 6, 17);
            for (let k = 0; k < data.length; k += 4)
              if (color.every((part, c) => Math.abs(data[k + c] - part) < 10))
                return keys[level.key[i]].label;
            return ""; })).filter(name => name); }""",
        label,
    )


def test_arrows_tie_the_work_of_the_gpu_to_its_launch(shown):
    click(shown, "GPU 0", 500, 9)
    assert shown.locator("dd").all_inner_texts()[4:6] == ["d:inner, main", "300 ns"]
    box, strip = lane(shown, "main"), shown.locator(".strip").bounding_box()
    (path,) = [each.get_attribute("d") for each in shown.locator("path.arrow").all()]
    x, y = map(float, path[1:].split(" C")[0].split())
    assert x + strip["x"] == pytest.approx(box["x"] + 0.15 * box["width"], abs=2)
    assert y + strip["y"] == pytest.approx(box["y"] + 12 + 1.5 * 17, abs=3)
    end_x, end_y = map(float, path.split()[-2:])
    device = lane(shown, "GPU 0")
    assert end_x + strip["x"] == pytest.approx(device["x"] + 0.45 * device["width"], abs=2)
    assert end_y + strip["y"] == pytest.approx(device["y"] + 9, abs=3)
    assert outlined(shown, "main") == ["d:inner"]
    click(shown, "main", 350, 12 + 8)
    assert shown.locator("path.arrow").count() == 2
    assert outlined(shown, "GPU 0") == ["d:kernel", "d:copy"]
    click(shown, "main", 550, 12 + 8)
    assert shown.locator("path.arrow").count() == 0


def test_a_search_is_one_for_timeline_flame_graph_and_table(shown):
    shown.keyboard.press("/")
    assert shown.evaluate("document.activeElement === nvspan.timeline.field")
    shown.keyboard.type("INNER")
    states = {(b.name, b.state) for b in drawn(shown) if b.state != "counter"}
    assert {name for name, state in states if state == "match"} == {"d:inner"}
    assert ("d:inner", "faded") not in states
    assert ("d:outer", "faded") in states
    assert shown.locator("#timeline .found").inner_text() == "2 events of 1 name"
    assert shown.locator("#body tr").count() == 1
    assert {c["name"] for c in shown.evaluate("nvspan.icicle.drawn()") if c["match"]} == {"d:inner"}
    assert shown.locator("#icicle .found").inner_text() == "17% in 1 name"
    width = lane(shown, "main")["width"]
    assert pixel(shown, "main", round(width * 0.85), 25)[3] == 51  # of 255: faded
    assert pixel(shown, "main", round(width * 0.55), 25)[3] == 255
    shown.keyboard.press("Enter")
    assert "100 ns" in shown.locator(".panel dd").first.inner_text()
    shown.keyboard.press("Enter")
    assert "500 ns" in shown.locator(".panel dd").first.inner_text()
    shown.keyboard.press("Escape")
    assert {b.state for b in drawn(shown)} == {"", "counter"}


def test_keys_zoom_and_move(shown):
    assert view(shown) == [0, WHOLE]
    shown.keyboard.press("w")
    start, end = view(shown)
    assert (start, end) == pytest.approx((200, 800))
    shown.keyboard.press("d")
    assert view(shown) == pytest.approx([320, 920])
    shown.keyboard.press("a")
    shown.keyboard.press("s")
    assert view(shown) == pytest.approx([0, WHOLE])
    click(shown, "main", 200, 12 + 17 + 8)
    shown.keyboard.press("f")
    settle(shown)
    assert view(shown) == pytest.approx([50, 350])
    assert shown.locator(".span").inner_text().startswith("50 ns to 350 ns")
    shown.keyboard.press("0")
    assert view(shown) == [0, WHOLE]
    shown.focus("#search")
    shown.keyboard.type("wsad")
    assert view(shown) == [0, WHOLE]


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl(shown):
    box = lane(shown, "main")
    shown.mouse.move(box["x"] + box["width"] / 4, box["y"] + 20)
    shown.mouse.wheel(0, 50)
    assert view(shown) == [0, WHOLE]
    shown.keyboard.down("Control")
    shown.mouse.wheel(0, -300)
    shown.keyboard.up("Control")
    start, end = view(shown)
    assert 0 < start < 250 < end < WHOLE * 0.6
    shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] / 2 - 100, box["y"] + 20)
    shown.mouse.up()
    assert view(shown)[0] - start == pytest.approx(100 / box["width"] * (end - start), rel=0.05)
    shown.click(".whole")
    assert view(shown) == [0, WHOLE]


def test_counters_are_tracks(shown):
    low, high = drawn(shown, "d:memory")
    width = lane(shown, "d:memory")["width"]
    assert (low.x, low.x + low.width, high.x) == pytest.approx((0, width / 2, width / 2), abs=1)
    assert high.height > 3 * low.height
    box = lane(shown, "d:memory")
    shown.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 20)
    assert shown.locator("#timeline .tip").inner_text().splitlines() == [
        "d:memory: 400 B", "since 500 ns",
    ]  # fmt: skip


def test_the_flame_graph_zooms_into_a_path(shown):
    cells = {(c["name"], c["level"]): c for c in shown.evaluate("nvspan.icicle.drawn()")}
    top = cells["All threads", 0]
    outer = cells["d:outer", 1]
    assert (outer["total"], outer["calls"], outer["self"]) == (700, 2, 500)
    assert outer["width"] / top["width"] == pytest.approx(700 / 1800)
    assert cells["d:inner", 2]["total"] == 200
    box = shown.locator(".flame canvas").bounding_box()
    shown.mouse.click(box["x"] + outer["x"] + 20, box["y"] + 18 + 9)
    cells = {(c["name"], c["level"]): c for c in shown.evaluate("nvspan.icicle.drawn()")}
    assert cells["d:outer", 1]["width"] == top["width"]
    assert cells["d:inner", 2]["width"] == pytest.approx(top["width"] * 200 / 700)
    shown.mouse.click(box["x"] + 20, box["y"] + 9)
    assert shown.evaluate("nvspan.icicle.focus === nvspan.icicle.top")
    wheres = shown.locator("#icicle select").nth(1)
    assert wheres.locator("option").all_inner_texts() == [
        "All threads", "All GPU streams", "deep", "main", "GPU 0 · stream 7",
    ]  # fmt: skip
    wheres.select_option("All GPU streams")
    names = [(c["name"], c["total"]) for c in shown.evaluate("nvspan.icicle.drawn()")]
    assert names == [("All GPU streams", 180), ("d:kernel", 100), ("d:copy", 80)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_reaches_what_is_drawn(shown, theme):
    shown.emulate_media(color_scheme="light" if theme == "dark" else "dark")
    settle(shown)
    shown.click("#theme")
    settle(shown)
    assert shown.evaluate("document.body.dataset.theme") == theme
    fill = next(b.fill for b in drawn(shown, "main") if b.name == "d:inner")
    light = sum(int(fill[i : i + 2], 16) for i in (1, 3, 5)) / 3
    assert (light < 128) == (theme == "dark")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate("nvspan.timeline.dark") is False
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.evaluate("nvspan.timeline.dark") is (theme == "dark")
    shown.emulate_media(color_scheme="light")


def test_a_phone_has_the_whole_page(shown):
    shown.set_viewport_size({"width": 420, "height": 800})
    settle(shown)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 420
    assert lane(shown, "main")["width"] > 380
    assert [b.name for b in drawn(shown, "main")][:3] == ["d:outer", "d:inner", "d:outer"]


def test_widgets_of_one_document_are_apart(tab, tmp_path):
    recording = write(tmp_path / "b.nvspan")
    first, second = page.widget(recording), page.widget(recording, ("icicle",))
    out = tmp_path / "cell.html"
    out.write_text(
        f'<meta charset="utf-8"><body style="background: #111">{first}<hr>{first}{second}',
        encoding="utf-8",
    )
    tab.errors.clear()
    tab.set_viewport_size({"width": 1000, "height": 1200})
    tab.goto(out.as_uri())
    settle(tab)
    hosts = "[...document.querySelectorAll('[data-nvspan]')]"
    assert tab.evaluate(f"{hosts}.map(h => Object.keys(h.nvspan))") == [
        ["model", "timeline", "icicle"], ["model", "timeline", "icicle"], ["model", "icicle"],
    ]  # fmt: skip
    assert tab.evaluate(f"{hosts}.map(h => h.nvspan.icicle.dark)") == [True] * 3
    tab.locator("input[type=search]").first.fill("inner")
    assert tab.evaluate(f"{hosts}.map(h => h.nvspan.model.query)") == ["inner", "", ""]
    tab.keyboard.press("w")
    assert tab.evaluate(f"{hosts}[0].nvspan.model.from") == 0
    tab.locator(".strip canvas").nth(1).click()
    tab.keyboard.press("w")
    assert tab.evaluate(f"{hosts}.slice(0, 2).map(h => h.nvspan.model.from > 0)") == [True, False]
    assert tab.errors == []
