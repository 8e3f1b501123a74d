# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page of ``nvspan ranks``: what it draws in a real browser, and that it stays small."""

from __future__ import annotations

import math
from array import array
from random import Random

import pytest

import nvspan
from helpers.browser import page as browser_page
from helpers.page_data import data_of
from helpers.recorded_loops import unpack_ranks
from helpers.reported import run_nvspan
from helpers.written_ranks import MS, write_job
from nvspan import _reader
from nvspan.ranks.page import filled, heat

MOST_BYTES = 5_000_000
SLOW_RANK, SLOW_STEP = 7777, 444
# The color of a pixel of the map, by a point of the page.
COLOR = """([x, y]) => {
  const canvas = document.querySelector("canvas.heat"), box = canvas.getBoundingClientRect();
  const scale = canvas.width / box.width, pen = canvas.getContext("2d");
  return [...pen.getImageData((x - box.left) * scale, (y - box.top) * scale, 1, 1).data]; }"""
# Where the middle of a cell is.
PLACE = """([row, column]) => {
  const { canvas, size } = nvspan.heat, box = canvas.getBoundingClientRect();
  const { wide, high, width } = size;
  return [box.right - width + (column + 0.5) * wide, box.top + (row + 0.5) * high]; }"""


def brightness(color):
    return 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]


def extra(rank, step, name):
    if (rank, step, name) == (2, 17, "forward"):
        return 30 * MS
    return 2 * MS if (rank, name) == (5, "dataloader.next") else 0


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    paths = write_job(folder, 8, extra=extra, jitter=0.05)
    assert run_nvspan("ranks", folder, "-o", folder / "ranks.html").stdout.split() == [
        str(folder / "ranks.html")
    ]
    return folder / "ranks.html", paths


