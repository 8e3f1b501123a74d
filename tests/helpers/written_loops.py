# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of loops whose every duration is given: what compares them has a known answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from nvspan import writer

MS = 1_000_000
GAP = 5_000  # ns between steps, and of a step in none of its phases


def write_loop(
    path: Path,
    phases: Mapping[str, float],
    *,
    steps: int = 20,
    begin: int = 0,
    jitter: float = 0.0,
    rank: int | None = None,
    seed: int = 0,
) -> Path:
    """A recording of `steps` steps of `phases`, in ns, each with a deviation of so large a part."""
    random = Random(f"{seed} {path.name}")
    with (
        writer.Session("loop", output=path, rank=rank) as session,
        session.create_stream("main", domain="torch") as stream,
    ):
        now = begin
        for _ in range(steps):
            stream.write_push(now, message="step")
            for name, duration in phases.items():
                lasts = round(duration * random.gauss(1, jitter))
                stream.write_pushpop(now, now + lasts, message=name)
                now += lasts
            stream.write_pop(now + GAP)
            now += 2 * GAP
    return path
