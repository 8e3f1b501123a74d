# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Warnings that are given once."""

from __future__ import annotations

import sys
import warnings

from nvspan._core import NvspanWarning

_warned: set[str] = set()


def plain_text(text: str) -> str:
    """`text` with escapes for what a terminal would obey rather than show."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def warn_once(topic: str, text: str) -> None:
    """Warn with ``text`` at the first call with ``topic``, at the caller's own line."""
    if topic in _warned:
        return
    _warned.add(topic)
    level = 2
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("nvspan."):
        level += 1
        if frame.f_back is None:
            break
        frame = frame.f_back
    warnings.warn(plain_text(text), NvspanWarning, stacklevel=level)
