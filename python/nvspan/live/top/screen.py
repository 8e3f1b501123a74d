# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan top`` on a terminal: what keys do, and what is drawn. It needs the package rich."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from nvspan.live.top import matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import RenderableType

    from nvspan.live.top.sampling import Sampler, Window

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_KEYS = {
    **{f"\x1b{lead}{letter}": name for lead in "[O" for letter, name in _ARROWS.items()},
    **dict.fromkeys("\r\n", "enter"),
    **dict.fromkeys("\x7f\x08", "back"),
    **dict.fromkeys("\x03\x04", "q"),
    "\x1b": "escape",
    "\t": "right",
    " ": "space",
}
_KEY = re.compile(r"\x1b[\[O][^A-Za-z~]*[A-Za-z~]?|.", re.DOTALL)
_HELP = "q quit   s sort   / filter   left, right choose a process   Enter open it   space hold"
_HELP_OPEN = "q quit   Esc back   left, right another process   up, down scroll   space hold"


def keys_of(typed: bytes) -> list[str]:
    """What was typed, key by key: a character, or a name such as "left"; others are left out."""
    keys = (_KEYS.get(key, key) for key in _KEY.findall(typed.decode("utf-8", "replace")))
    return [key for key in keys if key.isprintable()]


@dataclass
class View:
    """What the keys have chosen."""

    sort: str = matrix.SORTS[0]  #: one of `matrix.SORTS`
    like: str = ""  #: what names of rows hold
    typing: bool = False  #: the filter is being typed
    chosen: int = 0  #: the index of a process
    opened: bool = False  #: that process alone is shown
    top: int = 0  #: the first line of it that is shown
    held: bool = False  #: the screen stays as it is
    ended: bool = False  #: the user has had enough

    def press(self, key: str, processes: int) -> None:
        """What a key does, with so many processes."""
        if self.typing:
            self._type(key)
        elif key == "q":
            self.ended = True
        elif key == "s" and not self.opened:
            self.sort = matrix.SORTS[(matrix.SORTS.index(self.sort) + 1) % len(matrix.SORTS)]
        elif key == "/" and not self.opened:
            self.typing, self.like = True, ""
        elif key in ("left", "right"):
            step = 1 if key == "right" else -1
            self.chosen, self.top = (self.chosen + step) % max(processes, 1), 0
        elif key in ("up", "down") and self.opened:
            self.top = max(0, self.top + (1 if key == "down" else -1))
        elif key == "enter":
            self.opened, self.top = processes > 0, 0
        elif key in ("escape", "back"):
            self.like = self.like if self.opened else ""
            self.opened = False
        elif key == "space":
            self.held = not self.held

    def _type(self, key: str) -> None:
        if key in ("enter", "escape"):
            self.typing = False
            self.like = self.like if key == "enter" else ""
        elif key == "back":
            self.like = self.like[:-1]
        else:
            self.like += " " if key == "space" else key if len(key) == 1 else ""


def drawn(view: View, window: Window, width: int, height: int) -> RenderableType:
    """What the screen shows, as rich takes it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    def line(text: str, style: str = "") -> Text:
        return Text(text, style=style, no_wrap=True, overflow="ellipsis")

    held = "; held" if view.held else ""
    parts: list[RenderableType] = [line(f"nvspan top: {matrix.headline(window)}{held}", "bold")]
    view.chosen = min(view.chosen, max(len(window.activities) - 1, 0))
    if view.opened and window.activities:
        lines = matrix.process_lines(window, window.activities[view.chosen])
        room = max(height - 3, 1)
        view.top = min(view.top, max(len(lines) - room, 0))
        heading = "  all  self  started    range: shares of all samples"
        parts += [line(heading, "dim"), *map(line, lines[view.top : view.top + room])]
        return Group(*parts, line(_HELP_OPEN, "reverse"))
    kind = window.verdict.kind
    style = "bold red" if kind in ("held back", "halted") else "green" if kind == "moving" else ""
    parts.append(line(window.verdict.text, style))
    stuck = matrix.stuck_lines(window)
    room = max(height - len(stuck) - len(window.problems[:2]) - 6, 1)
    made = matrix.table(window, width, view.sort, view.like, room)
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    chosen = matrix.title(window.activities[view.chosen]) if window.activities else ""
    for i, heading in enumerate(made.headings):
        picked = i == 3 + view.chosen and heading == chosen
        name = Text(heading, style="reverse" if picked else "bold")
        grid.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for r, row in enumerate(made.rows[: room + 3]):
        grid.add_row(*(Text(cell, _style(made, r, c)) for c, cell in enumerate(row)))
    parts.append(grid)
    parts += [line(text, "bold red") for text in stuck]
    parts += [line(text, "red") for text in window.problem_lines[:2]]
    state = f"sorted by {view.sort}"
    if view.typing or view.like:
        state += f"; filter: {view.like}{'_' if view.typing else ''}"
    return Group(*parts, line(state, "dim"), line(_HELP, "reverse"))


def _style(of: matrix.Table, row: int, column: int) -> str:
    if (row, column) in of.changed:
        return "bold yellow"
    if (row, column) in of.far:
        return "bold magenta"
    return "" if column else "cyan"


def run(sampler: Sampler, interval: float, fd: int) -> None:
    """Draws until the user quits; `fd` is the terminal that keys are read from."""
    import select
    import signal
    import sys
    import termios
    import time
    import tty

    from rich.console import Console
    from rich.live import Live

    view = View()
    console = Console()
    before = termios.tcgetattr(fd)
    # So that the terminal is put right again.
    ended = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        tty.setcbreak(fd)
        with Live(console=console, screen=True, auto_refresh=False) as live:
            sampler.watch(min(interval, 0.3), fd)
            window = sampler.window()
            end = time.monotonic() + interval
            while not view.ended:
                live.update(drawn(view, window, console.width, console.height), refresh=True)
                sampler.watch(max(end - time.monotonic(), 0), fd)
                if select.select([fd], [], [], 0)[0]:
                    data = os.read(fd, 1024)
                    if not data:  # the terminal is gone
                        return
                    for key in keys_of(data):
                        view.press(key, len(window.activities))
                elif time.monotonic() >= end:
                    end = time.monotonic() + interval
                    if not view.held:
                        window = sampler.window()
    except KeyboardInterrupt:
        pass
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, ended)
