# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the answers about kernels cost: ``nvspan kernels`` and ``stats --gpu``.

    python benchmarks/bench_kernel_tables.py [--kernels 10000000] [--keep FILE] [--json FILE]

A program records steps of 100 kernels, 40 in `forward`, 60 in `backward`, with the fake CUPTI of
tests/kernels; the recorder writes them as it does those of a GPU. Each command runs three times in
a process of its own, the best is kept: the wall time holds the start of the interpreter. The exit
code is 1 if one took more than 5 s or 800 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from helpers.fake_cupti import PREAMBLE, environment

COMMANDS = (("kernels",), ("kernels", "--by", "range"), ("kernels", "--by", "module"),
            ("stats", "--gpu"))  # fmt: skip
SECONDS, MEGABYTES, REPEATS, STEP = 5.0, 800, 3, 100
PROGRAM = f"""
gpu.use()
for step in range(int(sys.argv[1]) // {STEP}):
    with nvspan.annotate("step"):
        with nvspan.annotate("forward"):
            gpu.cupti.fake_launches(b"gemm", 30, 500)
            gpu.cupti.fake_launches(b"relu", 10, 100)
        with nvspan.annotate("backward"):
            gpu.cupti.fake_launches(b"gemm", 50, 500)
            gpu.cupti.fake_launches(b"adam", 10, 200)
    if step % 1000 == 999:
        gpu.deliver()
gpu.deliver()
"""


def record(path: Path, kernels: int) -> None:
    command = [sys.executable, "-m", "nvspan", "record", "--lines", "off", "--cuda", "kernels",
               "--force", "--no-report", "-o", str(path), "-c", PREAMBLE + PROGRAM,
               str(kernels)]  # fmt: skip
    made = {k: v for k, v in {**os.environ, **environment()}.items() if v is not None}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=made)


def measure(words: tuple[str, ...], path: Path) -> tuple[float, float, float]:
    """Wall time, CPU time and MB resident of the best run."""
    runs = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", "nvspan", *words, str(path)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0, words
        runs.append((time.perf_counter() - start, usage.ru_utime + usage.ru_stime,
                     usage.ru_maxrss / 1000))  # fmt: skip
    return min(runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, help="keep the recording here")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NVSPAN_TESTS_SHARED"] = folder  # for the library that tests build
        path = Path(folder) / "kernels.nvspan"
        if options.keep is not None and options.keep.exists():
            path = options.keep
        else:
            record(path, options.kernels)
            if options.keep is not None:
                shutil.copy(path, options.keep)
        print(f"{path.stat().st_size / 1e6:.0f} MB")
        for words in COMMANDS:
            case = " ".join(words)
            wall, cpu, memory = found[case] = measure(words, path)
            print(f"{case:<20} {wall:6.2f} s, CPU {cpu:6.2f} s, {memory:5.0f} MB")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    slow = any(wall > SECONDS or memory > MEGABYTES for wall, _, memory in found.values())
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
