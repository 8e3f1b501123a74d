# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the picture of the screen of nvspan top, on four processes of which one loads slowly.

    python docs/pictures/make_top_picture.py

Needs rich.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from make import HERE, write_svg
from rich.console import Console

from nvspan.live.top.sampling import Sampler
from nvspan.live.top.screen import View, drawn

JOB = """
import nvspan, os, time
slow = os.environ["RANK"] == "2"
while True:
    with nvspan.annotate("step"):
        with nvspan.annotate("load", domain="data"): time.sleep(0.012 if slow else 0.003)
        with nvspan.annotate("forward"): time.sleep(0.008)
        with nvspan.annotate("backward"): time.sleep(0.006)
"""
WIDTH, HEIGHT = 90, 14


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        jobs = [
            subprocess.Popen(
                [sys.executable, "-c", JOB],
                env={**os.environ, "RANK": str(rank),
                     "NVSPAN_RECORD": f"armed:{folder}/run-{rank}.nvspan"},
            )
            for rank in range(4)
        ]  # fmt: skip
        try:
            time.sleep(3)
            sampler = Sampler([folder])
            for _ in range(4):
                sampler.watch(1)
                window = sampler.window()
        finally:
            for job in jobs:
                job.kill()
                job.wait()
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(drawn(View(), window, WIDTH, HEIGHT))
    write_svg(console, HERE / "top.svg")
    assert Path(HERE / "top.svg").stat().st_size < 30_000
    return 0


if __name__ == "__main__":
    sys.exit(main())
