# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The answers on top of the page: findings, steps as bars, modules; in a real browser."""

from __future__ import annotations

import json
import re

import pytest

import nvspan
from helpers.browser import page
from helpers.recorded_loops import unpack
from helpers.traced import nvspan_command
from helpers.written import written
from nvspan.answers.findings import analyze
from nvspan.answers.page import BARS, sections


def recording_of(folder, name):
    return unpack(name, folder / f"{name}.nvspan")


def report_of(path):
    out = path.with_suffix(".html")
    nvspan_command("report", path, "-o", out, check=True)
    return out


def test_the_page_holds_what_the_commands_say(tmp_path):
    path = recording_of(tmp_path, "blocks")
    text = report_of(path).read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    recording = nvspan.read(path)
    answers = data["answers"]
    assert answers == json.loads(json.dumps(sections(analyze(recording))))
    assert [one["text"] for one in answers["findings"]] == [
        one.text for one in analyze(recording).findings
    ]
    steps = recording.steps()
    assert [sum(bar[2]) for bar in answers["steps"]["bars"]] == list(steps["duration"])
    assert [bar[1] for bar in answers["steps"]["bars"]] == list(steps["state"])
    assert [row[1] for row in answers["modules"]["rows"]][:3] == ["Model", "embed", "h.0..11 x12"]


def test_many_steps_share_bars(tmp_path):
    calls = [(100 * i, 100 * i + (90 if i != 500 else 99), "step") for i in range(1000)]
    found = sections(analyze(written(tmp_path / "a.nvspan", calls)))["steps"]
    assert (found["each"], len(found["bars"])) == (4, 250)
    assert len(found["bars"]) <= BARS
    assert found["bars"][125] == [
        "#500 to #503", 0, [round((99 + 3 * 90) / 4)], 50_000, 50_390,
    ]  # fmt: skip


def test_a_recording_without_steps_has_findings_alone(tmp_path):
    found = sections(analyze(written(tmp_path / "a.nvspan", [(0, 10, "load")])))
    assert list(found) == ["headline", "findings", "nothing", "flame_first"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_answers_in_a_browser(tmp_path, scheme):
    out = report_of(recording_of(tmp_path, "blocks"))
    with page(color_scheme=scheme) as tab:
        errors = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(out.as_uri())
        assert errors == []
        bars = tab.locator("#bars g.bar")
        assert bars.count() == 8
        assert tab.locator('#bars g[data-state="1"] .odd').count() == 1
        assert tab.locator("#bars title").first.text_content().startswith("step 0, warm-up: ")
        heights = [
            float(rect.get_attribute("height")) for rect in bars.nth(3).locator("rect").all()
        ]
        assert 0 < sum(heights) <= 150
        assert tab.locator("#findings > li").count() == len(
            analyze(nvspan.read(out.with_suffix(".nvspan"))).findings
        )
        assert tab.locator("#module-body tr").first.locator("td").first.text_content() == "Model"
        assert tab.locator("#step-body tr").last.locator("td").first.text_content() == "step"
        assert tab.locator("#module-section").is_visible()


COLORS = """() => {
  const probe = document.body.appendChild(document.createElement("i"));
  const rgb = color => { probe.style.color = color; return getComputedStyle(probe).color; };
  const { data, keys, paints } = nvspan.timeline, of = {};
  const shown = [...document.querySelectorAll("#bars .bar:nth-of-type(4) rect")].map(
    rect => getComputedStyle(rect).fill);
  for (const name of ["dataloader.next", "h2d", "forward", "backward", "optimizer.step"])
    of[name] = rgb(paints(keys.findIndex(key => key.short === name && key.kind === "")).fill);
  probe.remove();
  return [shown, Object.values(of)]; }"""


def test_a_phase_looks_as_its_range_and_a_click_on_a_step_shows_it(tmp_path):
    path = recording_of(tmp_path, "data")
    steps = nvspan.read(path).steps()
    out = report_of(path)
    with page(color_scheme="light") as tab:
        tab.goto(out.as_uri())
        for _ in range(2):
            bars, ranges = tab.evaluate(COLORS)
            assert bars[:5] == ranges
            assert len(set(bars)) == 6
            tab.click("#theme")
        tab.locator("#bars g.bar").nth(12).locator("rect").first.click()
        first, start, end = tab.evaluate(
            "[nvspan.timeline.data.first, nvspan.model.from, nvspan.model.to]"
        )
        begin, length = steps["start"][12], steps["duration"][12]
        assert [first + start, first + end] == pytest.approx(
            [begin - 0.05 * length, begin + 1.05 * length], abs=1000
        )


def test_a_page_without_answers_in_a_browser(tmp_path):
    written(tmp_path / "a.nvspan", [(0, 10, "load")])
    out = report_of(tmp_path / "a.nvspan")
    with page() as tab:
        tab.goto(out.as_uri())
        assert tab.locator("#headline").text_content().startswith("10 ns and no steps, 1 range")
        headings = tab.locator("h2:visible").all_text_contents()
        assert headings == ["Findings", "Flame graph", "Timeline", "Ranges"]
        assert not tab.locator("#step-section").is_visible()
        assert not tab.locator("#module-section").is_visible()
