# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program that does all that is hard for a sampler, for so many seconds: ``tortured.py SECONDS``.

Whatever it makes has a name from which the truth follows: code of the file ``<rep-N>`` is called
``outer_N`` or ``inner_N`` and begins in line N % 50 + 1. It prints how much it did, as JSON.
"""

from __future__ import annotations

import _thread
import collections
import gc
import json
import os
import subprocess
import sys
import threading
import time
import types

try:
    import greenlet
except ImportError:
    greenlet = None

END = time.monotonic() + float(sys.argv[1])
COUNT: collections.Counter[str] = collections.Counter()


def goes_on() -> bool:
    return time.monotonic() < END


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def inner_template(n):
    total = 0
    for i in range(n):
        total += i
    return total


def outer_template(function, n):
    return function(n)


def make(code, kind, n):
    name = f"{kind}_{n:07d}"
    more = {"co_qualname": name} if sys.version_info >= (3, 11) else {}
    changed = code.replace(
        co_name=name, co_filename=f"<rep-{n:07d}>", co_firstlineno=n % 50 + 1, **more
    )
    return types.FunctionType(changed, {"range": range})


def replaced():
    """Code objects of one shape, made and freed all the time: their addresses come back."""
    n = 0
    while goes_on():
        for _ in range(200):
            n += 1
            inner = make(inner_template.__code__, "inner", n)
            make(outer_template.__code__, "outer", n)(inner, 60)
        COUNT["replaced"] += 400


def executed():
    n = 0
    while goes_on():
        n += 1
        source = (
            "\n" * (n % 50) + f"def fn_{n:07d}(x):\n  def in_{n:07d}(y):\n    t = 0\n"
            f"    for i in range(y): t += i\n    return t\n  return in_{n:07d}(x)\n"
            f"r = fn_{n:07d}(400)\n"
        )
        exec(compile(source, f"<gen-{n:07d}>", "exec"), {})
        eval(compile("sum(i for i in range(300))", f"<evl-{n:07d}>", "eval"), {})
        COUNT["executed"] += 2


def short():
    spin(50)


def churn():
    while goes_on():
        for _ in range(20):
            try:
                _thread.start_new_thread(short, ())
                COUNT["threads"] += 1
            except RuntimeError:
                time.sleep(0.001)
        time.sleep(0.0005)


def recurse(n):
    return recurse(n + 1)


def recursing():
    while goes_on():
        try:
            recurse(0)
        except RecursionError:
            COUNT["recursions"] += 1


def numbers(n):
    for i in range(n):
        yield spin(i & 7)


def chained(n):
    yield from numbers(n)


def generators():
    while goes_on():
        sum(numbers(200))
        sum(x for x in chained(200))
        dropped = numbers(10)
        next(dropped)
        del dropped
        COUNT["generators"] += 3


def raiser(n):
    if n:
        raiser(n - 1)
    raise ValueError(n)


def exceptions():
    while goes_on():
        try:
            raiser(20)
        except ValueError:
            pass
        gc.collect(0)
        COUNT["exceptions"] += 1


def leaf_a():
    return sum(range(50))


def leaf_b():
    return sum(range(50))


def hot_a():
    return leaf_a()


def hot_b():
    return leaf_b()


def flutter():
    while goes_on():
        for _ in range(1000):
            hot_a()
            hot_b()


def green(n):
    if n:
        return green(n - 1)
    for _ in range(20):
        spin(20)
        greenlet.getcurrent().parent.switch()
    return None


def greenlets():
    while goes_on():
        all_of_them = [greenlet.greenlet(green) for _ in range(8)]
        for turn in range(21):
            for i, one in enumerate(all_of_them):
                if not one.dead:
                    one.switch(*([i * 5] if turn == 0 else []))
        COUNT["greenlets"] += 8


def forking():
    """A forked child samples too, into a file of its own."""
    while goes_on():
        pid = os.fork()
        if pid == 0:
            spin(20000)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        COUNT["forks"] += 1
        if status:
            COUNT[f"BAD fork {status:x}"] += 1
        time.sleep(0.05)


# Daemon threads run on while the process ends. Where that takes them longer than 5 ms, CPython 3.10
# itself crashes, sampled or not.
CHILD = """import os, sys, threading, time
ends = []
def spin():
    while not ends: sum(i for i in range(99))
threads = [threading.Thread(target=spin, daemon=sys.version_info >= (3, 11)) for _ in range(3)]
for thread in threads: thread.start()
time.sleep(0.05)
if sys.version_info < (3, 11): ends.append(1)
"""
ENDS = (
    "pass",
    "os.execv(sys.executable, [sys.executable, '-S', '-c', 'pass'])",
    "sys.exit(0)",
    "os._exit(0)",
)


def exiting():
    n = 0
    while goes_on():
        n += 1
        command = [sys.executable, "-c", CHILD + ENDS[n % len(ENDS)]]
        done = subprocess.run(command, capture_output=True)
        COUNT["exits"] += 1
        if done.returncode or done.stderr:
            COUNT[f"BAD exit {done.returncode} {done.stderr[-300:].decode()}"] += 1


def main():
    jobs = [replaced, executed, churn, recursing, generators, exceptions, flutter, forking, exiting]
    if greenlet is not None:
        jobs.append(greenlets)
    threads = [threading.Thread(target=job, name=job.__name__) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(COUNT))


main()
