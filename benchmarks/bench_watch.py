# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What it costs to read metrics of a process that records ranges all the while.

    python benchmarks/bench_watch.py

For each mode: processor time of a scrape of 200 ranges and of a look of Scalars at two, and the
longest time in which the recorded threads did not run because of it. "calm" is the same file while
each thread records 200 ranges in 10 ms.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from statistics import median

import nvspan
import nvspan.watch

NAMES, THREADS, READINGS = 200, 2, 9
MODES = ("stats", "ring=8", "ring=64", "full")


class Work:
    """Threads that open and close ranges, and what the longest pause between two rounds was."""

    def __init__(self) -> None:
        self.stopping = False
        self.rest = 0.0005
        self.pauses: list[float] = []
        self.threads = [threading.Thread(target=self.run) for _ in range(THREADS)]
        for thread in self.threads:
            thread.start()

    def run(self) -> None:
        ranges = [nvspan.annotate(f"range {number}") for number in range(NAMES)]
        longest = 0.0
        while not self.stopping:
            begin = time.perf_counter()
            for one in ranges:
                with one:
                    pass
            longest = max(longest, time.perf_counter() - begin)
            time.sleep(self.rest)
        self.pauses.append(longest)

    def stop(self) -> float:
        self.stopping = True
        for thread in self.threads:
            thread.join()
        return max(self.pauses)


def cost(read) -> float:
    """Milliseconds of this thread's processor time."""
    found = []
    for _ in range(READINGS):
        begin = time.thread_time()
        read()
        found.append(time.thread_time() - begin)
        time.sleep(0.2)
    return median(found) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="recorded before (%(default)s)")
    seconds = parser.parse_args().seconds
    print(f"{'mode':10} {'file MB':>8} {'scrape ms':>10} {'Scalars ms':>11} {'pause ms':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            path = os.path.join(folder, f"{mode}.nvspan")
            with nvspan.record(path, mode=mode):
                work = Work()
                time.sleep(seconds)
                collector = nvspan.watch.PrometheusCollector()
                scrape = cost(lambda collector=collector: list(collector.collect()))
                scalars = nvspan.watch.Scalars(match=["range 1", "range 2"])
                look = cost(scalars.read)
                calm = None
                if mode == "ring=64":
                    work.rest = 0.01
                    time.sleep(2.5)
                    list(collector.collect())
                    scalars.read()
                    calm = cost(lambda collector=collector: list(collector.collect()))
                    calm_look = cost(scalars.read)
                pause = work.stop() * 1e3
            size = os.path.getsize(path) / 1e6
            print(f"{mode:10} {size:8.1f} {scrape:10.1f} {look:11.2f} {pause:9.1f}", flush=True)
            if calm is not None:
                print(f"{'calm':10} {size:8.1f} {calm:10.1f} {calm_look:11.2f}", flush=True)


if __name__ == "__main__":
    main()
