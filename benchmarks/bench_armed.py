# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What an event costs armed and recorded, beside a tool that does nothing, in a loop of C++; and
how long many processes take to be grouped.

    bench_armed.py [--events N] [--rounds N] [--files N]

Processor time, the least of the rounds, in turn: other programs on the machine count little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import nvspan  # noqa: E402
from helpers.compile import nvtx_include  # noqa: E402
from nvspan import launch  # noqa: E402

KINDS = ("registered", "ascii", "startend", "mark")
MODES = ("nothing", "armed", "full", "ring:16000000", "stats")


def compiled(folder: Path) -> tuple[str, str]:
    """The loop, and the tool that does nothing."""
    include = f"-I{nvtx_include()}"
    loop, nothing = str(folder / "loop"), str(folder / "nothing.so")
    command = [
        "g++",
        "-O2",
        include,
        str(HERE / "record_loop.cpp"),
        "-o",
        loop,
        "-lpthread",
        "-ldl",
    ]
    subprocess.run(command, check=True)
    command = ["g++", "-O2", "-fPIC", "-shared", include, str(HERE / "null_injection.cpp")]
    subprocess.run([*command, "-o", nothing], check=True)
    return loop, nothing


def events(folder: Path, count: int, rounds: int) -> None:
    loop, nothing = compiled(folder)
    file = folder / "loop.nvspan"
    print("ns an event       " + "".join(f"{mode.partition(':')[0]:>10}" for mode in MODES))
    for kind in KINDS:
        least = dict.fromkeys(MODES, float("inf"))
        for _ in range(rounds):
            for mode in MODES:
                if kind == "startend" and mode == "stats":
                    continue
                environment = dict(os.environ)
                tool = nothing if mode == "nothing" else launch.injection_library()
                environment[launch.INJECTION_VARIABLE] = tool
                environment[launch.CONFIG_VARIABLE] = f"format=record;file={file};mode={mode}"
                done = subprocess.run([loop, kind, str(count), "1"], env=environment, check=True,
                                      capture_output=True, text=True)  # fmt: skip
                least[mode] = min(least[mode], float(done.stdout))
                file.unlink(missing_ok=True)
        print(f"{kind:<18}" + "".join(f"{least[mode]:10.2f}" for mode in MODES))


def grouping(folder: Path, count: int) -> None:
    """Files of processes that the recorder wrote: forks of one, each with ranges open."""
    code = f"""
import nvspan, os
for rank in range({count}):
    if os.fork() == 0:
        os.environ["RANK"] = str(rank)
        nvspan.push_range("step"); nvspan.push_range(f"layer {{rank % 7}}", domain="model")
        if rank != 4321: nvspan.push_range("all_reduce", domain="torch.distributed")
        os._exit(0)
    os.wait()
"""
    environment = dict(os.environ)
    environment[launch.INJECTION_VARIABLE] = launch.injection_library()
    template = folder / "run-{pid}.nvspan"
    environment[launch.CONFIG_VARIABLE] = f"format=record;file={template};mode=armed"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    found = sorted(folder.glob("run-*.nvspan"))
    begin, busy = time.monotonic(), time.process_time()
    look = nvspan.where(folder, samples=1)
    tree = look.tree
    took, busy = time.monotonic() - begin, time.process_time() - busy
    begin = time.monotonic()
    text = str(look)
    shown = time.monotonic() - begin
    assert len(look.processes) == len(found), look.problems[:3]
    print(f"{len(found):,} files: looked and grouped in {took:.2f} s, {busy:.2f} s of them busy")
    print(f"{len(tree[0].processes):,} in the tree; {len(text):,} characters in {shown:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nvspan-armed-") as folder:
        if options.rounds:
            events(Path(folder), options.events, options.rounds)
        if options.files:
            grouping(Path(folder), options.files)


if __name__ == "__main__":
    main()
