# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Python's stack of a thread, and the line that it is at."""

from __future__ import annotations

from nvspan.recording.lines import outer_function, with_c_function
from nvspan.recording.source import is_library
from nvspan.recording.time_text import age
from nvspan.report.text import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nvspan._results.stacks import LiveFrame, LiveStack
    from nvspan.recording.source import Sources

# A sampler that runs writes once a second.
_MAX_AGE = 2_000_000_000  # ns, of a stack that is the thread's now
_MAX_TEXT = 60  # characters of a source line in a table


def is_hidden(file: str) -> bool:
    """Whether a thread in this file counts as being at the line that called it.

    Those of the standard library, of nvspan and of torch.distributed, which waits in the program's
    stead.
    """
    return is_library(file) or "/torch/distributed/" in file


class CodeLine:
    """A frame of a stack.

    Attributes:
        file: the source file; None: unknown.
        line: the number of the line; None: unknown.
        function: the function's qualified name, without those that it is defined in.
        c_function: the C function that it called and is in; None: none, or unknown.
    """

    __slots__ = ("_frame", "_short", "_sources", "c_function", "file", "function", "line")

    def __init__(self, frame: LiveFrame, short: str, sources: Sources) -> None:
        """`short`: the file as it is printed."""
        self.file = frame.file
        self.line = frame.line
        self.c_function = frame.c_function
        outer = outer_function(frame.function) or "?"
        self.function = outer.rpartition(".<locals>.")[2]
        self._frame, self._short, self._sources = frame, short, sources

    @property
    def place(self) -> str:
        """``dataset.py:88``."""
        return self._short if self.line is None else f"{self._short}:{self.line}"

    @property
    def call(self) -> str:
        """``read()``, ``<module>``."""
        return self.function if self.function.endswith(">") else f"{self.function}()"

    @property
    def text(self) -> str:
        """The expression of the source; empty where the file is not there, or has changed."""
        return self._sources.expression(self._frame)

    @property
    def cell(self) -> str:
        """The place and the text, as a table has them."""
        return "  ".join(filter(None, [self.place, self.short_text]))

    @property
    def short_text(self) -> str:
        """The text, and the C function that the line is in where the text does not name it."""
        return with_c_function(shortened(self.text, _MAX_TEXT), self.c_function)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"file": self.file, "line": self.line, "function": self.function, "text": self.text,
                "c_function": self.c_function}  # fmt: skip


class Stack:
    """The Python stack of a thread at its newest sample.

    Attributes:
        frames: each `CodeLine`, the innermost first.
        line: that of the innermost frame which is neither the standard library's, nor
            torch.distributed's, nor nvspan's; where all are, of the innermost.
        state: "running", "waiting" or "ready", as the sampler saw it.
        held: for how many ns every sample was at this line, up to the last one.
        at_least: it may have been there before: older samples are not in the file or not read.
        seen: how many ns ago the sampler wrote last; None: not known.
        is_current: whether the sampler runs, so that the thread is still there.
    """

    def __init__(self, found: LiveStack, frames: Sequence[CodeLine], seen: int | None) -> None:
        self.frames = list(frames)
        self.line = self.frames[found.shown]
        self.state = found.state
        self.held = found.held
        self.at_least = found.at_least
        self.seen = seen
        self.is_current = seen is not None and seen <= _MAX_AGE

    @property
    def time(self) -> int:
        """For how many ns the thread has been at the line: up to now if `is_current`."""
        return self.held + (self.seen or 0 if self.is_current else 0)

    @property
    def time_text(self) -> str:
        """``for 41.3 s``, ``for at least 41.3 s``."""
        return f"for {'at least ' if self.at_least else ''}{age(self.time)}"

    def stands(self, seconds: float) -> bool:
        """Whether it has been at the line for so long."""
        return self.time >= seconds * 1e9

    @property
    def place_text(self) -> str:
        """``read(), dataset.py:88, for 41.3 s``."""
        line, call = self.line, "" if self.line.call == "<module>" else self.line.call
        when = self.time_text if self.is_current else "when it was seen last"
        return ", ".join(filter(None, [call, line.place, when]))

    @property
    def about(self) -> str:
        """``at dataset.py:88 for 41.3 s``, or when it was seen there last."""
        if self.is_current:
            return f"at {self.line.place} {self.time_text}"
        ago = "" if self.seen is None else f" {age(self.seen)} ago"
        return f"last seen{ago} at {self.line.place}"

    @property
    def shown(self) -> list[CodeLine]:
        """The frames without those that are passed over; all of them where none is left."""
        kept = [frame for frame in self.frames if not is_hidden(frame.file or "")]
        return kept or self.frames

    def lines(self, most: int = 20) -> list[str]:
        """Its frames as text, the innermost `most`."""
        frames = self.shown[:most]
        places = max(len(frame.place) for frame in frames)
        calls = max(len(frame.call) for frame in frames)
        lines = [
            f"{frame.place:<{places}}  {frame.call:<{calls}}  {frame.short_text}".rstrip()
            for frame in frames
        ]  # fmt: skip
        more = len(self.shown) - len(frames)
        return [*lines, f"{more:,} more frames: --json has all"] if more else lines

    def as_dict(self) -> dict[str, Any]:
        """For JSON; times in ns."""
        return {
            "line": self.line.as_dict(),
            "time": self.time,
            "at_least": self.at_least,
            "seen": self.seen,
            "state": self.state,
            "frames": [frame.as_dict() for frame in self.frames],
        }
