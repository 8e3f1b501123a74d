# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A web server with a thread for each connection, under the load of four clients."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from measured import phase, work


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and text in one packet

    def do_GET(self):
        with phase("handle_request"):
            with phase("authenticate"):
                work(8)
            with phase("query"):
                work(60)
            with phase("serialize"):
                text = work(12)
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def client(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(40):
        connection.request("GET", "/")
        connection.getresponse().read()
    connection.close()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever).start()
clients = [threading.Thread(target=client, args=[server.server_port]) for _ in range(4)]
for thread in clients:
    thread.start()
for thread in clients:
    thread.join()
server.shutdown()
server.server_close()
