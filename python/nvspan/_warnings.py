# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Warnings that are said once."""

from __future__ import annotations

import sys
import warnings

from nvspan._core import NvspanWarning

_said: set[str] = set()


def warn_once(topic: str, text: str) -> None:
    """Warn with ``text`` at the first call with ``topic``, at the caller's own line."""
    if topic in _said:
        return
    _said.add(topic)
    level = 2
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("nvspan."):
        level += 1
        if frame.f_back is None:
            break
        frame = frame.f_back
    warnings.warn(text, NvspanWarning, stacklevel=level)
