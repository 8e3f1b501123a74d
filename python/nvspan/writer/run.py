# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The active part of a session, shared with its domains and streams."""

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


def call_all(functions: set[Callable[[], None]]) -> Exception | None:
    """Calls functions that may leave the set, each whatever the others raise; the first error."""
    failure = None
    for function in list(functions):
        try:
            function()
        except Exception as error:
            failure = failure or error
    return failure


class Run:
    """A session between its begin and its end; changed under its lock."""

    def __init__(self, session: object, target: SessionTarget, lock: RLock) -> None:
        self.session = session  # tells the domains of two sessions apart
        self.target = target
        self.lock = lock
        self.ended = False
        self.closes: set[Callable[[], None]] = set()  # of the open streams

    def end(self, *, complete: bool) -> None:
        """Closes the open streams and ends the target.

        Raises:
            WriterError: The backend refused one of these.
        """
        failure = call_all(self.closes)
        self.ended = True
        try:
            self.target.end(complete)
        except WriterError as error:
            raise error from failure
        if failure is not None:
            raise failure
