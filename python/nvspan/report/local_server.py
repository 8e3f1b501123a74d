# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A server for few clients, which strangers can neither fill nor read by another name."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MOST = 32  # connections at a time
_SECONDS = 20.0  # that a client may take to say what it wants, or to take what it gets


class LocalHandler(BaseHTTPRequestHandler):
    """A request of a `LocalServer`."""

    server: LocalServer
    timeout = _SECONDS

    def handle_one_request(self) -> None:
        """Reads and answers a request, and notes that its client asks."""
        self.server.waiting[self.connection] = time.monotonic()
        try:
            super().handle_one_request()
        finally:
            self.server.waiting.pop(self.connection, None)

    def parse_request(self) -> bool:
        """Whether there is a request, by a name of the server."""
        whole = super().parse_request()
        self.server.waiting.pop(self.connection, None)
        names = self.server.names
        # Another name for this address is a page elsewhere that tries to read what we serve.
        if whole and names is not None and self.headers.get("Host") not in names:
            self.send_error(403)
            return False
        return whole

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


class LocalServer(ThreadingHTTPServer):
    """Answers 32 connections at a time; one on top takes the place of who has been asking longest.

    On a loopback address it answers those alone that call it by it or by ``localhost``.

    Raises:
        OSError: the address cannot be listened on.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, handler: type[LocalHandler]) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self._free = threading.BoundedSemaphore(_MOST)
        self.waiting: dict[socket.socket, float] = {}  # since when, of clients that still ask
        super().__init__((host, port), handler)
        shown = f"[{host}]" if ":" in host else host
        self.origin = f"http://{shown}:{self.server_port}"
        self.names: set[str] | None = None
        if is_loopback(host):
            self.names = {f"{name}:{self.server_port}" for name in (shown, "localhost")}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers a connection on a thread of its own, if there is room."""
        if not self._free.acquire(blocking=False):
            self._end_waiting(1, 0.0)
            if not self._free.acquire(timeout=1.0):
                self.shutdown_request(request)
                return
        try:
            super().process_request(request, client_address)
        except Exception:  # there is no thread; after Ctrl-C there may be one, which gives it back
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """What that thread does."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def service_actions(self) -> None:
        """Called twice a second: ends clients that take too long."""
        self._end_waiting(_MOST, _SECONDS)

    def _end_waiting(self, most: int, seconds: float) -> None:
        """Ends clients that have been asking for so long, the first one first."""
        now = time.monotonic()
        for request, since in sorted(self.waiting.copy().items(), key=lambda pair: pair[1])[:most]:
            if now - since >= seconds:
                with contextlib.suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores a client that goes away; prints other errors, as its base does."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
