# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page and the notebook's view; in a real browser where there is one."""

from __future__ import annotations

import re

import pytest

import nvspan
from helpers.browser import page
from helpers.page_data import blocks_of, data_of, framed
from helpers.recorded_loops import unpack
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library

pytestmark = needs_library


@pytest.fixture
def report(tmp_path):
    out = tmp_path / "out.html"
    assert run_nvspan("report", recording_of(), "-o", out).stdout == f"{out}\n"
    return out


def test_the_page_has_the_figures_and_what_is_missing(report):
    data = data_of(report)
    rows = {row[0]: row for row in data["rows"]}
    assert set(rows) == {
        "data:outer", "inner", "span a (start/end)", "span b (start/end)",
        "data:handed over (start/end)", "never closed (1 still open)",
    }  # fmt: skip
    assert rows["inner"][1] == 8
    assert data["notes"] == [
        "still open: 1 range; total, self and share have the time until the end",
        "unmatched: 1 range end without an open range",
    ]
    assert dict(data["facts"])["calls"] == "19"


def test_figures_have_their_nouns_and_an_unknown_program_has_no_box(tmp_path):
    out = tmp_path / "out.html"
    run_nvspan("report", unpack("slow", tmp_path / "slow.nvspan"), "-o", out)
    assert data_of(out)["facts"] == [
        ["wall time", "534 ms"], ["calls", "240"], ["range names", "4"], ["process", "1"],
        ["thread", "1"], ["host", "vm"],
    ]  # fmt: skip


def test_a_small_timeline_is_complete(report):
    timeline = data_of(report)["timeline"]
    assert timeline["note"] == ""
    recording = nvspan.read(recording_of())
    blocks = [(each.start, each.length, each.name, each.count) for each in blocks_of(timeline)]
    expected = [
        (row["start"], recording.ranges["end"][at] - row["start"],
         row["name"] if row["domain"] is None else f"{row['domain']}:{row['name']}", 1)
        for at, row in enumerate(recording.ranges.rows())
    ]  # fmt: skip
    assert sorted(blocks) == sorted(expected)


def test_names_cannot_break_out_of_the_page(tmp_path):
    name = "</script><script>alert(1)</script><!-- \\u2028"
    path = recording_of(f"import nvspan\nwith nvspan.annotate({name!r}): pass\n")
    out = tmp_path / "out.html"
    run_nvspan("report", path, "-o", out)
    text = out.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert data_of(out)["rows"][0][0].startswith("</script><script>alert(1)")


def test_the_page_names_no_other_place(report):
    text = report.read_text(encoding="utf-8")
    assert re.findall(r"(?:https?:)?//[\w.]+\.\w+|src=|href=|@import|url\(", text) == []
    assert "default-src 'none'" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_works_in_a_browser(report, scheme):
    with page(color_scheme=scheme) as tab:
        errors, requests = [], []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda message: errors.append(message.text))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(report.as_uri())
        names = tab.locator("#body tr td:first-child")
        assert names.count() == 6
        tab.fill("#search", "span")
        assert sorted(names.all_inner_texts()) == ["span a (start/end)", "span b (start/end)"]
        tab.fill("#search", "")
        tab.click("#head th:has-text('name')")
        shown = names.all_inner_texts()
        assert shown == sorted(shown)
        back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}[scheme]
        assert errors == []
        assert requests == [report.as_uri()]


def test_a_notebook_shows_a_timeline_and_a_table():
    recording = nvspan.read(recording_of())
    data = data_of(framed(recording._repr_html_()))
    assert len(blocks_of(data["timeline"])) == len(recording.ranges) == 20
    assert len(data["rows"]) == 6
    assert data["notes"][0].startswith("still open: 1 range; ")


def test_names_cannot_break_out_of_the_iframe():
    name = "\"></iframe><script>alert(1)</script>&quot;'"
    path = recording_of(f"import nvspan\nwith nvspan.annotate({name!r}): pass\n")
    assert data_of(framed(nvspan.read(path)._repr_html_()))["rows"][0][0] == name
