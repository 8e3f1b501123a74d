# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan metrics``: range durations of running processes for Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note
from nvspan.watch.prometheus import PrometheusCollector

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
        help="processes by their ids, or their recordings; files that come later are found",
    )
    parser.option("--port N", f"the port ({_PORT}); 0 takes a free one", type=int, default=_PORT)
    parser.option(
        "--address HOST",
        "the address to listen on (127.0.0.1: this machine alone; 0.0.0.0: all)",
        default="127.0.0.1",
    )
    parser.option("--once", "print the metrics and end")
    parser.option(
        "--match PATTERN",
        "only ranges and marks whose name or domain:name matches; may be repeated",
        action="append",
    )
    parser.option(
        "--buckets SECONDS,...", "upper bounds of the histograms (22 from 10 us to 100 s)"
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
        code = emit(prometheus_client.generate_latest(registry).decode())
        note(collector.problems)
        return 1 if collector.problems else code
    try:
        server, thread = prometheus_client.start_http_server(
            options.port, options.address, registry
        )
    except (OSError, OverflowError) as error:
        parser.fail(f"cannot listen on {options.address} port {options.port}: {error}")
    print(f"http://{options.address}:{server.server_port}/metrics", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    server.shutdown()
    thread.join()
    return 0
