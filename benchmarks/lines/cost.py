# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the sampler costs the program: ``cost.py TRIPLES``, in a process that is recorded.

Each triple times a loop without it, beside a thread that only wakes up as often, and with it, in
random order. The result is JSON: loop -> mode -> [seconds, CPU seconds] of each triple, and what
the sampler's own thread took.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import sys
import threading
import time

from loops import LOOPS, add
from sampler_thread import sampler_seconds

from nvspan import _lines

LIBRARY = os.environ["NVTX_INJECTION64_PATH"]
WAKER = ctypes.CDLL(os.environ["LINES_WAKER"])
PERIOD = int(os.environ.get("LINES_PERIOD", "0"))
SECONDS = 0.3


def timed(loop, times, mode):
    if mode == "waker":
        WAKER.begin(ctypes.c_longlong(PERIOD or 5_000_000))
    elif mode == "sampler":
        problem = _lines.start(LIBRARY, PERIOD)
        assert problem is None, problem
    begin = time.perf_counter(), time.thread_time()
    for _ in range(times):
        loop()
    took = time.perf_counter() - begin[0], time.thread_time() - begin[1]
    if mode == "waker":
        WAKER.end()
    elif mode == "sampler":
        _lines.stop()
    return took


def sampler_share(seconds):
    """Of a core, with four threads of depth 30 that compute, once the rate keeps to its budget."""
    stop = threading.Event()

    def compute(n):
        while n == 0 and not stop.is_set():
            add(1, 2)
        if n:
            compute(n - 1)

    threads = [threading.Thread(target=compute, args=(30,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    _lines.start(LIBRARY, PERIOD)
    time.sleep(4)
    begin, at = sampler_seconds(), time.perf_counter()
    time.sleep(seconds)
    share = (sampler_seconds() - begin) / (time.perf_counter() - at)
    _lines.stop()
    stop.set()
    for thread in threads:
        thread.join()
    return share


def main():
    result = {}
    for loop in LOOPS:
        loop()
        begin = time.thread_time()
        loop()
        times = max(1, round(SECONDS / (time.thread_time() - begin)))
        found = {"off": [], "waker": [], "sampler": []}
        for _ in range(int(sys.argv[1])):
            for mode in random.sample(list(found), 3):
                found[mode].append(timed(loop, times, mode))
        result[loop.__name__] = found
    print(json.dumps({"loops": result, "share": sampler_share(4)}))


main()
