# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A job of processes that meet in a collective each step: troubled_job.py RANKS RANK STEP TROUBLE.

At that step, one rank meets its trouble; the others wait for it. It prints "ready" when that rank
is about to. "gloo" as a fifth argument has them meet through torch.distributed, else in a barrier.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time

import nvspan

TROUBLES = ("sleep", "spin", "stop", "kill", "lock", "loader", "slow")


def suffer(trouble: str) -> None:
    """Never returns, or not for long."""
    if trouble == "sleep":
        time.sleep(600)
    elif trouble == "spin":  # with the GIL held
        import re

        re.match(r"(a+)+$", "a" * 60 + "b")
    elif trouble == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif trouble == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif trouble == "lock":
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    elif trouble == "loader":
        with nvspan.annotate("next batch", domain="data"):
            multiprocessing.Queue().get()
    elif trouble == "slow":
        for _ in range(100000):
            with nvspan.annotate("tile"):
                time.sleep(0.002)


def work(rank: int, ranks: int, barrier, troubled: int, at: int, trouble: str, port: int) -> None:
    os.environ["RANK"] = str(rank)
    if port:
        import torch
        import torch.distributed as dist

        store = dist.TCPStore("127.0.0.1", port, ranks, rank == 0)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    for step in range(1000000):
        with nvspan.annotate("step"):
            with nvspan.annotate("forward", domain="model"):
                if step == at and rank == troubled:
                    print("ready", flush=True)
                    suffer(trouble)
            with nvspan.annotate("all_reduce", domain="torch.distributed"):
                if port:
                    dist.all_reduce(torch.ones(8))
                else:
                    barrier.wait()


def main() -> None:
    ranks, troubled, at = map(int, sys.argv[1:4])
    port = 0
    if len(sys.argv) > 5:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        import torch.distributed  # noqa: F401  (once for all of them)
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(ranks)
    workers = [
        context.Process(target=work, args=(r, ranks, barrier, troubled, at, sys.argv[4], port))
        for r in range(ranks)
    ]
    for worker in workers:
        worker.start()
    print(*[worker.pid for worker in workers], flush=True)
    for line in sys.stdin:
        if not line.strip():
            break
    for worker in workers:
        worker.kill()


if __name__ == "__main__":
    main()
