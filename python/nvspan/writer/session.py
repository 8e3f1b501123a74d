# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions, which hold domains and streams."""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import TYPE_CHECKING

from nvspan._runtime.enums import PredefinedScope, TimestampType
from nvspan._runtime.unix_time import unix_offset as measured_offset
from nvspan.writer.backend import Backend, connection_of
from nvspan.writer.domain import Domain, as_text, check_domain, resolve_scope
from nvspan.writer.library import LibrarySession
from nvspan.writer.options import (
    NOT_SUPPORTED,
    StreamInterleaving,
    StreamOptions,
    StreamOrdering,
    StreamSkid,
    WriterError,
)
from nvspan.writer.recording import Process, RecordingSession
from nvspan.writer.run import Run
from nvspan.writer.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from nvspan.writer.domain import Scope


class Session:
    """One recording, or one session of a backend.

    Args:
        name: Its name in tools.
        backend: The library that takes the data, from :func:`load_backend`; None: a recording.
        config: Options for the backend: ``key=value``, one per line.
        output: Path of the recording that :meth:`end` writes; by default `name` with the suffix
            ``.nvspan``. The file does not exist before that.
        pid, host, command, rank: The process whose events these are; by default this one.
        unix_offset: ns between 1970 and time 0; by default times are those of
            ``time.monotonic_ns()`` here.
        memory: About how many bytes of events are held before they go to a file next to `output`.

    As a context manager it begins and ends; if its body raises, no recording is written. Different
    threads may write to different streams at once; everything else is for one thread at a time,
    before the writing begins. A forked child must not use it.

    >>> from nvspan.writer import Session
    >>> with Session("run", output="run.nvspan") as session:                 # doctest: +SKIP
    ...     with session.create_stream("main") as stream:
    ...         stream.write_mark(1_000, message="begin")
    """

    def __init__(
        self,
        name: str | bytes,
        *,
        backend: Backend | None = None,
        config: str | bytes | None = None,
        output: str | os.PathLike[str] | None = None,
        pid: int | None = None,
        host: str | None = None,
        command: Sequence[str] | None = None,
        rank: int | None = None,
        unix_offset: int | None = None,
        memory: int = 256_000_000,
    ) -> None:
        if backend is not None and not isinstance(backend, Backend):
            raise TypeError(f"backend must be a nvspan.writer.Backend or None, not {backend!r}")
        if backend is not None and output is not None:
            raise ValueError("output is the path of a recording: leave it out with a backend")
        self._connection = None if backend is None else connection_of(backend)
        self._name = as_text(name)
        self._config = as_text(config, "surrogateescape")
        self._output = os.fspath(output) if output is not None else f"{self._name}.nvspan"
        self._memory = memory
        self._unix_offset = measured_offset() if unix_offset is None else unix_offset
        self._process = Process(
            os.getpid() if pid is None else pid,
            socket.gethostname() if host is None else host,
            sys.orig_argv if command is None else command,
            rank,
        )
        self._lock = threading.RLock() if self._connection is None else self._connection.lock
        self._run: Run | None = None
        self._domains: dict[str | None, Domain] = {}  # of the active run

    def __repr__(self) -> str:
        state = "active" if self._run is not None else "not active"
        return f"<nvspan.writer.Session {self._name!r}, {state}>"

    def begin(self) -> None:
        """Begin the session.

        Raises:
            RuntimeError: It has begun already, or the backend is closed.
            WriterError: The backend refused it.
        """
        with self._lock:
            if self._run is not None:
                raise RuntimeError("session is already active")
            target: RecordingSession | LibrarySession
            if self._connection is None:
                offset = self._unix_offset
                target = RecordingSession(self._output, self._process, offset, self._memory)
            else:
                interface = self._connection.interface()
                target = LibrarySession(interface, self._name, self._config)
                self._connection.ends.add(self.end)
            self._run = Run(self, target, self._lock)

    def end(self) -> None:
        """Close the streams and end the session; a recording is written here.

        Raises:
            OSError: The recording could not be written; nothing is left of it.
            RuntimeError: The session has not begun, or the backend is closed.
            WriterError: The backend refused to close a stream or to end the session.
        """
        self._end(complete=True)

    def _end(self, *, complete: bool) -> None:
        with self._lock:
            run = self._active()
            if self._connection is not None:
                self._connection.interface()  # raises where it is closed
                self._connection.ends.discard(self.end)
            self._run = None
            self._domains.clear()
            run.end(complete=complete)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._run is not None:  # the backend may have ended it
                self._end(complete=kind is None)

    def _active(self) -> Run:
        if self._run is None:
            raise RuntimeError("session is not active")
        return self._run

    def _recording(self, what: str) -> RecordingSession:
        target = self._active().target
        if not isinstance(target, RecordingSession):
            raise WriterError(NOT_SUPPORTED, what)
        return target

    def get_domain(self, name: str | bytes | None = None) -> Domain:
        """A domain; None or an empty name is the session's default domain.

        Raises:
            RuntimeError: The session is not active.
            TypeError: The name is of another type.
            WriterError: The backend refused it.
        """
        with self._lock:
            run = self._active()
            text = as_text(name) or None
            domain = self._domains.get(text)
            if domain is None:
                domain = self._domains[text] = Domain(run, text)
            return domain

    def create_process(
        self,
        pid: int,
        *,
        host: str = "",
        boot_id: str = "",
        command: Sequence[str] = (),
        rank: int | None = None,
    ) -> int:
        """Add a process to a recording, for ``process=`` of :meth:`create_stream`.

        Raises:
            RuntimeError: The session is not active.
            WriterError: The session writes to a backend.
        """
        with self._lock:
            process = Process(pid, host, command, rank, boot_id)
            return self._recording("create_process").add_process(process)

    def create_clock(self, points: Sequence[tuple[int, int]], *, frequency: float = 1e9) -> int:
        """Add a clock to a recording, for ``time_domain_id=`` of :meth:`create_stream`.

        Args:
            points: Pairs of a time of this clock and of the recording's, in ns, in order. Times
                between and beyond them are interpolated linearly.
            frequency: Its ticks per second, if there is only one point.

        Raises:
            RuntimeError: The session is not active.
            ValueError: There are no points, they are not in order, or the frequency is 0.
            WriterError: The session writes to a backend.
        """
        with self._lock:
            return self._recording("create_clock").add_clock(list(points), frequency)

    def create_stream(
        self,
        name: str | bytes,
        *,
        domain: Domain | str | bytes | None = None,
        scope: PredefinedScope | Scope | int | None = None,
        time_domain_id: TimestampType | int = 0,
        interleaving: StreamInterleaving = StreamInterleaving.NONE,
        ordering: StreamOrdering = StreamOrdering.UNKNOWN,
        skid: StreamSkid = StreamSkid.NONE,
        skid_amount: int = 0,
        tid: int | None = None,
        process: int | None = None,
        device: int | None = None,
        queue: int | None = None,
    ) -> Stream:
        """Create a stream, which must be opened before it is written to.

        Args:
            name: Its name; a recording has a thread of that name.
            domain: The domain of its events, or its name.
            scope: Where its events belong.
            time_domain_id: The clock of its times; a recording accepts those that are
                ``CLOCK_MONOTONIC`` or ``CLOCK_REALTIME``, and those of :meth:`create_clock`.
            interleaving, ordering, skid, skid_amount: Guarantees for a backend; recordings sort.
            tid: The number of its thread in a recording; by default 1, 2, 3 ...
            process: The result of :meth:`create_process`; by default the session's process.
            device, queue: The device and queue (CUDA stream) that its ranges ran on.

        Raises:
            RuntimeError: The session is not active, or the domain is no longer valid.
            TypeError, ValueError: An argument has another type, session or domain.
            WriterError: The backend does not support such streams.
        """
        for argument, value, wanted in (
            ("interleaving", interleaving, StreamInterleaving),
            ("ordering", ordering, StreamOrdering),
            ("skid", skid, StreamSkid),
        ):
            if not isinstance(value, wanted):
                raise TypeError(
                    f"{argument} must be a nvspan.writer.{wanted.__name__}, not {value!r}"
                )
        if not isinstance(time_domain_id, (TimestampType, int)):
            raise TypeError(
                f"time_domain_id must be a nvspan.TimestampType or an int, not {time_domain_id!r}"
            )
        with self._lock:
            run = self._active()
            if any(value is not None for value in (tid, process, device, queue)):
                self._recording("create_stream with tid, process, device or queue")
            if not isinstance(domain, Domain):
                domain = self.get_domain(domain)
            else:
                check_domain(domain, run)
            if isinstance(scope, PredefinedScope) and scope not in (
                PredefinedScope.NONE,
                PredefinedScope.ROOT,
            ):
                raise ValueError(
                    f"runtime-resolved scopes are not valid as stream defaults, not {scope.name}"
                )
            number, path = resolve_scope(domain, scope)
            clock = time_domain_id if isinstance(time_domain_id, int) else time_domain_id.value
            options = StreamOptions(
                name=as_text(name, "surrogateescape") or "",
                scope=number,
                scope_path=path,
                time_domain=clock,
                interleaving=interleaving.value,
                ordering=ordering.value,
                skid=skid.value,
                skid_amount=skid_amount,
                tid=tid,
                process=process,
                device=device,
                queue=queue,
            )
            return Stream(run, domain, options)
