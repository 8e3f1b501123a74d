# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from typing_extensions import Buffer, Self

class Column(Buffer):
    @property
    def name(self) -> str: ...
    @property
    def is_text(self) -> bool: ...
    @property
    def null_count(self) -> int: ...
    def is_null(self, row: int) -> bool: ...
    def valid(self, begin: int, end: int) -> bytes: ...
    def __len__(self) -> int: ...

class RecordingHandle: ...

def file_header(path: bytes) -> dict[str, Any] | None: ...
def threads(handle: RecordingHandle) -> list[dict[str, Any]]: ...
def tree(handle: RecordingHandle) -> list[dict[str, Any]]: ...
def exact(handle: RecordingHandle) -> list[dict[str, Any]]: ...
def strip(
    handle: RecordingHandle, budget: int, levels: int, most_threads: int
) -> dict[str, Any]: ...
def write_perfetto(
    handle: RecordingHandle, path: bytes, progress: Callable[[float], object] | None
) -> int: ...

class ExternalWriter:
    def __init__(self, path: bytes, memory: int = ...) -> None: ...
    def process(
        self,
        pid: int,
        *,
        parent_pid: int = ...,
        host: str = ...,
        boot_id: str = ...,
        command: Sequence[str] = ...,
        unix_offset: int = ...,
        rank: int = ...,
        local_rank: int = ...,
        world_size: int = ...,
    ) -> int: ...
    def thread(self, process: int, tid: int, name: str | None = ...) -> int: ...
    def domain(self, process: int, name: str | None) -> int: ...
    def strings(self, texts: Iterable[str | None]) -> memoryview: ...
    def category(self, domain: int, number: int, name: str) -> None: ...
    def device_name(self, process: int, device: int, name: str) -> None: ...
    def stream_name(self, process: int, stream: int, name: str) -> None: ...
    def clock(self, points: Sequence[tuple[int, int]], frequency: float = ...) -> int: ...
    def schema(
        self,
        domain: int,
        name: str | None,
        size: int,
        entries: Iterable[
            tuple[str, int, int, int, int] | tuple[str, int, int, int, int, str | None]
        ],
    ) -> int: ...
    def counter(
        self,
        process: int,
        domain: int,
        name: str,
        *,
        unit: str | None = ...,
        description: str | None = ...,
        schema: int | None = ...,
    ) -> int: ...
    def ranges(
        self,
        thread: int,
        domain: int,
        start: int | Buffer,
        end: int | Buffer,
        *,
        name: int | Buffer | None = ...,
        category: int | Buffer | None = ...,
        color: int | Buffer | None = ...,
        payload: float | Buffer | None = ...,
        schema: int | None = ...,
        kind: str = ...,
        clock: int | None = ...,
    ) -> None: ...
    def marks(
        self,
        thread: int,
        domain: int,
        time: int | Buffer,
        *,
        name: int | Buffer | None = ...,
        category: int | Buffer | None = ...,
        color: int | Buffer | None = ...,
        payload: float | Buffer | None = ...,
        schema: int | None = ...,
        clock: int | None = ...,
    ) -> None: ...
    def pushes(
        self,
        thread: int,
        domain: int,
        time: int | Buffer,
        *,
        name: int | Buffer | None = ...,
        category: int | Buffer | None = ...,
        color: int | Buffer | None = ...,
        payload: float | Buffer | None = ...,
        schema: int | None = ...,
        clock: int | None = ...,
    ) -> None: ...
    def pops(
        self, thread: int, domain: int, time: int | Buffer, *, clock: int | None = ...
    ) -> None: ...
    def starts(
        self,
        thread: int,
        domain: int,
        time: int | Buffer,
        id: int | Buffer,
        *,
        name: int | Buffer | None = ...,
        category: int | Buffer | None = ...,
        color: int | Buffer | None = ...,
        payload: float | Buffer | None = ...,
        schema: int | None = ...,
        clock: int | None = ...,
    ) -> None: ...
    def ends(
        self,
        thread: int,
        domain: int,
        time: int | Buffer,
        id: int | Buffer,
        *,
        clock: int | None = ...,
    ) -> None: ...
    def device_ranges(
        self,
        process: int,
        domain: int,
        start: int | Buffer,
        end: int | Buffer,
        *,
        device: int | Buffer,
        stream: int | Buffer,
        name: int | Buffer | None = ...,
        correlation: int | Buffer | None = ...,
        launched: int | Buffer | None = ...,
        tid: int | Buffer | None = ...,
        category: int | Buffer | None = ...,
        color: int | Buffer | None = ...,
        payload: float | Buffer | None = ...,
        clock: int | None = ...,
    ) -> None: ...
    def samples(
        self,
        thread: int,
        counter: int,
        time: int | Buffer,
        value: float | Buffer,
        *,
        clock: int | None = ...,
    ) -> None: ...
    def absent(
        self,
        thread: int,
        counter: int,
        time: int | Buffer,
        reason: int | Buffer,
        *,
        clock: int | None = ...,
    ) -> None: ...
    @property
    def overlapping(self) -> int: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, type: object, value: object, traceback: object) -> None: ...

class Reader:
    def __init__(self, paths: Sequence[bytes]) -> None: ...
    def filtered(
        self,
        pairs: set[tuple[int, int]] | None,
        threads: set[int] | None,
        start: int,
        stop: int,
        shortest: int,
    ) -> Reader: ...
    def pairs(self) -> set[tuple[int, int]]: ...
    def strings(self) -> list[str]: ...
    def string_count(self) -> int: ...
    def text(self, index: int) -> str | None: ...
    def domains(self) -> list[str | None]: ...
    def problems(self) -> list[str]: ...
    def unreadable(self) -> int: ...
    def file_losses(self) -> list[dict[str, Any]]: ...
    def processes(self) -> list[dict[str, Any]]: ...
    def events(self) -> list[tuple[int, str]]: ...
    def names(self, table: str) -> list[str]: ...
    def rows(self, table: str) -> int: ...
    def column(self, table: str, name: str) -> Column: ...
    def calls(self, thread: int) -> list[tuple[str, int, int, int, int, int | bytes | None]]: ...
    def site(
        self, index: int
    ) -> tuple[str | None, str | None, int, int | None, int, str | None, int]: ...
    def payload_bytes(self, offset: int, size: int) -> bytes: ...
    def payload_json(self, process: int, site: int, bytes: bytes) -> str | None: ...
    def row_json(self, table: str, row: int) -> str | None: ...
    def orphan_ends(self) -> int: ...
    def arrow_array(self, table: str) -> tuple[object, object]: ...
    def arrow_schema(self, table: str) -> object: ...
    def arrow_stream(self, table: str) -> object: ...
    def stats(self, by: str) -> dict[str, Any]: ...
    def write_csv(
        self,
        table: str,
        path: bytes,
        words: dict[str, Sequence[str]],
        progress: Callable[[int], object] | None,
        escape_formulas: bool,
    ) -> None: ...
    def handle(self) -> RecordingHandle: ...
