# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where the times of a recording begin."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording.opened import OpenedFiles


def zero(recording: OpenedFiles) -> int:
    """The moment that times are shown from: when the first process began to record."""
    return min((process.start for process in recording.processes), default=0)
