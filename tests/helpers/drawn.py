# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A page in a browser: what its scripts say that they drew, and what its canvases show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

DRAWN = """() => { const t = nvspan.timeline; t.log = []; t.draw(true);
  const log = t.log; t.log = null; return log; }"""
SETTLED = """async () => {
  const frame = () => new Promise(requestAnimationFrame), timeline = window.nvspan?.timeline;
  await frame();
  await frame();
  while (timeline && (timeline.waiting || timeline.stale.size)) await frame(); }"""
PAINTED = """() => [...document.querySelectorAll(".strip canvas, .flame canvas")].map(canvas => {
  const { width, height } = canvas;
  if (!width || !height) return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let painted = 0;
  for (let i = 3; i < data.length; i += 4) painted += data[i] > 200;
  return Math.round(100 * painted / (width * height)); })"""


def settle(tab: Any) -> None:
    """Waits until what changed is drawn, that out of view too."""
    tab.evaluate(SETTLED)


def opened(tab: Any, path: Path) -> list[str]:
    """Opens a page; the list that it returns holds the errors from then on."""
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda said: said.type == "error" and errors.append(said.text))
    tab.goto(path.as_uri())
    settle(tab)
    return errors


def drawn(tab: Any, lane: str | None = None) -> list[SimpleNamespace]:
    """The blocks of all lanes, or of one, as they are drawn."""
    listed = [SimpleNamespace(**each) for each in tab.evaluate(DRAWN)]
    return [each for each in listed if lane is None or each.lane == lane]


def painted(tab: Any) -> Sequence[int]:
    """Of the axis, of each lane and of the flame graph: percent of the canvas that is covered."""
    return tab.evaluate(PAINTED)
