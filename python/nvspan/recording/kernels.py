# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels of a recording, and which ranges and modules launched them."""

from __future__ import annotations

from nvspan import _reader
from nvspan.recording.frame import Frame
from nvspan.recording.label import label, matches
from nvspan.recording.losses import need_events
from nvspan.recording.modules import forward_passes
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.projection import CALL_DOMAIN
from nvspan.recording.time_text import counted, duration, percent, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results.kernels import KernelTime
    from nvspan.recording.opened import OpenedFiles

GROUPS = ("name", "range", "module")


class Kernels(Frame):
    """What the GPU did: kernels, copies, sets and graphs. Made by `Recording.kernels`.

    A piece of work belongs to the innermost range that was open on the thread that launched it, at
    the time of the launch. Its module is that of the innermost range of a module around the launch:
    of `nvspan.torch.annotate_module`, with ``backward=True`` also in the backward pass, where
    autograd launches from threads of its own. With the ranges of torch's ``emit_nvtx`` the sequence
    number tells which module's forward pass the launch is the backward pass of.

    Attributes:
        rows: a `KernelTime` for each kernel, or for each range or module and kernel; the most time
            first.
        by: "name", "range" or "module".
        count: how many pieces of work there are.
        total: their durations, added up, in ns.
        busy: time in which at least one was under way, added up over all devices.
        span: time from the first start to the last end.
        outside: how many were launched in no range.
        unlaunched: how many have no known launch.
        devices: on how many devices they ran.
        has_work: whether the recording, with what is filtered out, has any.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self,
        recording: OpenedFiles,
        by: str = "name",
        *,
        within: Iterable[str] | None = None,
        domain: str = "torch",
    ) -> None:
        if by not in GROUPS:
            raise ValueError(f"by must be {', '.join(GROUPS[:-1])} or {GROUPS[-1]}, not {by!r}")
        need_events(recording, "kernels")
        forward = forward_passes(recording, domain) if by == "module" else []
        found = _reader.kernels(
            recording._reader.handle(),
            GROUPS.index(by),
            CALL_DOMAIN,
            list(WORK_DOMAINS),
            forward,
            [] if within is None else _sites_like(recording, list(within)),
        )
        self.by = by
        self.rows: list[KernelTime] = found.rows
        self.count, self.total = found.count, found.total
        self.busy, self.span = found.busy, found.span
        self.outside, self.unlaunched = found.outside, found.unlaunched
        self.devices, self.has_work = found.devices, found.has_work

    def __len__(self) -> int:
        return len(self.rows)

    def _records(self) -> list[dict[str, Any]]:
        return [row.as_dict() for row in self.rows]

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        grouped = [] if self.by == "name" else [self.by]
        rows = (
            (
                *(group_text(row, self.by) for _ in grouped),
                row.name or "-",
                f"{row.count:,}",
                *(time_cell(row[key]) for key in ("total", "mean", "min", "max")),
                percent(row.share),
            )
            for row in self.rows
        )
        headings = (*grouped, "kernel", "count", "total", "mean", "min", "max", "share")
        return headings, rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<nvspan Kernels: {counted(self.count, 'call')} in {duration(self.busy)}>"


def group_text(row: KernelTime, by: str) -> str:
    """What launched a row's kernels: a range, or a module in one of its passes; empty: nothing."""
    if by == "module":
        return "" if row.module is None else label(None, row.module, row.backward)
    return "" if row.range is None else label(row.domain, row.range, row.backward)


def _sites_like(recording: OpenedFiles, patterns: Sequence[str]) -> list[bool]:
    """Whether the ranges of each site are called like one of the patterns.

    Raises:
        ValueError: no range is.
    """
    reader = recording._reader
    domains, strings = reader.domains(), recording.strings
    names = {(domains[domain], strings[name] if name >= 0 else None): domains[domain]
             for domain, name in reader.pairs()}  # fmt: skip
    work = {CALL_DOMAIN, *WORK_DOMAINS}
    chosen = {pair for pair in names if pair[0] not in work and matches(patterns, *pair)}
    if not chosen:
        raise ValueError(f"no range is called {', '.join(map(repr, patterns))}")
    return [(of, name) in chosen for of, name, _ in recording.sites()]
