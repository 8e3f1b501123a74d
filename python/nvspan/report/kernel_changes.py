# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel that takes longer in a range that became slower, where both sides have kernels.

The unit is the run: of each run, the time of a kernel in a call of the range is the time of those
that were launched in the range, at any depth, divided by its calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nvspan._results.kernels import KernelTime
from nvspan.recording import Recording
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.parallel import each
from nvspan.recording.time_text import duration
from nvspan.report.gains import MIN_RUNS, Time, clear_gain, gains_of
from nvspan.report.text import printable, short_name

_MIN_SHARE = 0.01  # of a range: what is less is not looked at
_MOST_ROWS = 8  # that are looked at, the slowest; each is a pass over every run
_KINDS = ("push_pop", "start_end", "step_cpu")  # of rows


@dataclass(frozen=True)
class KernelChange:
    """A kernel that takes longer in each call of a range.

    Attributes:
        name: the kernel's.
        added: ns in a call of the range, the mean of the later runs minus that of the earlier ones.
        margin: the interval is `added` plus and minus this.
    """

    name: str
    added: float
    margin: float

    def cell(self) -> str:
        """``gemm  +5.41 ms``."""
        return f"{short_name(printable(self.name))}  +{duration(self.added)}"


def kernel_columns(row: Mapping[str, Any]) -> dict[str, object]:
    """The `KernelChange` of a row as columns."""
    change: KernelChange | None = row["kernel"]
    if change is None:
        return {"kernel": None, "kernel_added": None}
    return {"kernel": change.name, "kernel_added": change.added}


def add_kernels(
    tables: Sequence[Sequence[tuple[dict[str, Any], str | None]]],
    before: Sequence[Recording],
    after: Sequence[Recording],
    sure: float,
) -> None:
    """Sets `kernel` of rows that are "slower" to a `KernelChange` where one is sure.

    It has a quarter or more of what the range gained, with limits that hold for all rows and
    kernels at once with the probability `sure`. None is where a side has fewer than two runs or a
    run no kernels, where other kernels lost what one gained, and of ranges around one that has the
    same kernel.

    Args:
        tables: rows of a comparison, and what the range of each is called; None: it is no range.
        before, after: the runs of both sides.
        sure: a probability.
    """
    if min(len(before), len(after)) < MIN_RUNS or not all(map(_has_kernels, [*before, *after])):
        return
    for rows in tables:
        slower = [
            (row, name)
            for row, name in rows
            if row["verdict"] == "slower" and name is not None and row["kind"] in _KINDS
            and not row["backward"]
        ]  # fmt: skip
        slower.sort(key=lambda pair: pair[0]["after"]["mean"])
        told: set[str] = set()
        for row, name in slower[:_MOST_ROWS]:
            change = _change(row, str(name), (before, after), 1 - (1 - sure) / len(slower))
            if change is not None and change.name not in told:
                told.add(change.name)
                row["kernel"] = change


def _has_kernels(run: Recording) -> bool:
    return not {*WORK_DOMAINS}.isdisjoint(run._reader.domains())


def _change(
    row: dict[str, Any], name: str, sides: tuple[Sequence[Recording], ...], sure: float
) -> KernelChange | None:
    times = []
    for side, runs in zip((row["before"], row["after"]), sides, strict=True):
        if len(side["all_calls"]) != len(runs):
            return None
        found = each(lambda run: _kernels(run, row["domain"], name), runs)
        times.append([
            {kernel.name or "-": Time(kernel.total / calls, 0.0, kernel) for kernel in of_run}
            for of_run, calls in zip(found, side["all_calls"], strict=True)
        ])  # fmt: skip
    gains = list(gains_of(times, sure, _MIN_SHARE * row["after"]["mean"]))
    best = clear_gain(gains, row["after"]["mean"] - row["before"]["mean"])
    return None if best is None else KernelChange(best.key, best.added, best.margin)


def _kernels(run: Recording, domain: str | None, name: str) -> list[KernelTime]:
    """The kernels of the range. A phase may have another domain than the step."""
    escaped = re.sub(r"([*?[])", r"[\1]", name)
    for pattern in (f"{domain or 'NVTX'}:{escaped}", escaped):
        try:
            return run.kernels(within=[pattern]).rows
        except ValueError:  # no range is called so
            continue
    return []
