# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the black box costs a program: steps of 10 ms with 200 ranges, in a ring of 64 MB.

The watcher's thread lies in the program's process; its processor time is what the kernel counted
for it; a bundle of the same kind has been written before, so that none is written meanwhile. The
program's own time in its annotations is compared between runs with and without triggers, in turns.
At the end a full ring is frozen, several times, while its program lives.

    python benchmarks/bench_black_box.py [STEPS] [RUNS]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TRIGGERS = "slow:*>100; stall:60s; killed; every:1h"
RANGES, STEP = 200, 0.01
LEARNING = 300  # steps: then every level is known


def thread_ns(name: str) -> int | None:
    """Nanoseconds of processor time of this process's thread of that name."""
    for tid in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{tid}/comm", encoding="ascii") as file:
            if file.read().strip() != name:
                continue
        with open(f"/proc/self/task/{tid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])
    return None


def program(steps: int) -> None:
    import nvspan

    names = [f"range {number}" for number in range(RANGES - 1)]
    domain = nvspan.get_domain("work")
    for name in names:
        domain.get_registered_string(name)
    inside = []
    begun_ns = 0
    clock = time.perf_counter_ns
    for number in range(steps):
        if number == LEARNING:
            begun_ns = thread_ns("nvspan watch") or 0
        until = clock() + int(STEP * 1e9)
        with nvspan.annotate("step"):
            begin = clock()
            for name in names:
                with nvspan.annotate(name, domain="work"):
                    pass
            inside.append(clock() - begin)
            while (left := until - clock()) > 0:
                time.sleep(left / 1e9 / 2 if left > 2e5 else 0)
    used = thread_ns("nvspan watch")
    measured = steps - LEARNING
    print(json.dumps({
        "watcher": None if used is None else (used - begun_ns) / measured,
        "annotations": statistics.median(inside),
    }), flush=True)  # fmt: skip
    sys.stdin.readline()


def run(folder: str, steps: int, triggers: str | None, freezes: int = 0) -> dict[str, float]:
    environment = {**os.environ, "NVSPAN_RECORD": f"ring=64:{folder}/run-{{pid}}.nvspan"}
    environment.pop("NVSPAN_TRIGGER", None)
    if triggers is not None:
        environment["NVSPAN_TRIGGER"] = triggers
        with open(os.path.join(folder, "nvspan.trigger"), "w", encoding="ascii") as flag:
            os.fchmod(flag.fileno(), 0o600)
            flag.write(f"nvspan-trigger-before {time.time_ns()} slow\n")
    process = subprocess.Popen([sys.executable, __file__, "program", str(steps)], text=True,
                               env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    found: dict[str, float] = json.loads(process.stdout.readline())
    process.communicate("\n")
    return found


def freezing(folder: str) -> list[float]:
    """Milliseconds in which a full ring of 64 MB is copied."""
    from nvspan import _reader, recorder

    path = os.path.join(folder, "full.nvspan")
    code = ("import nvspan\nfor number in range(3_000_000):\n"
            "    with nvspan.annotate('a'): pass\nprint(flush=True); input()")  # fmt: skip
    from nvspan import launch

    environment = {**os.environ, launch.INJECTION_VARIABLE: launch.injection_library(),
                   launch.CONFIG_VARIABLE: recorder.config_string(path, "ring=64")}  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    taken = []
    for _ in range(3):
        watcher = _reader.Watcher(os.fsencode(folder), 0, 0, [], [], 3600.0, 0.1, 100, b"")
        begin = time.perf_counter()
        watcher.trigger_now("asked", "bench")
        taken.append((time.perf_counter() - begin) * 1e3)
        time.sleep(2.1)
    process.communicate("\n")
    return taken


def main() -> None:
    if sys.argv[1:2] == ["program"]:
        program(int(sys.argv[2]))
        return
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        plain, watched = [], []
        for _ in range(runs):
            plain.append(run(folder, steps, None))
            watched.append(run(folder, steps, TRIGGERS))
        thread = min(each["watcher"] for each in watched)
        print(f"the watcher's thread: {thread / 1e3:.1f} us a step of {STEP * 1e3:.0f} ms, "
              f"{thread / STEP / 1e7:.3f} %")  # fmt: skip
        for name, found in (("without", plain), ("with", watched)):
            least = min(each["annotations"] for each in found)
            print(f"{RANGES} ranges {name} triggers: {least / 1e3:.1f} us of the program")
    with tempfile.TemporaryDirectory() as folder:
        taken = freezing(folder)
        print(f"freezing a full ring of 64 MB: {min(taken):.0f} ms, at most {max(taken):.0f} ms")


if __name__ == "__main__":
    main()
