# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are told apart by their grids, in ranges; the argument says which."""

import sys
import threading

import nvspan
from helpers.gpu import Cuda

cuda = Cuda()


def kernel(grid, stream=0):
    cuda.launch(stream, grid=grid)


def sync():
    for number in range(3):
        with nvspan.annotate("step", domain="app", payload=number, color="red"):
            with nvspan.annotate("forward", domain="torch"):
                for layer in range(3):
                    with nvspan.annotate(f"layers.{layer}", domain="torch"):
                        kernel(10 * layer + 1)
                        kernel(10 * layer + 2)
                    cuda.synchronize()
            with nvspan.annotate("layers[0], a/b", category="cat"):
                kernel(50)
            load = nvspan.start_range("load", domain="io")
            kernel(60)
            nvspan.end_range(load)
        cuda.synchronize()


def span():
    for _ in range(2):
        load = nvspan.start_range("load", domain="io")
        kernel(60)
        cuda.synchronize()
        nvspan.end_range(load)


def nested():
    with nvspan.annotate("outer", domain="app"):
        kernel(2)
        cuda.synchronize()
        with nvspan.annotate("inner", domain="app"):
            kernel(3)
            cuda.synchronize()


def threads():
    def other():
        cuda.call("cuCtxSetCurrent", cuda.context)
        with nvspan.annotate("thread", domain="app"):
            kernel(9)

    with nvspan.annotate("main", domain="app"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        kernel(11)


def graph():
    stream = cuda.stream()
    with nvspan.annotate("captured", domain="app"), cuda.capture(stream) as captured:
        kernel(5, stream)
        kernel(6, stream)
    executable = captured.instantiate()
    with nvspan.annotate("launched", domain="app"):
        executable.launch(stream)


kernel(1)
cuda.synchronize()
globals()[sys.argv[1]]()
cuda.synchronize()
