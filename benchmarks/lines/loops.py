# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of fixed work: ``loops.py TIMES`` prints what each took, without its first run, as JSON."""

from __future__ import annotations

import json
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None


def add(a, b):
    return a + b


class Point:
    def __init__(self):
        self.x = self.y = 1

    def norm(self):
        return self.x * self.x + self.y * self.y


def calls():
    for i in range(400_000):
        add(i, 1)


def attributes():
    point = Point()
    for _ in range(200_000):
        point.x = point.y + 1
        point.norm()


def generators():
    for _ in range(20):
        sum(x * x for x in range(40_000))


def deep(n):
    return calls() if n == 0 else deep(n - 1)


def deep_calls():
    deep(30)


def strings():
    for i in range(60_000):
        f"{i} x".split()


def arrays():
    values = numpy.ones((64, 64))
    for _ in range(3000):
        (values @ values).sum()
        values + 1


LOOPS = [calls, attributes, generators, deep_calls, strings, *([arrays] if numpy else [])]


def main():
    found = {}
    for loop in LOOPS:
        loop()
        begin = time.perf_counter()
        for _ in range(int(sys.argv[1])):
            loop()
        found[loop.__name__] = time.perf_counter() - begin
    print(json.dumps(found))


if __name__ == "__main__":
    main()
