# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Options of streams, counters and columns as the writer passes them on, and a backend's error."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.layout import Layout

    # A text, or the handle of a registered string.
    Message: TypeAlias = str | int | None


class StreamInterleaving(enum.Enum):
    """Where the order of a stream's events is guaranteed."""

    NONE = 0  # in the stream as a whole
    SCOPE = 1  # in each of its scopes


class StreamOrdering(enum.Enum):
    """How a stream's events are sorted by time."""

    UNKNOWN = 0
    STRICT = 1
    PACKED_RANGE_START = 2  # whole ranges, by their start
    PACKED_RANGE_END = 3  # whole ranges, by their end


class StreamSkid(enum.Enum):
    """The unit of a stream's ``skid_amount``: how far an event may be from its sorted position."""

    NONE = 0
    TIME_NS = 1
    EVENT_COUNT = 2


class StreamOptions(NamedTuple):
    """A stream's arguments as numbers and texts."""

    name: str
    scope: int
    scope_path: str | None
    time_domain: int
    interleaving: int
    ordering: int
    skid: int
    skid_amount: int
    tid: int | None
    process: int | None
    device: int | None
    queue: int | None


class CounterOptions(NamedTuple):
    """A counter's arguments; `layout` is an NVTX type where a sample is one number."""

    name: str
    layout: int | Layout
    description: str | None
    scope: int
    scope_path: str | None
    semantics: CounterSemantics | None


class EventFields(NamedTuple):
    """What a single event has besides its times; 0: no color, no category."""

    message: Message = None
    color: int = 0
    category: int = 0


NO_FIELDS = EventFields()


class EventColumns(NamedTuple):
    """Columns of complete events; `end` is None for marks, the rest may be one for all, or None."""

    start: Any
    end: Any
    message: Any
    color: Any
    category: Any


SUCCESS, FAILED, INVALID_ARGUMENT, SYMBOL_MISSING, NOT_SUPPORTED = 0, 1, 2, 5, 7
_MEANINGS = {
    SUCCESS: "success",
    FAILED: "failed",
    INVALID_ARGUMENT: "invalid argument",
    3: "library not found",
    4: "library load failed",
    SYMBOL_MISSING: "library symbol missing",
    6: "interface version not supported",
    NOT_SUPPORTED: "not supported by this backend",
}


class WriterError(Exception):
    """A backend refused a call.

    Attributes:
        result_code: The NVTXW result code of the call.
        operation: The name of the call; None if unknown.

    >>> from nvspan.writer import WriterError
    >>> str(WriterError(7, "StreamOpen"))
    'StreamOpen failed: not supported by this backend (code 7)'
    """

    def __init__(self, result_code: int, operation: str | None = None) -> None:
        self.result_code = result_code
        self.operation = operation
        message = _MEANINGS.get(result_code, "unknown error")
        if operation:
            message = f"{operation} failed: {message} (code {result_code})"
        super().__init__(message)

    def __reduce__(self) -> tuple[type, tuple[int, str | None]]:
        return type(self), (self.result_code, self.operation)
