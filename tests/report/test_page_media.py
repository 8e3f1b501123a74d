# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page on a phone, on paper, in the dark, on a fine screen and in a window that changes."""

from __future__ import annotations

import colorsys
import os

import pytest

import nvspan
from helpers.browser import page as browser_page
from helpers.drawn import drawn, opened, painted, settle
from helpers.reported import recording_of
from helpers.written import put
from nvspan import _reader
from nvspan.report import page

THREADS = 14  # lanes in several screens of a phone
SEEN = 20  # percent of a lane that ranges cover, at least
COLORED = """
import nvspan
with nvspan.annotate("a", color="rebeccapurple"), nvspan.annotate("b", color="#0f0"): pass
with nvspan.annotate("c"): nvspan.mark("d", color="Gold")
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Threads that are busy for half of the time, on three levels."""
    folder = tmp_path_factory.mktemp("media")
    with _reader.ExternalWriter(os.fsencode(folder / "a.nvspan")) as writer:
        process = writer.process(77)
        domain = writer.domain(process, None)
        for tid in range(THREADS):
            thread = writer.thread(process, tid + 1, f"worker {tid}")
            for level, name in enumerate(["outer", "work", "inner"]):
                starts = range(0, 1000, 100)
                calls = [(start + level, start + 50 - level, name) for start in starts]
                put(writer, thread, domain, calls)
    out = folder / "page.html"
    out.write_text(page.html(nvspan.read(folder / "a.nvspan")), encoding="utf-8")
    return out


@pytest.mark.parametrize(
    ("width", "ratio", "scheme"), [(420, 1, "light"), (420, 3, "dark"), (1400, 2, "light")]
)
def test_a_picture_of_the_whole_page_has_every_lane(report, width, ratio, scheme):
    with browser_page(device_scale_factor=ratio, color_scheme=scheme) as tab:
        tab.set_viewport_size({"width": width, "height": 300})
        errors = opened(tab, report)
        axis, *lanes, flame = painted(tab)
        assert axis > 0
        assert len(lanes) == THREADS
        assert min(lanes) > SEEN
        assert flame > SEEN
        sizes = tab.evaluate(
            "nvspan.timeline.all.map(({ canvas }) => [canvas.width / canvas.clientWidth, "
            "canvas.height / canvas.clientHeight])"
        )
        assert all(pair == pytest.approx([ratio, ratio], abs=0.02) for pair in sizes)
        assert errors == []


def test_what_is_out_of_view_follows_a_change_of_the_view(report):
    with browser_page() as tab:
        tab.set_viewport_size({"width": 900, "height": 300})
        opened(tab, report)
        before = painted(tab)[1:-1]
        tab.evaluate("nvspan.model.show(100, 150)")  # one range fills it
        settle(tab)
        assert min(painted(tab)[1:-1]) > 1.5 * max(before)
        tab.evaluate("nvspan.model.show(60, 90)")  # none
        settle(tab)
        assert max(painted(tab)[1:-1]) < 5


def test_lanes_follow_the_width_of_the_window(report):
    with browser_page() as tab:
        tab.set_viewport_size({"width": 1400, "height": 300})
        opened(tab, report)
        widths = []
        for width in (1400, 500, 1000):
            tab.set_viewport_size({"width": width, "height": 300})
            settle(tab)
            axis, *lanes, flame = painted(tab)
            assert min(axis, *lanes, flame) > 0
            assert min(lanes) > SEEN
            sizes = tab.evaluate(
                "[nvspan.timeline.axis, nvspan.icicle.canvas, ...nvspan.timeline.lanes.map("
                "lane => lane.canvas)].map(canvas => [canvas.width, canvas.clientWidth])"
            )
            assert all(drawn_at == shown for drawn_at, shown in sizes)
            widths.append(sizes[-1][1])
        assert widths[1] < widths[2] < widths[0]


