# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads of every kind, for a report of Nsight Systems with their bytes."""

import enum
from typing import NamedTuple

import numpy as np

import nvspan


class Phase(enum.IntEnum):
    warm = 1
    hot = 2


class Shape(NamedTuple):
    rows: int
    columns: int


row = np.dtype(
    [("step", "i4"), ("loss", "f8"), ("parts", "f4", (3,)), ("at", [("x", "i2"), ("y", "i2")])]
)
train = nvspan.get_domain("train")

for step in range(3):
    fields = {
        "step": step,
        "loss": 0.25 * step,
        "ok": step == 1,
        "name": f"größe {step}",
        "sizes": [1, 2, step],
    }
    with nvspan.annotate("fields", domain=train, payload=fields, color="green"):
        nvspan.mark(
            "nested",
            domain="io",
            payload={"outer": {"a": step, "b": 0.5}, "raw": b"\x01\x02", "phase": Phase.hot},
            category="c",
        )
    with nvspan.annotate("tuple", payload=Shape(step, 8)):
        nvspan.mark("list", payload=[1, -2, step])
        nvspan.mark("reals", payload=[0.5, float(step)])
        nvspan.mark("grid", payload=[[1, 2], [3, step]])
        nvspan.mark("words", payload=["a", "longer"])
    with (
        nvspan.annotate("text", payload=f"step {step}"),
        nvspan.annotate("bytes", payload=bytes([step, 255])),
    ):
        nvspan.mark("array", payload=np.arange(4, dtype="u2") + step)
    with nvspan.annotate(
        "row", domain=train, payload=np.array([(step, 0.5, (1, 2, 3), (4, -5))], row)[0]
    ):
        pass
    with nvspan.annotate("plain", payload=step):
        pass
handle = nvspan.start_range("start/end", domain=train, payload={"bytes": 2**40})
nvspan.end_range(handle)
