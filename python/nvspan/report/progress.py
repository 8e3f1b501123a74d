# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Progress bar for slow tasks, on standard error where that is a terminal."""

from __future__ import annotations

import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 0.7  # seconds before anything is shown
_INTERVAL = 0.2
_WIDTH = 30


class Progress:
    """Shows the progress of a slow task; nothing where standard error is no terminal.

    What does not tell how far it is shows its seconds instead. A thread draws, so that it is seen
    also while the work is all in the reader.

    >>> with Progress("exporting") as progress:
    ...     progress(0.5)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._active = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
        self._part: float | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, part: float) -> None:
        """Tells that `part` of the work, 0 to 1, is done."""
        self._part = min(max(part, 0.0), 1.0)

    def _draw(self) -> None:
        begin = time.monotonic()
        wait = _PATIENCE
        while not self._done.wait(wait):
            wait = _INTERVAL
            if self._part is None:
                shown = f"{time.monotonic() - begin:.0f} s"
            else:
                full = round(self._part * _WIDTH)
                shown = f"[{'#' * full}{'.' * (_WIDTH - full)}] {self._part:4.0%}"
            sys.stderr.write(f"\r\x1b[Knvspan: {self._what} {shown}")
            sys.stderr.flush()
        if wait == _INTERVAL:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        if self._active:
            self._thread = threading.Thread(target=self._draw, name="nvspan progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
