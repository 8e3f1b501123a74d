# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A consumer that waits for a producer, which is slower than it."""

import queue
import threading

from measured import phase, work

items: queue.Queue = queue.Queue(2)
ROUNDS = 50


def produce() -> None:
    for _ in range(ROUNDS):
        with phase("decode"):
            item = work(70)
        items.put(item)


producer = threading.Thread(target=produce, name="producer")
producer.start()
for _ in range(ROUNDS):
    with phase("step"):
        with phase("queue.get"):
            items.get()
        with phase("train"):
            work(20)
producer.join()
