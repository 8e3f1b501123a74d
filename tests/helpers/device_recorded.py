# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs with device ranges, for the tests of reports."""

from __future__ import annotations

from helpers import reported
from helpers.device import PREAMBLE, environment

PROGRAM = """
import sys, time
backend = sys.argv[1]
s, t = cuda.stream(), cuda.stream()
nvspan.name_stream(s, "math")
nvspan.name_device(0, "left")
for i in range(3):
    with nvspan.annotate("step", payload=i):
        with nvspan.annotate("forward", domain="model"):
            with nvspan.device_range("forward", domain="model", stream=s, payload=i,
                                     backend=backend):
                cuda.launch(s, 300_000)
                with nvspan.device_range("layer", stream=s, backend=backend):
                    cuda.launch(s, 300_000)
        with nvspan.device_range("copy", stream=t, payload=0.5, backend=backend, color="green"):
            cuda.launch(t, 300_000)
with nvspan.device_range("alone", stream=t, backend=backend, category="c"):
    cuda.launch(t, 300_000)
cuda.synchronize()
assert nvspan.device_flush(30)
time.sleep(0.02)  # graphs have another clock: what they ran shall not seem to overlap
with cuda.capture(s) as graph:
    with nvspan.device_range("in graph", stream=s, backend=backend):
        cuda.launch(s, 300_000)
executable = graph.instantiate()
with nvspan.annotate("replay"):
    executable.launch(s, 2)
cuda.synchronize()
assert nvspan.device_flush(30)
"""
MATH, OTHER = "math", None  # names of the two streams
# Of each device range: domain, name, payload, stream, and the CPU's range that it was called in.
RANGES = sorted(
    [
        *(("model", "forward", i, MATH, "forward") for i in range(3)),
        *((None, "layer", None, MATH, "forward") for _ in range(3)),
        *((None, "copy", 0.5, OTHER, "step") for _ in range(3)),
        (None, "alone", None, OTHER, None),
        *((None, "in graph", None, MATH, None) for _ in range(2)),
    ],
    key=repr,
)


def recording_of(code: str, *arguments: str, mode: str = "full") -> str:
    """The path of a recording of a program with `cuda` in it, made once for all tests."""
    return reported.recording_of(
        PREAMBLE + code, *arguments, mode=mode, env=tuple(environment().items())
    )
