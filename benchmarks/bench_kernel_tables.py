# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the answers about kernels cost: ``nvspan kernels``, ``stats --gpu`` and ``explain``.

    python benchmarks/bench_kernel_tables.py [--kernels 10000000] [--graphs] [--shuffled]
                                             [--keep FILE] [--json FILE]

A program records steps of 100 kernels, 40 in `forward`, 60 in `backward`, with the fake CUPTI of
tests/kernels; the recorder writes them as it does those of a GPU. With `--graphs` a step replays a
graph of 1,000 kernels, recorded one by one; with `--shuffled` CUPTI hands over the work of many
steps in the wrong order. Each command runs three times in a process of its own, the best is kept:
the wall time holds the start of the interpreter. The exit code is 1 if one took more than 5 s or
800 MB, `explain` 10 s or 1 GB.
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
            ("stats", "--gpu"), ("explain",))  # fmt: skip
LIMITS = dict.fromkeys(map(" ".join, COMMANDS), (5.0, 800)) | {"explain": (10.0, 1000)}
REPEATS, STEP, REPLAY = 3, 100, 1000
PROGRAM = f"""
gpu.use()
shuffled = sys.argv[2] == "shuffled"
for step in range(int(sys.argv[1]) // {STEP}):
    with nvspan.annotate("step"):
        with nvspan.annotate("forward"):
            gpu.cupti.fake_launches(b"gemm", 30, 500)
            gpu.cupti.fake_launches(b"relu", 10, 100)
        with nvspan.annotate("backward"):
            gpu.cupti.fake_launches(b"gemm", 50, 500)
            gpu.cupti.fake_launches(b"adam", 10, 200)
    if step % 1000 == 999 and not (shuffled and step % 10000 != 9999):
        gpu.deliver(reversed=shuffled)
gpu.deliver(reversed=shuffled)
"""
GRAPHS = f"""
gpu.use()
shuffled = sys.argv[2] == "shuffled"
for step in range(int(sys.argv[1]) // {REPLAY}):
    with nvspan.annotate("step"):
        gpu.cupti.fake_replay(b"node", {REPLAY}, ctypes.c_uint64(500))
    if step % 100 == 99 and not (shuffled and step % 1000 != 999):
        gpu.deliver(reversed=shuffled)
gpu.deliver(reversed=shuffled)
"""


def record(path: Path, kernels: int, graphs: bool, shuffled: bool) -> None:
    program = PREAMBLE + (GRAPHS if graphs else PROGRAM)
    command = [sys.executable, "-m", "nvspan", "record", "--lines", "off", "--cuda",
               "graphs" if graphs else "kernels", "--force", "--no-report", "-o", str(path), "-c",
               program, str(kernels), "shuffled" if shuffled else "ordered"]  # fmt: skip
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
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--shuffled", action="store_true")
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
            record(path, options.kernels, options.graphs, options.shuffled)
            if options.keep is not None:
                shutil.copy(path, options.keep)
        print(f"{path.stat().st_size / 1e6:.0f} MB")
        for words in COMMANDS:
            case = " ".join(words)
            wall, cpu, memory = found[case] = measure(words, path)
            print(f"{case:<20} {wall:6.2f} s, CPU {cpu:6.2f} s, {memory:5.0f} MB")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    slow = [
        case for case, (wall, _, memory) in found.items()
        if wall > LIMITS[case][0] or memory > LIMITS[case][1]
    ]  # fmt: skip
    return len(slow)


if __name__ == "__main__":
    sys.exit(main())
