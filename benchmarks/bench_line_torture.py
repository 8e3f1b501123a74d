# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Many samples of programs that do all that is hard for a sampler.

    python benchmarks/bench_line_torture.py [--seconds 60] [--at-once 2] [--rate 2000]

So many programs run at once (tests/lines/tortured.py); then each sample is compared with what can
be true. The exit code is 1 where a name, a line or a caller never was, or a program did not end as
it should.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.torture import torture


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--rate", type=int, default=2000)
    options = parser.parse_args()
    total: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.at_once) as pool:
        folders = [Path(folder, str(i)) for i in range(options.at_once)]
        for each in folders:
            each.mkdir()
        runs = [pool.submit(torture, each, options.seconds, options.rate) for each in folders]
        for run in runs:
            try:
                total.update(run.result())
            except AssertionError as error:
                wrong += 1
                print(error, file=sys.stderr)
    of = ", ".join(f"{what} {number:,}" for what, number in sorted(total.items()))
    print(f"CPython {platform.python_version()}: {wrong} of {options.at_once} runs wrong; {of}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
