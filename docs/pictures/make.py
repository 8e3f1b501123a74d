# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of README.md and docs, from the recordings of tests/data.

    python docs/pictures/make.py

Needs rich, Playwright and a Chromium (NVSPAN_CHROMIUM, else chromium on PATH), and for small files
Pillow. The picture of device ranges is that of make_device_pictures.py, that of nvspan top of
make_top_picture.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "tests" / "data"
LOOPS = DATA / "loops"
# File, recording, what it is called, the heading before which the picture ends, width in pixels.
PAGES = (
    ("report.png", "data", "train", "Ranges", 1100),
    ("slow-loop.png", "slow", "before", "Timeline", 1000),
)
# Archive, the recordings in it, file.
RANKS = (
    ("loops/job.tar.xz", "job-?.nvspan", "ranks.png"),
    ("nccl/forward.tar.xz", "*/phase-1-?.nvspan", "ranks-nccl.png"),
)
COLORS = 160  # of a picture: a page has few
STYLE = """
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>
<g transform="translate({terminal_x}, 14)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def unpacked(name: str, folder: str, called: str) -> str:
    path = Path(folder, f"{called}.nvspan")
    path.write_bytes(lzma.decompress((LOOPS / f"{name}.nvspan.xz").read_bytes()))
    return str(path)


def ranks_page(tab: Any, archive: Path, recordings: str, into: str, picture: Path) -> None:
    """The verdict and the heat map of the page of `nvspan ranks`."""
    folder = os.path.join(into, picture.stem)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    for path in Path(folder).glob(recordings):
        path.rename(Path(folder, path.name))
    page = os.path.join(folder, "ranks.html")
    files = sorted(path.name for path in Path(folder).glob("*.nvspan"))
    nvspan("ranks", "-o", page, *files, folder=folder)
    tab.goto(f"file://{page}")
    tab.wait_for_timeout(600)
    top = tab.locator("#verdict").bounding_box()["y"]
    bottom = tab.locator("#tables").bounding_box()["y"]
    clip = {"x": 0, "y": top - 8, "width": tab.viewport_size["width"], "height": bottom - top}
    tab.screenshot(path=str(picture), full_page=True, clip=clip)
    reduce(picture)


def nvspan(*words: str, folder: str | None = None) -> None:
    command = [sys.executable, "-m", "nvspan", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)


def terminal(command: list[str], width: int, picture: Path) -> None:
    """What a command prints on a terminal of that width, in its colors, as text in an SVG."""
    from rich.console import Console
    from rich.text import Text

    printed = on_a_terminal([sys.executable, "-m", *command], width)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {' '.join(os.path.basename(word) for word in command)}"))
    console.print(Text.from_ansi(printed.rstrip()))
    write_svg(console, picture)


def write_svg(console: Any, picture: Path) -> None:
    """What a console of rich recorded."""
    from rich.terminal_theme import TerminalTheme

    light = TerminalTheme(
        (255, 255, 255), (36, 41, 47),
        [(36, 41, 47), (207, 34, 46), (17, 99, 41), (77, 45, 0), (9, 105, 218), (130, 80, 223),
         (27, 124, 131), (110, 119, 129)],
    )  # fmt: skip
    svg = console.export_svg(theme=light, code_format=STYLE, unique_id="t")
    picture.write_text(re.sub(r"\n\s*\n+", "\n", svg).strip() + "\n", encoding="utf-8")


def on_a_terminal(command: list[str], width: int) -> str:
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        printed = b""
        with contextlib.suppress(OSError):  # what a closed terminal answers
            while part := os.read(ours, 65536):
                printed += part
    os.close(ours)
    if process.returncode:
        raise SystemExit(printed.decode())
    return printed.decode().replace("\r\n", "\n")


def screenshot(tab: Any, page: str, last: str, picture: Path) -> None:
    """The page from its headline to a heading."""
    tab.goto(f"file://{page}")
    tab.wait_for_timeout(600)
    places = ("#headline", f"h2:text-is('{last}')")
    top, bottom = (tab.locator(place).bounding_box()["y"] for place in places)
    width = tab.viewport_size["width"]
    tab.screenshot(
        path=str(picture), full_page=True,
        clip={"x": 0, "y": top - 8, "width": width, "height": bottom - top - 4},
    )  # fmt: skip
    reduce(picture)


def reduce(picture: Path) -> None:
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(picture) as full:
        few = full.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def main() -> int:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("NVSPAN_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, recording, called, last, width in PAGES:
            page = os.path.join(folder, f"{called}.html")
            recorded = os.path.basename(unpacked(recording, folder, called))
            nvspan("report", "-o", page, recorded, folder=folder)
            tab = browser.new_page(
                viewport={"width": width, "height": 1000}, device_scale_factor=1.5,
                color_scheme="light",
            )  # fmt: skip
            screenshot(tab, page, last, HERE / name)
        tab = browser.new_page(
            viewport={"width": 900, "height": 1000}, device_scale_factor=1.5, color_scheme="light"
        )
        for packed, recordings, name in RANKS:
            ranks_page(tab, DATA / packed, recordings, folder, HERE / name)
        browser.close()
        before, after = unpacked("slow", folder, "before"), unpacked("fixed", folder, "after")
        terminal(["nvspan", "diff", before, after], 96, HERE / "diff.svg")
    for picture in sorted(HERE.glob("*.[ps][nv]g")):
        print(f"{picture.stat().st_size:8} {picture.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
