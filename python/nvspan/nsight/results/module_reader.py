# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads reports of Nsight Compute through its Python module ``ncu_report``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nvspan.nsight.results.profiled import (
    GRAPH,
    KERNEL,
    PUSH_POP,
    RANGE,
    START_END,
    OpenRange,
    Profiled,
    domain_of,
)


def module() -> Any | None:
    """``ncu_report``; None where it is not installed, or cannot be loaded here."""
    try:
        import ncu_report
    except (ImportError, OSError):
        return None
    return ncu_report


def read(path: str, ncu_report: Any) -> list[Profiled]:
    """The results in a report.

    Raises:
        ValueError: the module cannot read the file.
    """
    try:
        context = ncu_report.load_report(path)
        count = context.num_ranges()
        if not count:  # so is a file that is no report, or a part of one
            raise ValueError("it is damaged, or no report of Nsight Compute")
        groups = [context.range_by_idx(i) for i in range(count)]
        actions = [group.action_by_idx(i) for group in groups for i in range(group.num_actions())]
        if any(action.name() is None for action in actions):  # so is the one at which it was cut
            raise ValueError("it is cut off or damaged")
    except Exception as error:  # the module raises whatever its C++ does
        raise ValueError(f"ncu_report cannot read {path!r}: {error}") from None
    return [_profiled(path, number, each, ncu_report) for number, each in enumerate(actions)]


def _profiled(path: str, number: int, action: Any, ncu_report: Any) -> Profiled:
    metrics: dict[str, float | str] = {}
    units: dict[str, str] = {}
    for name in action.metric_names():
        metric = action.metric_by_name(name)
        if metric is None or not metric.has_value():
            continue
        value = metric.value()
        if isinstance(value, (int, float, str)) and value != "":
            metrics[name] = value
            if unit := metric.unit():
                units[name] = unit
    kinds = {
        ncu_report.IAction.WorkloadType_RANGE: RANGE,
        ncu_report.IAction.WorkloadType_GRAPH: GRAPH,
    }
    kind = kinds.get(action.workload_type(), KERNEL)
    # What a range has of a launch is that of its last kernel.
    launch = {} if kind == RANGE else metrics
    return Profiled(
        report=path, number=number, name=action.name(), kind=kind, metrics=metrics, units=units,
        device=_whole(metrics, "device__attribute_device_index"),
        stream=_whole(launch, "launch__stream_id"), grid=_size(launch, "grid"),
        block=_size(launch, "block"), ranges=tuple(_ranges(action)),
    )  # fmt: skip


def _whole(metrics: dict[str, float | str], name: str) -> int | None:
    value = metrics.get(name)
    return int(value) if isinstance(value, (int, float)) else None


def _size(metrics: dict[str, float | str], what: str) -> tuple[int, ...]:
    found = [_whole(metrics, f"launch__{what}_dim_{axis}") for axis in "xyz"]
    return tuple(number for number in found if number is not None)


def _ranges(action: Any) -> Iterator[OpenRange]:
    state = action.nvtx_state()
    if state is None:
        return
    for number in state.domains():
        domain = state.domain_by_id(number)
        name = domain.name()
        of = domain_of(name)
        for depth, each in enumerate(domain.push_pop_ranges()):
            yield OpenRange(of, each, PUSH_POP, depth)
        for each in domain.start_end_ranges():
            yield OpenRange(of, each, START_END)
