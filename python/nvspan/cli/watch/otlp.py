# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan otlp``: steps and requests of processes to a collector of OpenTelemetry."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note
from nvspan.watch.otel import OpenTelemetry

_ROOTS = ("step", "request")
_DESCRIPTION = """\
Sends steps or requests of processes as spans to a collector of OpenTelemetry, with the ranges in
them and links to their device ranges, and durations of ranges as exponential histograms. The
processes run under nvspan's recorder, for spans in mode full or ring. Nothing is asked of them.

Each span is sent once, some seconds after the root has ended, until the command is interrupted."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan otlp`` with the arguments `argv`."""
    parser = parser_of("otlp", _DESCRIPTION)
    parser.add_argument(
        "targets", nargs="+", metavar="PID|FILE|FOLDER|PATTERN",
        help="processes by their ids, or their recordings; files that come later are found",
    )  # fmt: skip
    parser.add_argument(
        "--endpoint", metavar="URL",
        help="the collector, for OTLP over HTTP: http://127.0.0.1:4318 "
        "(OTEL_EXPORTER_OTLP_ENDPOINT)",
    )  # fmt: skip
    parser.add_argument(
        "--root", action="append", metavar="PATTERN",
        help="a range that is a trace, by its name or domain:name (step, request); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--slower-than", type=float, default=0.0, metavar="MS",
        help="leave out roots that took less (0)",
    )  # fmt: skip
    parser.add_argument(
        "--sample", type=float, metavar="SHARE",
        help="send this share of the roots, from 0 to 1 (OTEL_TRACES_SAMPLER, else all)",
    )  # fmt: skip
    parser.add_argument(
        "--match", action="append", metavar="PATTERN",
        help="histograms of these ranges alone; may be repeated",
    )  # fmt: skip
    parser.add_argument("--no-spans", action="store_true", help="send histograms alone")
    parser.add_argument("--no-metrics", action="store_true", help="send spans alone")
    parser.add_argument("--service", metavar="NAME", help="service.name (that of the program)")
    parser.add_argument(
        "--interval", type=float, default=10.0, metavar="SECONDS",
        help="time between two readings (10)",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="send what is there, and end")
    options = parser.parse_args(argv)
    if options.no_spans and options.no_metrics:
        parser.error("--no-spans and --no-metrics leave nothing to send")
    if options.sample is not None and not 0 <= options.sample <= 1:
        parser.error(f"--sample must be from 0 to 1, not {options.sample}")
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # said below, in a line
    try:
        sender = OpenTelemetry(
            *options.targets, roots=() if options.no_spans else options.root or _ROOTS,
            match=() if options.no_metrics else options.match, endpoint=options.endpoint,
            sampler=None if options.sample is None else _sampler(options.sample),
            slower_than=options.slower_than / 1e3, service=options.service,
            interval=options.interval,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: it needs {error.name}: pip install 'nvspan[otel]'\n")
    except ValueError as error:
        parser.error(str(error))
    if options.once:
        sender.send(at_once=True)
        note(sender.problems)
        code = emit(f"{sender.sent} spans sent")
        return 1 if sender.problems else code
    return _follow(sender, options.interval)


def _follow(sender: OpenTelemetry, interval: float) -> int:
    said: list[str] = []
    try:
        while True:
            sender.send()
            note(problem for problem in sender.problems if problem not in said)
            said = sender.problems
            threading.Event().wait(interval)
    except KeyboardInterrupt:
        sender.send(at_once=True)
        note(sender.problems)
    return emit(f"{sender.sent} spans sent")


def _sampler(share: float) -> object:
    from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

    return ParentBasedTraceIdRatio(share)
