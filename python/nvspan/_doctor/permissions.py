# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The check of ``nvspan.doctor`` for what Nsight needs of the system, and nvspan does not."""

from __future__ import annotations

import os
import re

from nvspan._doctor import Finding, tools

_SYS_ADMIN, _PERFMON = 21, 38  # bits of CapEff, see capabilities(7)
_RESTRICTED = "NVreg_RestrictProfilingToAdminUsers"
# GPUs that record their own events, by the name of their model: those of Blackwell.
_OWN_EVENTS = re.compile(r"\bG?B[123]00\b|\bBlackwell\b|\bRTX 50[5-9]0\b")


def permissions(root: str = "/") -> list[Finding]:
    """What the kernel and the driver below `root` let this process measure."""
    able = _capabilities(root)
    found = [
        finding for finding in (_counters(root, able), _own_events(root)) if finding is not None
    ]
    return [_cpus(root, able), *found]


def _capabilities(root: str) -> int:
    held = tools.first(r"^CapEff:\s*([0-9a-f]+)$", _text(root, "proc/self/status"))
    return int(held or "0", 16)


def _text(root: str, path: str) -> str:
    return tools.text_of(os.path.join(root, path))


def _cpus(root: str, able: int) -> Finding:
    level = tools.first(r"^(-?\d+)$", _text(root, "proc/sys/kernel/perf_event_paranoid"))
    if level is None:
        return Finding("ok", "the kernel has no perf events; nvspan needs none", level=None)
    text = f"kernel.perf_event_paranoid is {level}: "
    if int(level) <= 2 or able & (1 << _SYS_ADMIN | 1 << _PERFMON):
        return Finding("ok", text + "nsys may sample CPUs", level=int(level))
    text += "nsys cannot sample CPUs; nvspan's lines need no permission"
    return Finding("note", text, level=int(level))


def _counters(root: str, able: int) -> Finding | None:
    """Whether ncu may read a GPU's counters; None where there is no driver."""
    held = tools.first(r"^RmProfilingAdminOnly:\s*(\d)", _text(root, "proc/driver/nvidia/params"))
    if held is None:
        return None
    if held == "0":
        return Finding("ok", f"{_RESTRICTED}=0: every user may read GPU counters", restricted=False)
    text = f"{_RESTRICTED}=1: GPU counters are for administrators"
    if able >> _SYS_ADMIN & 1:
        return Finding("ok", f"{text}, and this process is one", restricted=True)
    advice = f"for ncu: run it as root, or load the driver with {_RESTRICTED}=0"
    return Finding("note", f"{text}; ncu cannot profile", advice, restricted=True)


def _own_events(root: str) -> Finding | None:
    """Where nsys may take kernels from the GPU's own events; None on other GPUs."""
    having = [gpu for gpu in dict.fromkeys(tools.gpus(root)) if _OWN_EVENTS.search(gpu)]
    if not having:
        return None
    text = (
        f"{', '.join(having)}: 'nsys -t cuda' takes kernels from the GPU's own events (HES), which "
        "needs permission and works neither with MIG nor with MPS"
    )
    advice = "where nsys shows no kernels or crashes: nsys profile -t cuda-sw,nvtx"
    return Finding("note", text, advice, gpus=having)
