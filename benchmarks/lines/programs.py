# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that measure themselves where their time is: ``programs.py NAME SECONDS``.

Each prints the truth as JSON: function -> its share, of the time of all threads, or of the time on
a processor where the name is in ``OF_PROCESSOR``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import threading
import time

clock = time.perf_counter
OF_PROCESSOR = {"threads"}


def work_until(end):
    n = 0
    while clock() < end:
        for i in range(50):
            n += i
    return n


def busy(seconds):
    work_until(clock() + seconds)


def fixed(n):
    total = 0
    for i in range(n):
        total += i
    return total


class Timed:
    """Sums of the time of calls, by the name of the function."""

    def __init__(self):
        self.total: dict[str, float] = {}

    def call(self, name, function, *arguments):
        begin = clock()
        function(*arguments)
        self.total[name] = self.total.get(name, 0.0) + clock() - begin

    def shares(self):
        whole = sum(self.total.values())
        return {name: value / whole for name, value in self.total.items()}


TIMED = Timed()


def repeat(seconds, *functions):
    end = clock() + seconds
    while clock() < end:
        for function in functions:
            function()
    return TIMED.shares()


def short_one():
    TIMED.call("short_one", busy, 0.003)


def long_one():
    TIMED.call("long_one", busy, 0.007)


def two_functions(seconds):
    return repeat(seconds, short_one, long_one)


def down(depth=40):
    if depth:
        down(depth - 1)
    else:
        TIMED.call("down", busy, 0.002)


def top():
    TIMED.call("top", busy, 0.003)


def recursion(seconds):
    return repeat(seconds, down, top)


def comprehended():
    TIMED.call("comprehended", lambda: [x * x + 1 for x in range(60000)])


def squares(n):
    out = []
    for x in range(n):
        out.append(x * x + 1)  # noqa: PERF401  the loop is what is timed
    return out


def looped():
    TIMED.call("looped", squares, 40000)


def comprehension(seconds):
    return repeat(seconds, comprehended, looped)


def produced(n):
    return fixed(n)


def consumed(n):
    return fixed(n)


def produce(n):
    for _ in range(n):
        produced(200)
        yield 1


def least_time(function, n):
    best = 1e9
    for _ in range(30):
        begin = clock()
        for _ in range(100):
            function(n)
        best = min(best, clock() - begin)
    return best


def generator(seconds):
    end = clock() + seconds
    while clock() < end:
        for _ in produce(500):
            consumed(100)
    first, second = least_time(produced, 200), least_time(consumed, 100)
    return {"produced": first / (first + second), "consumed": second / (first + second)}


NUMBERS = [((i * 7919) % 100003) for i in range(60000)]
TEXT = json.dumps([{"a": i, "b": [1.5, "x" * 20]} for i in range(3000)])
PATTERN = re.compile(r"(a|aa)+b")
BLOCK = b"x" * 3_000_000


def sorted_numbers():
    TIMED.call("sorted_numbers", sorted, NUMBERS)


def parsed_json():
    TIMED.call("parsed_json", json.loads, TEXT)


def searched():
    TIMED.call("searched", PATTERN.search, "a" * 22)


def hashed():
    TIMED.call("hashed", hashlib.sha256, BLOCK)


def c_functions(seconds):
    return repeat(seconds, sorted_numbers, parsed_json, searched, hashed)


def slept():
    TIMED.call("slept", time.sleep, 0.006)


def computed():
    TIMED.call("computed", busy, 0.004)


def sleeping(seconds):
    return repeat(seconds, slept, computed)


def held(timed, lock):
    with lock:
        timed.call("held", time.sleep, 0.005)


def waited(timed, lock):
    timed.call("waited", lock.acquire)
    lock.release()


def rested(timed):
    timed.call("rested", time.sleep, 0.002)


def locks(seconds):
    lock = threading.Lock()
    timed = [Timed() for _ in range(4)]
    end = clock() + seconds

    def hold():
        while clock() < end:
            held(timed[0], lock)

    def wait(own):
        while clock() < end:
            waited(own, lock)
            rested(own)

    run_all([(hold,), *((wait, own) for own in timed[1:])])
    for own in timed:
        for name, value in own.total.items():
            TIMED.total[name] = TIMED.total.get(name, 0.0) + value
    return TIMED.shares()


def run_all(calls):
    threads = [threading.Thread(target=call[0], args=call[1:]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def first_task():
    TIMED.call("first_task", busy, 0.002)


def second_task():
    TIMED.call("second_task", busy, 0.001)


def coroutines(seconds):
    async def repeated(function, end):
        while clock() < end:
            function()
            await asyncio.sleep(0)

    async def main():
        end = clock() + seconds
        await asyncio.gather(repeated(first_task, end), repeated(second_task, end))

    asyncio.run(main())
    return TIMED.shares()


def on_core(name, seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        fixed(50)
    TIMED.total[name] = TIMED.total.get(name, 0.0) + time.thread_time() - begin
    time.sleep(0.01)


def thread_1():
    on_core("thread_1", 0.001)


def thread_2():
    on_core("thread_2", 0.002)


def thread_3():
    on_core("thread_3", 0.003)


def thread_4():
    on_core("thread_4", 0.004)


def threads(seconds):
    end = clock() + seconds

    def run(function):
        while clock() < end:
            function()

    run_all([(run, function) for function in (thread_1, thread_2, thread_3, thread_4)])
    return TIMED.shares()


def tiny(x):
    return x + 1


def through_calls(n):
    for i in range(n):
        tiny(i)


def without_calls(n):
    for i in range(n):
        i + 1
        i + 2
        i + 3
        i + 4


def short_calls(seconds):
    end = clock() + seconds
    while clock() < end:
        through_calls(3000)
        without_calls(3000)
    first, second = least_time(through_calls, 3000), least_time(without_calls, 3000)
    return {"through_calls": first / (first + second), "without_calls": second / (first + second)}


PROGRAMS = (
    two_functions,
    recursion,
    comprehension,
    generator,
    c_functions,
    sleeping,
    locks,
    coroutines,
    threads,
    short_calls,
)

if __name__ == "__main__":
    chosen = next(program for program in PROGRAMS if program.__name__ == sys.argv[1])
    print(json.dumps(chosen(float(sys.argv[2]))))
