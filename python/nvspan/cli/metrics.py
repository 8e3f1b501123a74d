# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan metrics``: range durations of running processes for Prometheus."""

from __future__ import annotations

from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note
from nvspan.report.local_server import LocalHandler, LocalServer
from nvspan.report.text import printable_lines
from nvspan.watch.prometheus import PrometheusCollector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_PORT = 9464
_DESCRIPTION = """\
Serves the ranges of running processes as Prometheus metrics: histograms of their durations, open
ranges, marks, events, and losses. The processes run under nvspan's recorder; --mode stats is the
cheapest to read. They are not interrupted."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan metrics`` with the arguments `argv`."""
    parser = parser_of("metrics", _DESCRIPTION)
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="PID|FILE|DIR|PATTERN",
        help="process ids, or recordings; later files are found, too",
    )
    parser.option(
        "--port N", f"the port (default: {_PORT}); 0 takes a free one", type=int, default=_PORT
    )
    parser.option(
        "--address HOST",
        "the address to listen on (default: 127.0.0.1, this machine alone; 0.0.0.0: all)",
        default="127.0.0.1",
    )
    parser.option("--once", "print the metrics and end")
    parser.option(
        "--match PATTERN",
        "only ranges and marks whose name or domain:name matches; may be repeated",
        action="append",
    )
    parser.option(
        "--buckets SECONDS,...", "upper bounds of the histograms (default: 22, from 10 us to 100 s)"
    )
    options = parser.parse_args(argv)
    try:
        import prometheus_client
    except ModuleNotFoundError:
        parser.fail("it needs prometheus_client: pip install 'nvspan[prometheus]'")
    try:
        buckets = None if options.buckets is None else list(map(float, options.buckets.split(",")))
        collector = PrometheusCollector(*options.targets, match=options.match, buckets=buckets)
    except ValueError as error:
        parser.error(f"--buckets: {error}")
    registry = prometheus_client.CollectorRegistry()
    registry.register(collector)
    if options.once:
        code = emit(printable_lines(prometheus_client.generate_latest(registry).decode()))
        note(collector.problems)
        return 1 if collector.problems else code
    try:
        server = LocalServer(options.address, options.port, _handler_of(registry))
    except (OSError, OverflowError) as error:
        parser.fail(f"cannot listen on {options.address} port {options.port}: {error}")
    if server.names is None:
        note([f"everyone who reaches {options.address} can read the metrics"])
    print(f"{server.origin}/metrics", flush=True)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
    return 0


def _handler_of(registry: CollectorRegistry) -> type[LocalHandler]:
    from prometheus_client.exposition import choose_encoder

    class Handler(LocalHandler):
        def do_GET(self) -> None:
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
            page = encode(registry)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    return Handler
