# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A session between its begin and its end: what it writes to, and what is open in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nvspan.writer.options import WriterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import RLock
    from typing import TypeAlias

    from nvspan.writer.library import LibraryDomain, LibrarySession, LibraryStream
    from nvspan.writer.recording import RecordingDomain, RecordingSession, RecordingStream

    SessionTarget: TypeAlias = LibrarySession | RecordingSession
    DomainTarget: TypeAlias = LibraryDomain | RecordingDomain
    StreamTarget: TypeAlias = LibraryStream | RecordingStream


class Run:
    """The state that a session shares with its domains and streams, changed behind its lock."""

    def __init__(self, session: object, target: SessionTarget, lock: RLock) -> None:
        self.session = session  # which of them it is
        self.target = target
        self.lock = lock
        self.ended = False
        self.closes: set[Callable[[], None]] = set()  # of the streams that are open

    def end(self, *, complete: bool) -> None:
        """Closes what is open and ends the target.

        Raises:
            WriterError: The target refused one of it.
        """
        failure = None
        for close in list(self.closes):
            try:
                close()
            except Exception as error:
                failure = failure or error
        self.ended = True
        try:
            self.target.end(complete)
        except WriterError as error:
            raise error from failure
        if failure is not None:
            raise failure
