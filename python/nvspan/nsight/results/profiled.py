# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Results of Nsight Compute: kernels, ranges and graphs, with the NVTX ranges around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PUSH_POP, START_END = "push_pop", "start_end"
KERNEL, RANGE, GRAPH = "kernel", "range", "graph"


def domain_of(name: str) -> str | None:
    """A domain from its name in ncu's results: None is the default domain."""
    return None if name in ("", "<default domain>") else name


@dataclass(frozen=True)
class OpenRange:
    """An NVTX range that was open around a result.

    Attributes:
        domain: None is the default domain.
        name: of the range.
        kind: "push_pop" or "start_end".
        depth: how many push/pop ranges of its domain are around it; 0 of a start/end range.
    """

    domain: str | None
    name: str
    kind: str
    depth: int = 0


@dataclass(frozen=True)
class Profiled:
    """One result of ncu.

    Attributes:
        report: the file that it is from.
        number: its place in that file, from 0.
        name: of the kernel; of a range that was replayed as one, what ncu calls it.
        kind: "kernel", "range" or "graph".
        process: the process id; None where ncu does not tell.
        device, stream: their numbers as ncu has them; None where it does not tell.
        grid, block: three numbers each, or none.
        ranges: the NVTX ranges around it, those of a domain from the outermost to the innermost.
        metrics: by ncu's names, in ncu's base units. What is no number is text.
        units: of the metrics, where they have one.
    """

    report: str
    number: int
    name: str
    kind: str
    process: int | None = None
    device: int | None = None
    stream: int | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    ranges: tuple[OpenRange, ...] = ()
    metrics: Mapping[str, float | str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def number_of(self, *names: str) -> float | None:
        """The first of these metrics that it has, as a number."""
        for name in names:
            value = self.metrics.get(name)
            if isinstance(value, (int, float)):
                return float(value)
        return None
