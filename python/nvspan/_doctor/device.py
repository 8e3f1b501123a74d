# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of ``nvspan.doctor`` for device ranges, and for what a recording lacks."""

from __future__ import annotations

import os

from nvspan._device.losses import device_losses_of
from nvspan._doctor import Finding, process, tools
from nvspan._runtime.info import device_losses
from nvspan.recording import read
from nvspan.recording.losses import DAMAGE, damage_lines, ending_lines, gap_lines, left_out
from nvspan.recording.time_text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REASONS = {
    "no_cuda": "no usable CUDA",
    "capture_boundary": "open across the start or end of a capture",
    "capture_refused": "the stream of a capture refused them",
    "ambiguous": "replays of one graph ran at once",
    "overrun": "replays overwrote timestamps before they were read",
    "unpaired": "one of the two timestamps is missing",
    "full": "too many were in flight",
    "context_lost": "their context was reset or destroyed",
    "tool_gone": "the tool detached first",
    "driver_error": "the driver refused a call",
    "not_taken": 'the tool shows no device ranges, or none with backend="exact"',
    "at_exit": "still running when the process ended",
}


def device(timeout: float) -> list[Finding]:
    """The driver that device ranges use, the GPUs, the backend, and this process's losses."""
    answer = process.ask("device", [], timeout)
    if "failure" in answer:
        return [Finding("note", f"the check failed: {answer['failure']}", **answer)]
    gpus = tools.gpus()
    details: dict[str, Any] = {**answer, "gpus": gpus}
    found = [_driver(details), _backend(details)]
    lost = device_losses()
    if lost:
        text = f"in this process, {losses_text(lost)}"
        found.append(Finding("note", text, _advice(lost), lost=lost))
    return found


def _driver(details: dict[str, Any]) -> Finding:
    gpus = details["gpus"]
    if details["problem"]:
        text = f"device ranges do nothing here: {details['problem']}"
        chosen = os.environ.get("NVSPAN_LIBCUDA")
        if chosen:
            return Finding("problem", text, "correct NVSPAN_LIBCUDA, or unset it")
        return Finding("ok", text, **details)
    kinds = ", ".join(f"{gpus.count(gpu)} x {gpu}" for gpu in dict.fromkeys(gpus))
    text = f"device ranges use {details['library']}"
    text += f"; GPUs: {kinds}" if gpus else "; the kernel module lists no GPU"
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        text += f" (CUDA_VISIBLE_DEVICES={visible} selects among them)"
    return Finding("ok", text, **details)


def _backend(details: dict[str, Any]) -> Finding:
    backend, tool = details["backend"], details["tool"]
    if backend is None:
        text = "no tool is attached: device ranges do not use CUDA, except with timing=True"
    elif backend == "exact":
        text = f'backend "auto" is "exact": {tool} takes deferred events'
    else:
        text = f'backend "auto" is "callback": {tool} takes no deferred events'
    return Finding("ok", text, backend=backend, tool=tool)


def recording(path: str) -> Finding:
    """What a recording lacks: events of the CPU and device ranges."""
    try:
        read_file = read(path)
    except (OSError, ValueError) as error:
        text = str(error)
        if isinstance(error, OSError):
            text = f"cannot read {error.filename!r}: {error.strerror}"
        return Finding("problem", text, "pass the path of a recording")
    stats = read_file.stats()
    lost = device_losses_of(stats.marks)
    unclosed = sum(row.unclosed for row in stats.rows)
    damage = damage_lines(read_file)
    gone = sum(loss.count or 0 for loss in stats.losses if loss.reason in DAMAGE)
    missing = [line.strip() for line in damage + ending_lines(read_file) + gap_lines(read_file)]
    for word, text in left_out(stats.lost - gone, stats.overwritten, unclosed, stats.orphans):
        missing.append(f"{word}: {text}")
    if lost:
        missing.append(losses_text(lost))
    ranges = sum(row.calls for row in stats.rows)
    of_devices = sum(row.calls for row in stats.rows if row.kind == "device")
    details: dict[str, Any] = {
        "path": path,
        "ranges": ranges,
        "lost": stats.lost,
        "device_lost": lost,
        "device_ranges": of_devices,
    }
    whole = f"{path}: {counted(ranges, 'range')}"
    whole += f" ({counted(of_devices, 'device range')})" if of_devices else ""
    if not missing:
        return Finding("ok", f"{whole}; nothing was lost", **details)
    text = f"{whole}; {'; '.join(missing)}"
    if damage:
        advice = "copy the file again from where it was recorded, or record again"
        return Finding("problem", text, advice, **details)
    return Finding("note", text, _advice(lost), **details)


def losses_text(lost: dict[str, int]) -> str:
    """The losses in words."""
    parts = ", ".join(f"{count} ({_REASONS.get(why, why)})" for why, count in lost.items())
    return f"{counted(sum(lost.values()), 'device range')} not shown: {parts}"


def _advice(lost: dict[str, int]) -> str | None:
    return "see 'What can go wrong' in docs/device.md" if lost else None
