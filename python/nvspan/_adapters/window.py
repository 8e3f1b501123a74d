# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The steps that a profiler is to capture, as the environment says."""

from __future__ import annotations

from nvspan._runtime.warnings import warn_once


def open_window(steps: str) -> None:
    """Has a profiler capture the steps of "100:103"; a text without that form causes a warning."""
    from nvspan.nsight.lines.counting import window_of

    try:
        first, last = window_of("NVSPAN_STEPS", steps)
    except ValueError:
        warn_once(
            "NVSPAN_STEPS", f"NVSPAN_STEPS: cannot read '{steps}'; it is ignored (as: 100:103)"
        )
        return
    from nvspan.torch import profile_window

    profile_window(first, last - 1, verbose=False)
