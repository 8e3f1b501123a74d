# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of names that would be HTML, scripts, or escapes of a terminal."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from helpers.page_data import data_of, framed
from helpers.written import written
from nvspan.answers.compare import compare

NAMES = [
    "</td></tr></table><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script><!--",
    "&lt;b&gt; &amp;amp; &#60;",
    "' onmouseover='alert(3)",
    "\x1b[31m\x1b]0;title\x07\u202e\u2028",
    "${alert(4)} {{7*7}} $\\href{x}{y}$",
]


class Parsed(HTMLParser):
    """The tags with their attributes, and the text between them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add((tag, *(name for name, _ in attributes)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    calls = []
    for start in range(0, 60_000_000, 10_000_000):
        calls.append((start, start + 9_000_000, NAMES[0]))
        calls += [(start + 1_000_000 * at, start + 1_000_000 * at + 500_000, name)
                  for at, name in enumerate(NAMES[1:], 1)]  # fmt: skip
    folder = tmp_path_factory.mktemp("hostile")
    return written(folder / "\x1b[31m<b>.nvspan", calls, domain_name="<i>\x1b[0m")


def tables(recording):
    return {
        "ranges": recording.ranges,
        "stats": recording.stats(),
        "steps": recording.steps(NAMES[0]),
        "processes": recording.threads,
        "marks": recording.marks,
        "diff": compare(recording, recording),
    }


def test_tables_have_the_tags_of_tables_alone(recording):
    allowed = {("div", "style"), ("div",), ("table", "style"), ("thead",), ("tbody",), ("tr",),
               ("th",), ("td",)}  # fmt: skip
    for kind, table in tables(recording).items():
        found = Parsed(table._repr_html_())
        assert found.tags <= allowed, kind
        shown = "".join(found.texts)
        if kind in ("ranges", "stats", "diff"):
            assert [name for name in NAMES[:5] if name not in shown] == [], kind


def test_the_page_is_in_a_frame_that_names_do_not_leave(recording):
    html = recording._repr_html_()
    assert Parsed(html).tags == {("iframe", "title", "sandbox", "style", "srcdoc")}
    page = framed(html)
    assert page.count("<script") == page.count("</script>")
    assert [name for name in NAMES if "<script>" in name and name in page] == []
    names = {row[0] for row in data_of(page)["rows"]}
    assert len(names) == len(NAMES)
    assert {name for name in names if "alert(1)" in name}


def test_texts_have_no_escapes(recording):
    for kind, table in {"recording": recording, **tables(recording)}.items():
        for text in (repr(table), str(table)):
            assert [c for c in text if c != "\n" and not c.isprintable()] == [], kind
