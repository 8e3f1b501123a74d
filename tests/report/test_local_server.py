# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The server of `nvspan view` and `nvspan metrics` among clients that mean it no good."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading

import pytest

from nvspan.report import local_server
from nvspan.report.local_server import LocalHandler, LocalServer

PAGE = b"what is served"


class Handler(LocalHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)


@contextlib.contextmanager
def serving(host="127.0.0.1"):
    with LocalServer(host, 0, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def client(server):
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=30)


def get(server, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    with contextlib.closing(connection):
        name = f"127.0.0.1:{server.server_port}" if host is None else host
        connection.request("GET", "/", headers={"Host": name})
        answer = connection.getresponse()
        return answer.status, answer.read() if answer.status == 200 else b""


def test_on_loopback_it_has_two_names():
    with serving() as server:
        assert server.origin == f"http://127.0.0.1:{server.server_port}"
        assert get(server) == (200, PAGE)
        assert get(server, f"localhost:{server.server_port}") == (200, PAGE)
        for name in ("rebound.example", "127.0.0.1", f"127.0.0.2:{server.server_port}"):
            assert get(server, name) == (403, b"")


def test_elsewhere_it_has_any_name():
    with serving("0.0.0.0") as server:
        assert get(server, "node-7:9464") == (200, PAGE)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_half_a_request_holds_nobody_up(sent):
    with serving() as server, contextlib.ExitStack() as stack:
        for _ in range(300):
            half = stack.enter_context(client(server))
            with contextlib.suppress(OSError):  # it was closed for the next ones
                half.sendall(sent)
        assert get(server) == (200, PAGE)
        of_server = [each for each in threading.enumerate() if "process_request" in each.name]
        assert len(of_server) <= 32


def test_who_takes_too_long_to_ask_is_closed(monkeypatch):
    monkeypatch.setattr(local_server, "_SECONDS", 0.05)
    with serving() as server, client(server) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert slow.recv(100) == b""


def test_ctrl_c_while_a_connection_begins_ends_the_server(monkeypatch):
    """Its thread may have begun, and ended, by then."""

    def start(thread):
        begin(thread)
        thread.join()
        raise KeyboardInterrupt

    begin = threading.Thread.start
    with LocalServer("127.0.0.1", 0, Handler) as server, client(server) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        monkeypatch.setattr(threading.Thread, "start", start)
        with pytest.raises(KeyboardInterrupt):
            server.handle_request()
