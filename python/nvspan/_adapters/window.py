# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The steps that a profiler is to capture, as the environment says."""

from __future__ import annotations

import re

from nvspan._runtime.warnings import warn_once


def open_window(steps: str) -> None:
    """Has a profiler capture the steps of "100:103"; what cannot be read is warned about."""
    found = re.fullmatch(r"(\d+):(\d+)", steps.strip())
    if found is None or int(found[1]) >= int(found[2]):
        warn_once(
            "NVSPAN_STEPS", f"NVSPAN_STEPS: cannot read '{steps}'; it is ignored (as: 100:103)"
        )
        return
    from nvspan.torch import profile_window

    profile_window(int(found[1]), int(found[2]) - 1, verbose=False)
