# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A bar on standard error for what takes long, where that is a terminal."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 0.7  # seconds before anything is shown
_INTERVAL = 0.1
_WIDTH = 30


class Progress:
    """Shows how far something is, once it has taken a while; nothing where nobody watches.

    >>> with Progress("exporting") as progress:
    ...     progress(0.5)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._active = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._shown = False

    def __call__(self, part: float) -> None:
        """Tells that `part` of the work, 0 to 1, is done."""
        if not self._active:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        self._shown = True
        full = round(min(max(part, 0.0), 1.0) * _WIDTH)
        bar = "#" * full + "." * (_WIDTH - full)
        sys.stderr.write(f"\rnvspan: {self._what} [{bar}] {part * 100:3.0f} %")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
