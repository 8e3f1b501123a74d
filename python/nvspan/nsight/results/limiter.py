# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names what limits a kernel, from ncu's metrics."""

from __future__ import annotations

from collections.abc import Mapping

TIME = ("gpu__time_duration.sum", "gpu__time_active.sum", "range__time_duration.sum")
_OF_ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
_OF_ACTIVE = ".avg.pct_of_peak_sustained_active"
_DRAM = (f"gpu__dram_throughput{_OF_ELAPSED}", f"dram__throughput{_OF_ELAPSED}")
SM = (f"sm__throughput{_OF_ELAPSED}",)
MEMORY = (f"gpu__compute_memory_throughput{_OF_ELAPSED}", *_DRAM)
OCCUPANCY = (f"sm__warps_active{_OF_ACTIVE}",)
_LEVELS = {
    "DRAM": _DRAM,
    "the L2 cache": (f"lts__throughput{_OF_ELAPSED}",),
    "the L1 cache": (f"l1tex__throughput{_OF_ACTIVE}",),
}
# Counted by the hardware, else by samples of the program counter: what a reason is between.
_COUNTED = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio")
_SAMPLED = ("smsp__pcsamp_warps_issue_stalled_", "")
_ISSUING = "selected"
STALLS = {
    "barrier": "barriers",
    "branch_resolving": "branches",
    "dispatch_stall": "the dispatcher",
    "drain": "stores at the kernel's end",
    "gmma": "tensor cores",
    "imc_miss": "constants",
    "lg_throttle": "the queue for global memory",
    "long_scoreboard": "global memory",
    "math_pipe_throttle": "busy arithmetic units",
    "membar": "memory fences",
    "mio_throttle": "the queue for shared memory",
    "misc": "other things",
    "no_instruction": "instructions to be fetched",
    "no_instructions": "instructions to be fetched",
    "not_selected": "other warps' turns",
    "short_scoreboard": "shared memory",
    "sleeping": "sleep",
    "tex_throttle": "the queue for textures",
    "wait": "fixed latencies",
    "warpgroup_arrive": "other warps of the group",
}
_LIMITS = {
    "launch__occupancy_limit_registers": "registers",
    "launch__occupancy_limit_shared_mem": "shared memory",
    "launch__occupancy_limit_warps": "warps in a block",
    "launch__occupancy_limit_blocks": "blocks in an SM",
}
_BUSY, _NEAR, _FULL = 60.0, 10.0, 80.0  # percent of the peak


def stalls(metrics: Mapping[str, float]) -> list[tuple[str, float]]:
    """What the warps wait for, the longest first: the reason, and its part of all waiting."""
    found = _waiting(metrics, *_COUNTED) or _waiting(metrics, *_SAMPLED)
    total = sum(found.values())
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return [(STALLS.get(reason, reason), value / total) for reason, value in ordered]


def _waiting(metrics: Mapping[str, float], prefix: str, suffix: str) -> dict[str, float]:
    found = {}
    for name, value in metrics.items():
        if name.startswith(prefix) and name.endswith(suffix) and value > 0:
            reason = name[len(prefix) : len(name) - len(suffix)]
            if reason != _ISSUING and not reason.endswith("_not_issued"):
                found[reason] = value
    return found


def limiter(metrics: Mapping[str, float]) -> str | None:
    """What limits it; None where ncu was not asked for what tells it."""
    sm, memory = first(metrics, SM), first(metrics, MEMORY)
    if sm is None or memory is None:
        return None
    if max(sm, memory) < _BUSY:
        return "latency: " + _why_idle(metrics)
    if abs(sm - memory) < _NEAR:
        limit = "near its limits" if min(sm, memory) > _FULL else "balanced"
        return f"compute and memory, {limit}"
    return f"memory: {_level(metrics, memory)}" if memory > sm else "compute"


def first(metrics: Mapping[str, float], names: tuple[str, ...]) -> float | None:
    """The first of these metrics that there is."""
    return next((metrics[name] for name in names if name in metrics), None)


def _level(metrics: Mapping[str, float], memory: float) -> str:
    """The part of the memory that is busiest."""
    found = {level: first(metrics, names) for level, names in _LEVELS.items()}
    busy = {level: value for level, value in found.items() if value is not None}
    level = max(busy, key=lambda name: busy[name], default="bandwidth")
    return level if busy and busy[level] > memory - _NEAR else "bandwidth"


def _why_idle(metrics: Mapping[str, float]) -> str:
    waves = metrics.get("launch__waves_per_multiprocessor")
    if waves is not None and waves < 1:
        return f"too few blocks, {waves:.2g} of what the GPU holds at once"
    occupancy = first(metrics, OCCUPANCY)
    possible = metrics.get("sm__maximum_warps_per_active_cycle_pct")
    if possible is not None and possible < 50:
        limits = {word: metrics[name] for name, word in _LIMITS.items() if name in metrics}
        because = f" for its {min(limits, key=lambda word: limits[word])}" if limits else ""
        return f"few warps fit an SM{because}"
    reasons = stalls(metrics)
    if reasons:
        return f"warps wait for {reasons[0][0]}"
    if occupancy is not None and occupancy < 30:
        return "few warps are active"
    return "neither compute nor memory is busy"
