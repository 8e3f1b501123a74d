# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a session writes to: a library, or a recording. One class of each kind stands for either."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np

    from nvspan._runtime.enums import BatchOrdering, EventKind
    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.layout import Layout, Roles

    # int: a registered string's handle
    Message: TypeAlias = bytes | int | None


class StreamOptions(NamedTuple):
    name: bytes
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


class EventSchema(NamedTuple):
    id: int
    dtype: Any
    kind: EventKind | None
    roles: Roles | None


class StreamTarget(Protocol):
    def instant(
        self, kind: EventKind, time: int, range_id: int, message: Message, color: int, category: int
    ) -> None: ...
    def span(
        self, kind: EventKind, start: int, end: int, message: Message, color: int, category: int
    ) -> None: ...
    def event(self, schema: EventSchema, row: np.ndarray[Any, Any]) -> None: ...
    def batch(
        self, schema: EventSchema, rows: np.ndarray[Any, Any], ordering: BatchOrdering
    ) -> None: ...
    def columns(self, kind: EventKind, columns: dict[str, Any], rows: int) -> None: ...
    def sample(self, counter: int, time: int, value: Any) -> None: ...
    def no_value(self, counter: int, time: int, reason: int) -> None: ...
    def samples(
        self,
        counter: int,
        rows: np.ndarray[Any, Any],
        times: np.ndarray[Any, Any] | None,
        timestamp: str | None,
        ordering: BatchOrdering,
    ) -> None: ...
    def close(self) -> None: ...


class DomainTarget(Protocol):
    def string(self, text: bytes) -> int: ...
    def category(self, number: int, name: bytes) -> None: ...
    def scope(self, path: bytes | None, parent: int) -> int: ...
    def schema(self, layout: Layout) -> int: ...
    def counter(
        self,
        name: bytes,
        description: bytes | None,
        schema: int,
        scope: int,
        scope_path: str | None,
        semantics: CounterSemantics | None,
    ) -> int: ...


class SessionTarget(Protocol):
    def domain(self, name: bytes | None) -> DomainTarget: ...
    def stream(self, options: StreamOptions, domain: DomainTarget) -> StreamTarget: ...
    def end(self, complete: bool) -> None: ...
