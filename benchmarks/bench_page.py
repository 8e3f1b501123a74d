# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page of ``nvspan report`` costs: to make it, its size, and until a browser has drawn it.

    python benchmarks/bench_page.py [--ranges 1000000] [--json FILE]

Of three recordings: ranges that nest four deep in 16 threads of four ranks, each with a payload, of
some 80 names; the same of some 3,000 names in any order, so that nearly every path of the flame
graph is another one; and one thread of one name. The command runs in a process of its own, three
times, and so does the browser, a headless Chromium driven by Playwright (NVSPAN_CHROMIUM, else
chromium on PATH; without them that column is empty): the median is shown. `drawn` is the time from
the start of loading until everything in view is on the canvas. The exit code is 1 if a page of some
80 names has more than 5 MB or took more than 2 s of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nvspan import _reader

REPEATS = 3
MOST_MB, MOST_SECONDS = 5, 2
DRAWN = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  await frame();
  while (nvspan.timeline.waiting) await frame();
  return performance.now() / 1000; }"""


def nested(path: Path, ranges: int, operations: int, kinds: int) -> None:
    """Steps of phases of operations, each with a part of it."""
    rng = random.Random(1)
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        for rank in range(4):
            process = writer.process(100 + rank, rank=rank)
            domain = writer.domain(process, "app")
            for tid in range(4):
                thread = writer.thread(process, 100 + rank + 1000 * tid, f"worker {tid}")
                levels: list[list[tuple[int, int, str]]] = [[], [], [], []]
                at = 0
                while sum(map(len, levels)) < ranges // 16:
                    end = at + rng.randrange(20_000, 60_000)
                    levels[0].append((at, end, "step"))
                    phase = at + 10
                    while phase < end - 4000:
                        phase_end = phase + rng.randrange(1000, 4000)
                        levels[1].append((phase, phase_end, f"phase {rng.randrange(6)}"))
                        start = phase + 5
                        while start < phase_end - 300:
                            stop = start + rng.randrange(100, 300)
                            name = f"operation {rng.randrange(operations)}"
                            levels[2].append((start, stop, name))
                            levels[3].append(
                                (start + 10, stop - 10, f"part {rng.randrange(kinds)}")
                            )
                            start = stop + rng.randrange(20)
                        phase = phase_end + 50
                    at = end + rng.randrange(2000)
                for level in levels:
                    writer.ranges(
                        thread, domain, array("q", [each[0] for each in level]),
                        array("q", [each[1] for each in level]),
                        name=writer.strings([each[2] for each in level]),
                        payload=array("q", range(len(level))),
                    )  # fmt: skip


def flat(path: Path, ranges: int) -> None:
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(100)
        thread, domain = writer.thread(process, 100), writer.domain(process, None)
        writer.ranges(thread, domain, array("q", range(0, 100 * ranges, 100)),
                      array("q", range(60, 100 * ranges + 60, 100)),
                      name=writer.strings(["work"] * ranges))  # fmt: skip


def made(path: Path, out: Path) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and MB of memory that the command took."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "nvspan", "report", str(path), "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("nvspan report failed")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def drawn(browser: Any, page: Path) -> float:
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(page.as_uri())
    seconds = float(tab.evaluate(DRAWN))
    tab.close()
    return seconds


def chromium() -> tuple[Any, Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None, None
    found = os.environ.get("NVSPAN_CHROMIUM") or shutil.which("chromium")
    if not found:
        return None, None
    driver = sync_playwright().start()
    return driver, driver.chromium.launch(executable_path=found, args=["--no-sandbox"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--ranges", type=int, default=1_000_000)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    cases: dict[str, Callable[[Path], None]] = {
        "4 levels, 80 names": lambda path: nested(path, options.ranges, 60, 10),
        "4 levels, 3,000 names": lambda path: nested(path, options.ranges, 3000, 100),
        "1 level, 1 name": lambda path: flat(path, options.ranges),
    }
    figures: dict[str, dict[str, float | None]] = {}
    driver, browser = chromium()
    print(
        f"{options.ranges:,} ranges, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| recording | seconds | of the processor | MB resident | page, MB | drawn after, s |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as folder:
        path, out = Path(folder, "a.nvspan"), Path(folder, "a.html")
        for name, write in cases.items():
            write(path)
            runs = [made(path, out) for _ in range(REPEATS)]
            wall, spent, memory = (statistics.median(each) for each in zip(*runs, strict=True))
            size = out.stat().st_size / 1e6
            shown = None
            if browser is not None:
                shown = statistics.median(drawn(browser, out) for _ in range(REPEATS))
            figures[name] = {"seconds": wall, "cpu": spent, "memory": memory, "size": size,
                             "drawn": shown}  # fmt: skip
            print(f"| {name} | {wall:.2f} | {spent:.2f} | {memory:.0f} | {size:.1f} "
                  f"| {'' if shown is None else f'{shown:.2f}'} |", flush=True)  # fmt: skip
    if browser is not None:
        browser.close()
        driver.stop()
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    usual = figures["4 levels, 80 names"]
    return int((usual["size"] or 0) > MOST_MB or (usual["cpu"] or 0) > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
