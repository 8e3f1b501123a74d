# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The check of ``nvspan.doctor`` for lines: a program is sampled, and its recording read."""

from __future__ import annotations

import os
import sys
import tempfile

from nvspan import launch
from nvspan._doctor import Finding, tools
from nvspan._runtime import lines
from nvspan.recording import read

_PROGRAM = """\
import sys, time
import nvspan
with nvspan.record(sys.argv[1], lines="auto"):
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end:
        sum(range(1000))
"""
_SHARE = 200  # of the time, the part that the sampler takes


def sampling(timeout: float) -> Finding:
    """How often lines can be sampled here."""
    try:
        launch.injection_library()
    except RuntimeError as error:
        return Finding("note", f"cannot run: {error}")
    if lines.extension_file() is None:
        return Finding("note", "this build of nvspan has no sampler: only ranges are recorded")
    unproved = lines.unproved()
    if unproved is not None:
        return Finding("note", f"off by default with {unproved}", "nvspan record --lines auto")
    with tempfile.TemporaryDirectory(prefix="nvspan-doctor-") as folder:
        path = os.path.join(folder, "lines.nvspan")
        environment = tools.environment_to_try()
        done = tools.captured(
            sys.executable, "-c", _PROGRAM, path, timeout=timeout, environment=environment
        )
        facts = read(path).lines().facts if os.path.exists(path) else None
    if facts is None or not facts.samples:
        said = done.stderr.strip().splitlines()
        why = said[-1] if said else "a program that was sampled has no samples"
        return Finding("note", f"none can be sampled here: {why}", "nvspan record --lines off")
    look = facts.sampler / facts.looks
    rate = min(1e9 / (look * _SHARE), 1e9 / facts.period)
    text = (
        f"{1e9 / facts.period:,.0f} Hz at first, then {rate:,.0f} Hz with one thread: a sample "
        f"takes {look / 1000:.0f} us"
    )
    return Finding("ok", text, period=facts.period, look=look, samples=facts.samples)
