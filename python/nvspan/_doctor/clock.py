# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The check of ``nvspan.doctor`` for the clock of recordings."""

from __future__ import annotations

import os
import sys
import tempfile

from nvspan import launch
from nvspan._doctor import Finding, tools
from nvspan.recording import read

_PROGRAM = "import sys, nvspan\nwith nvspan.record(sys.argv[1], lines='off'): pass\n"


def clock(timeout: float) -> Finding:
    """In which steps a recording's clock counts here."""
    try:
        launch.injection_library()
    except RuntimeError as error:
        return Finding("note", f"cannot run: {error}")
    with tempfile.TemporaryDirectory(prefix="nvspan-doctor-") as folder:
        path = os.path.join(folder, "clock.nvspan")
        environment = tools.environment_to_try()
        done = tools.captured(
            sys.executable, "-c", _PROGRAM, path, timeout=timeout, environment=environment
        )
        if not os.path.exists(path):
            said = done.stderr.strip().splitlines()
            return Finding("note", said[-1] if said else "nothing can be recorded here")
        (process,) = read(path).processes
    return described(process.clock, process.resolution)


def described(clock: str, resolution: float) -> Finding:
    """The finding for a clock with this resolution, in ns."""
    text = "CLOCK_MONOTONIC, as the CPU's counter is not constant"
    if clock == "tsc":
        text = f"the CPU's counter, {1e3 / resolution:,.0f} MHz"
    text += f": times in steps of {resolution:.3g} ns"
    return Finding("ok", text, clock=clock, resolution=resolution)
