# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What an event costs armed and recorded, beside a tool that does nothing and beside `rdtsc`, in a
loop of C++; how long a running process takes to obey `nvspan start` and `stop`; and how long many
processes take to be grouped.

    bench_armed.py [--events N] [--rounds N] [--switches N] [--files N]

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
from nvspan.live.control import ask  # noqa: E402

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
    clock = min(
        float(subprocess.run([loop, "rdtsc", str(count), "1"], check=True, capture_output=True,
                             text=True).stdout)
        for _ in range(rounds)
    )  # fmt: skip
    print(f"{'rdtsc':<18}{clock:10.2f}")


def switching(folder: Path, count: int) -> None:
    """A process with an event each millisecond or two is switched from outside."""
    code = """
import nvspan, time
print("ready", flush=True)
while True:
    with nvspan.annotate("tick"): time.sleep(0.001)
"""
    file = folder / "switched.nvspan"
    environment = dict(os.environ)
    environment[launch.INJECTION_VARIABLE] = launch.injection_library()
    environment[launch.CONFIG_VARIABLE] = f"format=record;file={file};mode=armed"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, text=True,
                               stdout=subprocess.PIPE)  # fmt: skip
    took = []
    try:
        process.stdout.readline()
        time.sleep(0.5)
        for i in range(count):
            begin = time.monotonic()
            (answer,) = ask(file, ("full", "armed")[i % 2])
            assert answer.kind == "obeyed", answer.text
            took.append(time.monotonic() - begin)
    finally:
        process.kill()
        process.wait()
    took.sort()
    print(f"{count} switches: median {took[count // 2] * 1e3:.1f} ms, most {took[-1] * 1e3:.1f} ms")


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
    parser.add_argument("--switches", type=int, default=200)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nvspan-armed-") as folder:
        if options.rounds:
            events(Path(folder), options.events, options.rounds)
        if options.switches:
            switching(Path(folder), options.switches)
        if options.files:
            grouping(Path(folder), options.files)


if __name__ == "__main__":
    main()
