# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the first screen of nvspan and of other profilers for the programs of `screens`.

    python benchmarks/bench_screens.py [PROGRAM ...]

Needs pyinstrument, scalene, viztracer and memray in the same environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).with_name("screens")
# What each tool runs, with the program last; the last line prints the screen.
TOOLS = {
    "nvspan": ("nvspan record -o run.nvspan program.py",),
    "nvspan, program without ranges": ("nvspan record --profile -o bare.nvspan bare.py",),
    "pyinstrument": ("pyinstrument program.py",),
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
        printed = subprocess.run(
            [sys.executable, "-m", *line.split()],
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        ).stdout
    return printed


def main() -> int:
    for name in sys.argv[1:] or sorted(path.stem for path in PROGRAMS.glob("*.py")):
        text = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        for tool, lines in TOOLS.items():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "program.py").write_text(text, encoding="utf-8")
                Path(folder, "bare.py").write_text(without_ranges(text), encoding="utf-8")
                print(f"=== {name}: {tool}\n{screen(lines, folder)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
