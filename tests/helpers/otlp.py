# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A collector of OpenTelemetry on this machine: it decodes what is sent by OTLP over HTTP."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Received:
    """What came, in its order: resources with their spans, and with their metrics."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list = []  # (resource as a dict, span)
        self.metrics: list = []  # (resource as a dict, metric)
        self.refuse = False

    def add(self, path: str, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        if path == "/v1/traces":
            message = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
            for of in message.resource_spans:
                for scope in of.scope_spans:
                    assert scope.scope.name == "nvspan"
                    self.spans += [(attributes(of.resource), span) for span in scope.spans]
        elif path == "/v1/metrics":
            message = metrics_service_pb2.ExportMetricsServiceRequest.FromString(body)
            for of in message.resource_metrics:
                for scope in of.scope_metrics:
                    assert scope.scope.name == "nvspan"
                    self.metrics += [(attributes(of.resource), metric) for metric in scope.metrics]
        else:
            raise AssertionError(path)


def attributes(of) -> dict:
    """The attributes of a span, event, link, point or resource."""

    def value(found):
        kind = found.WhichOneof("value")
        if kind == "array_value":
            return [value(one) for one in found.array_value.values]
        return getattr(found, kind)

    return {one.key: value(one.value) for one in of.attributes}


@contextmanager
def collector():
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if not received.refuse:
                received.add(self.path, body)
            self.send_response(400 if received.refuse else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield received
        finally:
            server.shutdown()
            thread.join()
