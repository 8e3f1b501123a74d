# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a range or a counter's sample costs that is submitted with its times, under the recorder.

    python benchmarks/bench_submitted.py [--rows 20000] [--turns 8] [--json FILE]

A program hands over batches of ranges (`Domain.event_batch`) and of samples (`batch_submit`) while
nvspan records it; the best turn of each counts. Another build is measured with its folder on
PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLACES = ("a range of a batch", "a sample of a batch")


def work(count: int, turns: int) -> None:
    """Measures in this process and prints JSON: ns of a range, and of a sample."""
    import numpy as np

    import nvspan

    domain = nvspan.get_domain("bench")
    begin = nvspan.numpy_dtype("i8", entry_kind=nvspan.EntryKind.RANGE_BEGIN)
    end = nvspan.numpy_dtype("i8", entry_kind=nvspan.EntryKind.RANGE_END)
    rows = np.zeros(count, [("begin", begin), ("end", end)])
    counter, values = domain.get_counter("counter", float), np.ones(count)
    best = [float("inf"), float("inf")]
    for _ in range(turns):
        rows["begin"] = domain.get_timestamp() - 1000 * np.arange(count, 0, -1)
        rows["end"] = rows["begin"] + 500
        times = rows["begin"].copy()
        before = time.perf_counter_ns()
        domain.event_batch(rows)
        between = time.perf_counter_ns()
        counter.batch_submit(values, times)
        after = time.perf_counter_ns()
        best = [min(best[0], between - before), min(best[1], after - between)]
    print(json.dumps([ns / count for ns in best]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=20_000, help="in a batch")
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.rows, options.turns)
        return 0
    with tempfile.TemporaryDirectory(prefix="nvspan-submitted-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "nvspan", "record", "-o", f"{folder}/run.nvspan", "--",
             sys.executable, __file__, "--work", "--rows", str(options.rows),
             "--turns", str(options.turns)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    found = dict(zip(PLACES, json.loads(done.stdout.splitlines()[0]), strict=True))
    print("| ns | |\n| --- | --- |")
    for name, ns in found.items():
        print(f"| {name} | {ns:.0f} |")
    if options.json:
        options.json.write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
