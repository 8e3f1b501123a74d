# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that step together: each waits for all at the end of a step. One of them hangs until the
others wait for it and, if it lives, until the black box has a bundle of all of them, or is killed,
and the others wait for that bundle. Arguments: how many, which one, the folder of the recordings,
"killed" or "lives"."""

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

STEPS, LATE = 430, 400
LIMIT = 60.0  # seconds
TOGETHER = 0.6  # seconds: less than 0.5 s after another, a stall belongs to the earlier bundle


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def bundles(folder):
    """Each bundle and when it was opened, in ns since 1970."""
    for path in Path(folder).glob("nvspan-trigger-*"):
        reasons = path / "why.jsonl"
        line, end, _ = reasons.read_text().partition("\n") if reasons.exists() else ("", "", "")
        yield path, json.loads(line)["time"] if end else time.time_ns()


def is_quiet(folder):
    """Whether a stall from now on is a bundle of its own."""
    return all(time.time_ns() - opened > TOGETHER * 1e9 for _, opened in bundles(folder))


def has_bundle(folder, count, since):
    """Whether there is a whole bundle of all ranks that was opened after this time."""
    for path, opened in bundles(folder):
        if 0 < since <= opened and len(list(path.glob("*.nvspan"))) == count:
            return True
    return False


def hang(barrier, count, folder, end, since):
    wait_until(lambda: barrier.n_waiting == count - 1)
    since.value = time.time_ns()
    if end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    wait_until(lambda: has_bundle(folder, count, since.value))


def rank_main(rank, barrier, count, late, folder, end, since):
    os.environ["RANK"] = str(rank)
    import nvspan

    for number in range(STEPS):
        if number == LATE:
            wait_until(lambda: is_quiet(folder))
        with nvspan.annotate("step"):
            with nvspan.annotate("work"):
                time.sleep(0.002)
            if rank == late and number == LATE:
                with nvspan.annotate("read the shard"):
                    hang(barrier, count, folder, end, since)
            with nvspan.annotate("wait for all"):
                try:
                    barrier.wait(2 * LIMIT)
                except threading.BrokenBarrierError:
                    return


def main():
    count, late, folder, end = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count)
    since = context.Value("q", 0)
    others = (barrier, count, late, folder, end, since)
    ranks = [context.Process(target=rank_main, args=(rank, *others)) for rank in range(count)]
    for process in ranks:
        process.start()
    if end == "killed":
        ranks[late].join()  # a killed process is gone when its parent has asked for its end
        wait_until(lambda: has_bundle(folder, count, since.value))
        barrier.abort()
    for process in ranks:
        process.join()


if __name__ == "__main__":
    main()
