# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the first screen of nvspan and of other profilers for eight programs.

    python benchmarks/bench_screens.py [PROGRAM ...]

Four of `screens` have ranges; four of `lines/programs.py` have none, and end with the truth: the
share of each function's time, as they measure it. Needs pyinstrument, py-spy, memray, viztracer and
scalene in the same environment; what is not installed says so.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).with_name("screens")
BARE = Path(__file__).with_name("lines") / "programs.py"
WITH_RANGES = ("logs", "orders", "server", "train")
WITHOUT = ("two_functions", "recursion", "c_functions", "sleeping")
SECONDS = 3
# What each tool runs, with the program last; the last line prints the screen.
TOOLS = {
    "nvspan": ("nvspan record --lines auto -o run.nvspan program.py",),
    "nvspan, program without ranges": ("nvspan record --lines auto -o bare.nvspan bare.py",),
    "pyinstrument": ("pyinstrument program.py",),
    "py-spy": ("py-spy top -- PYTHON program.py",),
    "scalene": (
        "scalene run --cpu-only --no-browser --outfile run.json program.py",
        "scalene view --cli run.json",
    ),
    "viztracer": ("viztracer program.py",),
    "memray": ("memray run -q -o run.bin program.py", "memray summary run.bin"),
}
COLUMNS, LINES = 80, 24


def without_ranges(text: str) -> str:
    """The program as it was before its author put ranges in."""
    text = re.sub(r"^( *)with annotate\(.*\):", r"\1if True:", text, flags=re.M)
    return re.sub(r"^(@annotate\(.*\)|from nvspan import annotate)\n", "", text, flags=re.M)


def screen(lines: tuple[str, ...], folder: str) -> str:
    """The end of what the lines print: what a terminal shows then."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    for line in lines:
        words = line.replace("PYTHON", sys.executable).split()
        if words[0] == "py-spy":
            return last_frame(words, folder, environment)
        printed = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        ).stdout
    return printed


def last_frame(words: list[str], folder: str, environment: dict[str, str]) -> str:
    """What a program that draws its terminal again and again showed last."""
    program = Path(sys.executable).with_name(words[0])
    if not program.exists() and shutil.which(words[0]) is None:
        return f"{words[0]} is not installed"
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(program) if program.exists() else words[0], *words[1:]],
        cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
    ):  # fmt: skip
        os.close(theirs)
        drawn = b""
        try:
            while part := os.read(ours, 65536):
                drawn += part
        except OSError:  # the program has ended
            pass
    os.close(ours)
    frames = re.split(rb"\x1b\[(?:1;1)?H|\x1b\[2?J", drawn)
    text = max(frames[-4:], key=len).decode("utf-8", "replace")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def texts(name: str) -> tuple[str, str]:
    """A program, and the same without ranges."""
    if name in WITHOUT:
        text = BARE.read_text(encoding="utf-8")
        text = text.replace("sys.argv[1]", repr(name)).replace("sys.argv[2]", repr(str(SECONDS)))
        return text, ""
    text = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
    return text, without_ranges(text)


def main() -> int:
    for name in sys.argv[1:] or (*WITH_RANGES, *WITHOUT):
        text, bare = texts(name)
        for tool, lines in TOOLS.items():
            if not bare and "bare.py" in lines[-1]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "program.py").write_text(text, encoding="utf-8")
                Path(folder, "bare.py").write_text(bare, encoding="utf-8")
                print(f"=== {name}: {tool}\n{screen(lines, folder)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
