# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of any shape: ranges that cross, touch, are empty or open, on several threads."""

from __future__ import annotations

from answers.key.program import MS, Program, Range, Thread

NAMES = """
step|step 7|batch#3|epoch|request|GET /users/12|load|data.next|forward|backward|evaluate|save|
queue.get|lock.acquire|future.result|main.py:3(main)|util.py:9(work)|layer3|h.1|walk|compute||
item 0|item 1|item 2|item 3|item 4|item 5|item 6|item 7|item 8|%|naïve
""".replace("\n", "").split("|")


def anything(program: Program) -> None:
    random = program.random
    for number in range(int(random.integers(1, 5))):
        thread = program.thread(f"thread {number}", str(random.choice(["", "torch", "nvtx.py"])))
        thread.now += int(random.integers(0, 20 * MS))
        names = random.choice(NAMES, int(random.integers(1, 7))).tolist()
        for _ in range(int(random.integers(0, 60))):
            _add(thread, names, depth=int(random.integers(0, 4)))
        for row in random.permutation(len(thread.ranges))[: int(random.integers(0, 3))].tolist():
            kept = thread.ranges[row]
            thread.ranges[row] = Range(kept.name, kept.start, None, kept.nested)
        for _ in range(int(random.integers(0, 3))):
            thread.mark("here")


def _add(thread: Thread, names: list[str], depth: int) -> None:
    random = thread.random
    name = str(random.choice(names))
    ms = float(random.choice([0, 1e-4, 0.1, 1, 3])) * float(random.exponential())
    form = random.random()
    if form < 0.2:
        length = int(ms * MS * random.exponential(3))
        category = "backward" if random.random() < 0.1 else None
        other = int(random.integers(0, 9)) == 0
        thread.span(
            name, thread.now, thread.now + length, category=category, ends_in=0 if other else None
        )
        thread.now += int(ms * MS)
    elif form < 0.3:
        thread.until(thread.now, name)
    elif depth and form < 0.7:
        with thread.range(name):
            for _ in range(int(random.integers(0, 4))):
                _add(thread, names, depth - 1)
    else:
        thread.leaf(name, ms)
    if random.random() < 0.3:
        thread.spend(ms)
