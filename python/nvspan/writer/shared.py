# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The state that a session shares with its domains and streams."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nvspan.writer.backend import Connection
    from nvspan.writer.target import SessionTarget


class Shared:
    """`target` is what an active session writes to, `closing` closes each open stream.

    `lock` guards both. Where it is taken with the lock of the connection, that one comes first.
    """

    def __init__(self, connection: Connection | None) -> None:
        self.connection = connection
        self.lock = threading.RLock()
        self.target: SessionTarget | None = None
        self.closing: set[Callable[[], None]] = set()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Holds both locks."""
        connection = self.connection
        outer = contextlib.nullcontext() if connection is None else connection.lock
        with outer, self.lock:
            yield

    def active(self) -> SessionTarget:
        if self.target is None:
            raise RuntimeError("session is not active")
        return self.target

    def check_backend(self) -> None:
        """Raises where the backend is closed."""
        if self.connection is not None:
            self.connection.interface()