def test_paper_is_light_and_has_every_lane_and_every_row(report):
    with browser_page(color_scheme="dark") as tab:
        tab.set_viewport_size({"width": 1400, "height": 300})
        errors = opened(tab, report)
        tab.evaluate(
            "addEventListener('beforeprint', () => { window.paper = { dark: nvspan.timeline.dark,"
            " of: nvspan.timeline.lanes.map(({ canvas }) => canvas.width) }; })"
        )
        assert tab.pdf(print_background=True).startswith(b"%PDF")
        paper = tab.evaluate("window.paper")
        assert paper["dark"] is False
        assert len(paper["of"]) == THREADS
        assert tab.evaluate("nvspan.timeline.dark")  # and the screen is dark again
        tab.emulate_media(media="print")
        settle(tab)
        back = "getComputedStyle(document.body).backgroundColor"
        assert tab.evaluate(back) == "rgb(255, 255, 255)"
        assert min(painted(tab)[1:-1]) > SEEN
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not tab.locator("#timeline button.whole").is_visible()
        assert errors == []


def test_colors_that_have_names_in_css_are_drawn(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page.html(nvspan.read(recording_of(COLORED))), encoding="utf-8")
    with browser_page(color_scheme="light") as tab:
        opened(tab, path)
        fills = {block.name: block.fill for block in drawn(tab)}
        assert (fills["a"], fills["b"], fills["d"]) == ("#663399", "#00ff00", "#ffd700")
        number = tab.evaluate("nvspan.timeline.keys.findIndex(key => key.label === 'c')")
        assert fills["c"] == tab.evaluate(f"nvspan.timeline.paints({number}).fill")


def test_names_look_different(report):
    """Colors depend on the name alone; those of usual loops are apart, and all hues are used."""
    usual = [["fib", "a", "b", "c"], ["step", "data", "load", "forward", "backward", "optimizer"]]
    many = [f"layer.{i}" for i in range(480)]
    with browser_page(color_scheme="light") as tab:
        opened(tab, report)
        colors = tab.evaluate(
            """names => names.map(name => {
              const { keys } = nvspan.timeline;
              keys.push({ ...keys[0], label: name, color: null });
              return nvspan.timeline.paints(keys.length - 1).fill; })""",
            [*usual[0], *usual[1], *many],
        )
        again = tab.evaluate("nvspan.timeline.paints(nvspan.timeline.keys.length - 1).fill")
    assert again == colors[-1]

    def parts(color):
        return [int(color[i : i + 2], 16) for i in (1, 3, 5)]

    at = 0
    for names in usual:
        own = [parts(color) for color in colors[at : at + len(names)]]
        at += len(names)
        for i, one in enumerate(own):
            for other in own[:i]:
                assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) > 60, names
    hues = [colorsys.rgb_to_hsv(*(part / 255 for part in parts(color)))[0] for color in colors[at:]]
    sectors = [sum(int(hue * 6) == sector for hue in hues) for sector in range(6)]
    assert min(sectors) > len(many) / 24
    assert len(set(colors[at:])) == 72


def test_a_name_is_shortened_to_what_there_is_room_for(report):
    """Of a module of a model the last part stays, of a function its name."""
    with browser_page() as tab:
        opened(tab, report)
        texts = tab.evaluate(
            """() => {
              const said = [], pen = { measureText: text => ({ width: 10 * text.length }),
                fillText: text => said.push(text) };
              const lane = nvspan.timeline.lanes[0], { keys } = nvspan.timeline;
              const { fillText, measureText } = CanvasRenderingContext2D.prototype;
              Object.assign(CanvasRenderingContext2D.prototype, pen);
              const written = (text, room) => {
                said.length = 0;
                keys[lane.track.levels[0].key[0]].short = text;
                nvspan.timeline.root.style.width = room + "px";
                lane.canvas.style.flex = "none";
                lane.canvas.style.width = room + 7 + "px";
                nvspan.model.show(10, 40);
                nvspan.timeline.draw(true);
                return said.find(each => !/^(work|inner|[\\d.]+ ns)/.test(each)) ?? "";
              };
              const found = [["h.10.mlp (backward)", 200], ["h.10.mlp (backward)", 90],
                ["h.10.mlp (backward)", 60], ["h.10.attention", 60], ["optimizer.step", 60],
                ["load (a.py:10)", 70]].map(([text, room]) => written(text, room));
              Object.assign(CanvasRenderingContext2D.prototype, { fillText, measureText });
              return found; }"""
        )
    assert texts == [
        "h.10.mlp (backward)", "h.10.mlp", ".mlp", ".atte…", "optim…", "load",
    ]  # fmt: skip