def test_figures_have_their_nouns(job):
    assert data_of(job[0])["facts"][:4] == [
        ["ranks", "8"], ["clock", "1"], ["collectives", "40"], ["steps", "37"]
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tab(job):
    with browser_page(color_scheme="light") as opened:
        opened.errors = []
        opened.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.on(
            "console",
            lambda message: message.type == "error" and opened.errors.append(message.text),
        )
        yield opened


@pytest.fixture
def shown(tab, job):
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(job[0].as_uri())
    tab.wait_for_function("nvspan.heat.outliers.length")
    yield tab
    assert tab.errors == []


def color_of(tab, row, column):
    return tab.evaluate(COLOR, tab.evaluate(PLACE, [row, column]))


def column_of(tab, step):
    return tab.evaluate("step => nvspan.heat.bins.steps.indexOf(step)", step)


def test_the_verdict_leads_the_page(shown):
    box = shown.locator("#verdict")
    assert box.get_attribute("data-kind") == "culprit"
    assert box.locator("b").inner_text().startswith("Rank 5's dataloader.next costs the job ")
    assert "rank 5 came last in " in box.inner_text()
    assert box.bounding_box()["y"] < shown.locator("#heat").bounding_box()["y"]


def test_slow_cells_are_darker(shown):
    slow = column_of(shown, 17)
    darkest = brightness(color_of(shown, 2, slow))
    assert darkest < 40
    usual = [brightness(color_of(shown, 0, column)) for column in range(10)]
    late = [brightness(color_of(shown, 5, column)) for column in range(10)]
    assert min(usual) > max(late) - 25 > darkest
    assert sorted(late)[5] < sorted(usual)[5] - 15
    shown.click("#theme")
    assert brightness(color_of(shown, 2, slow)) > 200 > brightness(color_of(shown, 5, slow + 1))


def test_a_cell_tells_its_rank_step_arrival_and_duration(shown):
    shown.mouse.move(*shown.evaluate(PLACE, [2, column_of(shown, 17)]))
    lines = shown.locator("#heat .tip").inner_text().split("\n")
    assert lines[0] == "rank 2, step 17"
    assert lines[1].startswith("came 30.")
    assert lines[1].endswith(" ms after the median rank")
    assert lines[2].startswith("its step took 45.")
    shown.mouse.move(5, 5)
    assert not shown.locator("#heat .tip").is_visible()


def test_a_click_shows_when_the_ranks_came(shown):
    assert not shown.locator("#arrivals").is_visible()
    shown.mouse.click(*shown.evaluate(PLACE, [2, column_of(shown, 17)]))
    panel = shown.locator("#arrivals")
    assert panel.locator("b").inner_text() == "Step 17: when the ranks came"
    assert panel.locator("p").first.inner_text().startswith("latest: rank 2 30.")
    heights = panel.locator("rect").evaluate_all(
        "bars => bars.map(bar => +bar.getAttribute('height'))"
    )
    assert len(heights) == 8
    assert heights[2] == max(heights) > 10 * heights[5] > 0
    shown.keyboard.press("ArrowRight")
    assert panel.locator("b").inner_text() == "Step 18: when the ranks came"
    assert panel.locator("p").first.inner_text().startswith("latest: rank 5 ")
    panel.get_by_text("Close").click()
    assert not panel.is_visible()


def test_the_map_of_durations(shown):
    late = [color_of(shown, row, column_of(shown, 17)) for row in range(8)]
    shown.get_by_role("button", name="Step", exact=True).click()
    took = [color_of(shown, row, column_of(shown, 17)) for row in range(8)]
    # The ranks wait for one another, so the step is long on all of them.
    assert max(map(brightness, took)) < 60 < sorted(map(brightness, late))[1]


def test_the_tables(shown):
    assert shown.locator("#tables h2").all_inner_texts() == [
        "What would be saved", "Ranks", "Collectives", "Imbalance", "Critical path",
    ]  # fmt: skip
    tables = shown.locator("#tables table").all()
    assert tables[0].locator("tbody tr").first.locator("td").all_inner_texts()[0] == "5"
    ranks = [row.locator("td").all_inner_texts() for row in tables[1].locator("tbody tr").all()]
    assert [row[0] for row in ranks] == [str(rank) for rank in range(8)]
    assert ranks[5][6].startswith("dataloader.next ")
    (collective,) = (row.locator("td").all_inner_texts() for row in
                     tables[2].locator("tbody tr").all())  # fmt: skip
    assert collective[:3] == ["40", "8", f"{40 * 4096:,}"]
    assert collective[5] == "5"
    assert 30 < int(collective[6]) < 40
    assert collective[7:] == ["5", "allreduce"]
    uneven = tables[3].locator("tbody tr").first.locator("td").all_inner_texts()
    assert uneven[3:6:2] == ["5", "dataloader.next"]
    assert "(collectives)" in tables[4].inner_text()


def test_a_phone(shown):
    shown.set_viewport_size({"width": 360, "height": 700})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    assert brightness(color_of(shown, 2, column_of(shown, 17))) < 40


@pytest.fixture(scope="module")
def large():
    """10,000 ranks and 1,000 steps, one of which is slow on one rank."""
    random = Random(1)
    usual = [array("f", [random.expovariate(1 / 20_000) for _ in range(1000)]) for _ in range(50)]
    took = array("f", [20 * MS + random.random() * MS for _ in range(1000)])
    odd = array("f", usual[0])
    odd[SLOW_STEP] = 80 * MS
    rows = ((rank, odd if rank == SLOW_RANK else usual[rank % 50], took) for rank in range(10_000))
    return heat.of_rows(range(10_000), rows, range(1000))


def test_ten_thousand_ranks_and_a_thousand_steps(large, tmp_path, tab):
    verdict = {"kind": "none", "text": "None", "evidence": [], "limits": [], "next": ""}
    out = tmp_path / "large.html"
    out.write_text(filled({
        "title": "large", "when": "", "verdict": verdict, "facts": [], "heat": large,
        "heatNote": "", "tables": [], "notes": [],
    }), encoding="utf-8")  # fmt: skip
    assert out.stat().st_size < MOST_BYTES
    for width in (1400, 360):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto(out.as_uri())
        tab.wait_for_function("nvspan.heat.outliers.length")
        (cell,) = tab.evaluate("nvspan.heat.outliers")
        assert min(cell["width"], cell["height"]) >= 5
        bins = large["rows"], large["columns"]
        row, column = SLOW_RANK * bins[0] // 10_000, SLOW_STEP * bins[1] // 1000
        assert (cell["row"], cell["column"]) == (row, column)
        assert brightness(color_of(tab, row, column)) < 40
        x, y = tab.evaluate(PLACE, [row, column])
        usual = [tab.evaluate(COLOR, [x + dx, y + dy]) for dx, dy in ((9, 0), (-9, 0), (0, 9))]
        assert min(map(brightness, usual)) > 150
        tab.mouse.move(x, y)
        lines = tab.locator("#heat .tip").inner_text().split("\n")
        assert lines[0].startswith("ranks 77")
        assert lines[1].startswith("came 8")
        assert lines[1].endswith(f"(rank {SLOW_RANK}, step {SLOW_STEP})")
        tab.mouse.click(x, y)
        latest = tab.locator("#arrivals p").first.inner_text()
        assert latest.startswith(f"latest: rank {SLOW_RANK} 80.")
        tab.locator("#arrivals").get_by_text("Close").click()
    assert tab.errors == []


def decoded(bins, row, column):
    """Late, its cell, duration, its cell."""
    place = 8 * (row * bins.columns + column)
    late, cell, duration, longest = array("H", bins.bytes()[place : place + 8])
    return [2 ** ((late - 1) / 1024) - 1 if late else 0, cell,
            2 ** ((duration - 1) / 1024) - 1 if duration else 0, longest]  # fmt: skip


def test_a_bin_has_its_largest_cells():
    bins = _reader.RankHeat(5, 7, 2, 3)
    assert (bins.rows, bins.columns) == (2, 3)
    values = {(rank, step): 10 * rank + step + 1 for rank in range(5) for step in range(7)}
    for rank in range(5):
        late = [float(values[rank, step]) for step in range(7)]
        bins.add(rank, late, [1000 - value for value in late])
    for row in range(2):
        ranks = [rank for rank in range(5) if rank * 2 // 5 == row]
        for column in range(3):
            steps = [step for step in range(7) if step * 3 // 7 == column]
            late, cell, duration, longest = decoded(bins, row, column)
            assert math.isclose(late, values[ranks[-1], steps[-1]], rel_tol=1e-3)
            assert cell == len(ranks) * len(steps) - 1
            assert math.isclose(duration, 1000 - values[ranks[0], steps[0]], rel_tol=1e-3)
            assert longest == 0


def test_what_bins_do_not_take():
    bins = _reader.RankHeat(2, 3, 10, 10)
    bins.add(1, [math.nan, -5.0, 0.0], [math.inf, 1e300, 0.0])
    assert decoded(bins, 1, 0)[:2] == decoded(bins, 1, 1)[:2] == [0, 0]
    with pytest.raises(ValueError, match="a rank has a value for each step"):
        bins.add(2, [0.0] * 3, [0.0] * 3)
    with pytest.raises(ValueError, match="a rank has a value for each step"):
        bins.add(0, [0.0] * 2, [0.0] * 3)
    with pytest.raises(ValueError, match="no ranks or no steps"):
        _reader.RankHeat(0, 3, 10, 10)
    with pytest.raises(ValueError, match=r"65,536 cells"):
        _reader.RankHeat(1000, 1000, 1, 1)


def test_a_job_without_collectives_has_no_map(tmp_path):
    (path,) = write_job(tmp_path, 1)
    out = tmp_path / "ranks.html"
    run_nvspan("ranks", path, "-o", out, "--title", "<alone>")
    text = out.read_text(encoding="utf-8")
    assert '"heat":null' in text
    assert '"title":"\\u003calone>"' in text
    assert '"kind":"cannot tell"' in text


def test_eight_recorded_ranks(tmp_path):
    """Processes of gloo: the loader of rank 5 is slow, and once the forward pass of rank 2."""
    found = nvspan.analyze_ranks(unpack_ranks(tmp_path, "job"))
    verdict = found.verdict
    assert (verdict.kind, verdict.rank, verdict.range) == ("culprit", 5, "dataloader.next")
    assert len(found.steps) == 61
    late, took = {}, {}
    for rank, arrivals, durations in found.by_step():
        assert len(arrivals) == len(durations) == 61
        late[rank.rank] = dict(zip(found.steps, arrivals, strict=True))
        took[rank.rank] = dict(zip(found.steps, durations, strict=True))
    assert max(late, key=lambda rank: late[rank][40]) == 2
    assert max(late, key=lambda rank: sum(late[rank].values())) == 5
    assert min(of[40] for of in took.values()) > 250 * MS > 200 * MS > max(took[0][3], took[5][50])


def test_no_recording_is_replaced(job, tmp_path):
    paths = write_job(tmp_path, 2)
    before = paths[1].read_bytes()
    done = run_nvspan("ranks", tmp_path, "-o", paths[1], check=2)
    assert "is one of the recordings" in done.stderr
    assert paths[1].read_bytes() == before
    done = run_nvspan("ranks", *paths, "-o", paths[1] / "page.html", check=1)
    assert done.stderr.splitlines()[-1].startswith("nvspan ranks: cannot write ")
