# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `nvspan top` costs: processor time of looking at processes a thousand times a second, of
waking up alone, and of what is made of a second of it; and how far shares are from what is so.

    bench_top.py [--processes N] [--seconds S] [--rounds N] [--rate N]

The processes spend 70, 25 and 5 % of their time in three ranges, by their own clock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nvspan import _reader, launch
from nvspan.live.top.sampling import Sampler

CODE = """
import nvspan, time
print("ready", flush=True)
while True:
    with nvspan.annotate("step"):
        for name, seconds in (("a", 0.014), ("b", 0.005), ("c", 0.001)):
            with nvspan.annotate(name):
                time.sleep(seconds)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, default=1000.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nvspan-top-") as folder:
        environment = dict(os.environ)
        environment[launch.INJECTION_VARIABLE] = launch.injection_library()
        template = Path(folder) / "run-{pid}.nvspan"
        environment[launch.CONFIG_VARIABLE] = f"format=record;file={template};mode=armed"
        command = [sys.executable, "-c", CODE]
        jobs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
                for _ in range(options.processes)]  # fmt: skip
        try:
            for job in jobs:
                job.stdout.readline()
            time.sleep(0.5)
            measure(folder, options)
        finally:
            for job in jobs:
                job.kill()
                job.wait()


def measure(folder: str, options: argparse.Namespace) -> None:
    sampler = Sampler([folder], rate=options.rate)
    nobody = _reader.LiveFiles([])
    interval = int(1e9 / options.rate)
    print("looks a second   % of a core   us a look   waking up alone   ms a window")
    for _ in range(options.rounds):
        begin = time.process_time()
        alone = nobody.watch(interval, int(options.seconds * 1e9), -1)
        alone_took = time.process_time() - begin
        sampler.window()
        begin, wall = time.process_time(), time.monotonic()
        sampler.watch(options.seconds)
        took, wall = time.process_time() - begin, time.monotonic() - wall
        begin = time.process_time()
        window = sampler.window()
        made = time.process_time() - begin
        print(
            f"{window.looks / wall:14.0f}{took / wall * 100:14.2f}{took / window.looks * 1e6:12.1f}"
            f"{alone_took / alone * 1e6:18.1f}{made * 1e3:14.1f}"
        )
    for row in window.rows:
        print(f"{row.range[1]:<6}" + " ".join(f"{share:6.1%}" for share in row.shares))


if __name__ == "__main__":
    main()
