# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes that work on what a third prepares. They wait for it most of the time: it
compresses each task before it puts it into the queue."""

import multiprocessing
import random
import zlib

from nvspan import annotate


def prepare(size: int) -> bytes:
    return zlib.compress(random.randbytes(size), 9)


def work(tasks: multiprocessing.Queue, results: multiprocessing.Queue) -> None:
    while True:
        with annotate("wait for a task"):
            task = tasks.get()
        if task is None:
            return
        with annotate("work"):
            text = zlib.decompress(task)
            results.put(sum(text[::16]))


def main() -> None:
    tasks: multiprocessing.Queue = multiprocessing.Queue(4)
    results: multiprocessing.Queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(tasks, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for _ in range(60):
        with annotate("prepare"):
            task = prepare(1_200_000)
        with annotate("put"):
            tasks.put(task)
    for _ in workers:
        tasks.put(None)
    with annotate("collect"):
        total = sum(results.get() for _ in range(60))
    for worker in workers:
        worker.join()
    print(f"total {total:,}")


if __name__ == "__main__":
    main()
