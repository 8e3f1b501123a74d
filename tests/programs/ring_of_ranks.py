# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that step together: each waits for all at the end of a step. One of them hangs for a while,
and may then be killed. Arguments: how many, which one, seconds, "killed" or "lives"."""

import multiprocessing
import os
import signal
import sys
import threading
import time

STEPS, LATE = 430, 400


def rank_main(rank, barrier, late, seconds, end):
    os.environ["RANK"] = str(rank)
    import nvspan

    for number in range(STEPS):
        with nvspan.annotate("step"):
            with nvspan.annotate("work"):
                time.sleep(0.002)
            if rank == late and number == LATE:
                with nvspan.annotate("read the shard"):
                    if end == "killed":
                        time.sleep(seconds / 4)
                        os.kill(os.getpid(), signal.SIGKILL)
                    time.sleep(seconds)
            with nvspan.annotate("wait for all"):
                try:
                    barrier.wait(8 * seconds)
                except threading.BrokenBarrierError:
                    return


def main():
    count, late, seconds, end = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count)
    ranks = [context.Process(target=rank_main, args=(rank, barrier, late, seconds, end))
             for rank in range(count)]  # fmt: skip
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()


if __name__ == "__main__":
    main()
