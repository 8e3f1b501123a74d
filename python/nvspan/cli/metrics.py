# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan metrics``: ranges of processes as metrics of Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note
from nvspan.watch.prometheus import PrometheusCollector

_PORT = 9464
_DESCRIPTION = """\
Serves what the ranges of processes take as metrics of Prometheus: histograms of their durations,
how many are open, marks, events, and what was lost. The processes run under nvspan's recorder;
--mode stats is the cheapest to read. Nothing is asked of them."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan metrics`` with the arguments `argv`."""
    parser = parser_of("metrics", _DESCRIPTION)
    parser.add_argument(
        "targets", nargs="+", metavar="PID|FILE|FOLDER|PATTERN",
        help="processes by their ids, or their recordings; files that come later are found",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=_PORT, metavar="N",
        help=f"where to serve, at the path /metrics ({_PORT}); 0 takes a free one and says which",
    )  # fmt: skip
    parser.add_argument(
        "--address", default="127.0.0.1", metavar="HOST",
        help="the address to listen on (127.0.0.1: this machine alone; 0.0.0.0: every one)",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="print the metrics and end")
    parser.add_argument(
        "--match", action="append", metavar="PATTERN",
        help="only ranges and marks whose name or domain:name is like it; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--buckets", metavar="SECONDS,...",
        help="where the buckets of the histograms end (22 ends from 10 us to 100 s)",
    )  # fmt: skip
    options = parser.parse_args(argv)
    try:
        import prometheus_client
    except ModuleNotFoundError:
        parser.exit(1, f"{parser.prog}: it needs prometheus_client: "
                       "pip install 'nvspan[prometheus]'\n")  # fmt: skip
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
        parser.exit(1, f"{parser.prog}: cannot listen on {options.address} port {options.port}: "
                       f"{error}\n")  # fmt: skip
    print(f"http://{options.address}:{server.server_port}/metrics", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    server.shutdown()
    thread.join()
    return 0
