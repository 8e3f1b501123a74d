# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What sampling lines costs the program, beside a thread that only wakes up as often.

    python benchmarks/bench_line_cost.py --triples 50 [--rate 1000] [--markdown]

Loops of calls, attributes, generators, strings and arrays run without a sampler, with a thread that
wakes up, and with the sampler, in random order; ratios are medians with a 95% interval by
bootstrap. The sampler's own share of a core is that of four threads of depth 30 that compute.
The exit code is 1 where the interval's upper end is above 1.02, or the share above 0.5%.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).with_name("lines")
MOST, SHARE = 1.02, 0.005


def interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and its 95% interval."""
    medians = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[1949]


def text(values: list[float]) -> str:
    return "{:.4f} [{:.4f} {:.4f}]".format(*interval(values))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--triples", type=int, default=50)
    parser.add_argument("--rate", type=float, help="looks a second; default: by the budget")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    from nvspan import launch, recorder

    with tempfile.TemporaryDirectory() as folder:
        waker = Path(folder) / "waker.so"
        source = FOLDER / "waker.cpp"
        subprocess.run(["c++", "-O2", "-shared", "-fPIC", source, "-o", waker], check=True)
        period = 0 if options.rate is None else int(1e9 / options.rate)
        environment = {
            **os.environ,
            launch.INJECTION_VARIABLE: launch.injection_library(),
            launch.CONFIG_VARIABLE: recorder.config_string(Path(folder) / "run.nvspan"),
            "LINES_WAKER": str(waker),
            "LINES_PERIOD": str(period),
        }
        command = [sys.executable, str(FOLDER / "cost.py"), str(options.triples)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    ratios: dict[str, dict[str, list[float]]] = {}
    for loop, found in result["loops"].items():
        for mode in ("waker", "sampler"):
            pairs = zip(found[mode], found["off"], strict=True)
            ratios.setdefault(loop, {})[mode] = [with_it[0] / off[0] for with_it, off in pairs]
    every = {m: [r for of in ratios.values() for r in of[m]] for m in ("waker", "sampler")}
    if options.markdown:
        print("| loop | wake-ups alone / off | sampler / off |\n|---|---|---|")
    for loop, of in {**ratios, "all": every}.items():
        cells = (loop, text(of["waker"]), text(of["sampler"]))
        print(f"| {' | '.join(cells)} |" if options.markdown else "\t".join(cells))
    print(f"the sampler's thread: {100 * result['share']:.2f}% of a core")
    return 0 if interval(every["sampler"])[2] <= MOST and result["share"] <= SHARE else 1


if __name__ == "__main__":
    raise SystemExit(main())
