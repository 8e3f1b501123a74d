# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Spans and histograms to a collector of OpenTelemetry, once or again and again."""

from __future__ import annotations

import os
import threading

from nvspan.recording import read
from nvspan.watch.figures import FileFigures, Watch
from nvspan.watch.otel_metrics import metrics_data
from nvspan.watch.otel_spans import TRACEPARENT, emit
from nvspan.watch.roots import Roots
from nvspan.watch.sources import Sources
from nvspan.watch.tally import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Self

_DEFAULT_ROOTS = ("step", "request")
_BATCH = 512  # spans that are sent at once
_MOST_UNSENT = 20_000  # spans that wait for a collector that does not answer


def trace_context() -> dict[str, str]:
    """The trace that OpenTelemetry has in this context, as a payload: `OpenTelemetry` joins it.

    Empty where there is none. Give the function itself, which is called while a tool listens:

    >>> with nvspan.annotate("request", payload=nvspan.watch.trace_context):  # doctest: +SKIP
    ...     pass

    Raises:
        ModuleNotFoundError: opentelemetry-api is not installed.
    """
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return {TRACEPARENT: carrier[TRACEPARENT]} if TRACEPARENT in carrier else {}


class OpenTelemetry:
    """Sends steps or requests as spans, and durations as exponential histograms.

    Spans have the times of the recording. The ranges in a root are its child spans, device ranges
    spans with a link to the range that launched them, and the range one to them; marks are events.
    A root whose payload has the field "traceparent" joins that trace: see `trace_context`.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process.
        roots: patterns with ``*`` and ``?`` of the ranges that become traces, each of a name or
            "domain:name"; none: no spans.
        match: patterns of the ranges and marks that metrics are made of; None: all; none: no
            metrics.
        endpoint: the collector's address for OTLP over HTTP, such as "http://127.0.0.1:4318". None:
            what the variable OTEL_EXPORTER_OTLP_ENDPOINT says.
        span_exporter, metric_exporter: the SDK's own or another package's, in place of OTLP/HTTP.
        sampler: the SDK's, which decides about each root; None: what OTEL_TRACES_SAMPLER says.
        slower_than: seconds; roots that took less are no spans.
        most: how many spans a root has at most. The root says how many were left out.
        service: the service.name; None: OTEL_SERVICE_NAME, else the name of the program.
        interval: seconds between two readings, from `start` to `stop`.

    Raises:
        ModuleNotFoundError: opentelemetry-sdk or its exporter is not installed.
        TypeError: `roots` or `match` is one text.
        ValueError: `interval` or `most` is not above 0.

    Nothing of it runs where an annotation does: files are read on the thread of `send`, or on one
    that `start` begins. After a fork that thread is the parent's alone.

    >>> with nvspan.record("serve.nvspan", mode="ring=64"):              # doctest: +SKIP
    ...     with nvspan.watch.OpenTelemetry(roots=["request"]):
    ...         serve()
    """

    __module__ = "nvspan.watch"

    def __init__(
        self,
        *targets: int | str | os.PathLike[str],
        roots: Iterable[str] = _DEFAULT_ROOTS,
        match: Iterable[str] | None = None,
        endpoint: str | None = None,
        span_exporter: Any = None,
        metric_exporter: Any = None,
        sampler: Any = None,
        slower_than: float = 0.0,
        most: int = 1000,
        service: str | None = None,
        interval: float = 10.0,
    ) -> None:
        if isinstance(roots, str):
            raise TypeError("roots must be a list of patterns, not one pattern")
        if not interval > 0:
            raise ValueError(f"interval must be seconds above 0, not {interval!r}")
        if most < 1:
            raise ValueError(f"most must be 1 or more, not {most!r}")
        self._sources = Sources(targets)
        self._roots = tuple(roots)
        self._watch = Watch(targets, match)
        self._metrics = match is None or bool(self._watch.match)
        self._sampler = sampler
        self._slower_than = int(slower_than * 1e9)
        self._most = most
        self._service = service
        self._interval = interval
        self._spans_to = span_exporter or _span_exporter(endpoint)
        self._metrics_to = metric_exporter or _metric_exporter(endpoint)
        self._of_file: dict[str, tuple[Roots, Any, list[Any]]] = {}
        self._unsent: list[Any] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        #: What could not be read or sent, at the last sending.
        self.problems: list[str] = []
        #: How many spans were sent, and how many were given up because nobody took them.
        self.sent = self.dropped = 0

    def send(self, at_once: bool = False) -> None:
        """Reads the recordings and sends what is new.

        Args:
            at_once: sends roots that ended just now as well; their device ranges may be missing.

        What goes wrong is in `problems`; what the collector did not take is sent again next time.
        """
        with self._lock:
            self.problems = []
            if self._roots:
                self._send_spans(at_once)
            if self._metrics:
                self._send_metrics()

    def start(self) -> Self:
        """Sends every `interval` seconds, on a thread of its own, until `stop`."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(
                target=self._run, name="nvspan OpenTelemetry", daemon=True
            )
            self._thread.start()
        return self

    def stop(self) -> None:
        """Sends what is left and ends the thread."""
        if self._thread is not None:
            self._stopping.set()
            self._thread.join()
            self._thread = None
        self.send(at_once=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                self.send()
            except Exception as error:  # the program goes on whatever an exporter raises
                self.problems.append(f"{type(error).__name__}: {error}")

    def _send_spans(self, at_once: bool) -> None:
        paths, problems = self._sources.paths()
        self.problems += problems
        for path in paths:
            try:
                recording = read(path)
            except (OSError, ValueError) as error:
                self.problems.append(str(error))
                continue
            process = recording.processes[0]
            if process["mode"] == "stats":
                self.problems.append(f"{path}: mode stats keeps no single ranges, so no spans")
                continue
            if path not in self._of_file:
                spans: list[Any] = []
                tracer = _tracer(self._resource(process), self._sampler, spans)
                roots = Roots(self._roots, self._slower_than, self._most)
                self._of_file[path] = (roots, tracer, spans)
            roots, tracer, spans = self._of_file[path]
            unseen, missed = roots.unseen, roots.missed
            emit(roots.ended(recording, at_once), tracer)
            if roots.unseen > unseen:
                self.problems.append(
                    f"{path}: {(roots.unseen - unseen) / 1e9:.1f} s of events were overwritten "
                    "between two readings: read more often, or take a larger ring"
                )
            if roots.missed > missed:
                self.problems.append(
                    f"{path}: {roots.missed - missed} ranges were overwritten while they were open"
                )
            self._unsent += spans
            spans.clear()
        self._flush()

    def _flush(self) -> None:
        from opentelemetry.sdk.trace.export import SpanExportResult

        while self._unsent:
            if self._spans_to.export(self._unsent[:_BATCH]) != SpanExportResult.SUCCESS:
                self.problems.append(f"{len(self._unsent)} spans could not be sent")
                break
            self.sent += len(self._unsent[:_BATCH])
            del self._unsent[:_BATCH]
        beyond = len(self._unsent) - _MOST_UNSENT
        if beyond > 0:
            self.dropped += beyond
            del self._unsent[:beyond]

    def _send_metrics(self) -> None:
        from opentelemetry.sdk.metrics.export import MetricExportResult

        found = self._watch.read()
        if not self._roots:
            self.problems += self._watch.problems
        if not found:
            return
        data = metrics_data(found, self._resource_of)
        if self._metrics_to.export(data) != MetricExportResult.SUCCESS:
            self.problems.append("the metrics could not be sent")

    def _resource_of(self, figures: FileFigures) -> Any:
        return self._resource({"host": figures.host, "pid": figures.pid, "rank": figures.rank,
                               "command": figures.command})  # fmt: skip

    def _resource(self, process: dict[str, Any]) -> Any:
        from opentelemetry.sdk.resources import Resource

        found = {
            "host.name": text(process["host"]),
            "process.pid": process["pid"],
            "service.instance.id": f"{text(process['host'])}:{process['pid']}",
        }
        if process["rank"] is not None:
            found["nvspan.rank"] = process["rank"]
        service = self._service
        if service is None and not os.environ.get("OTEL_SERVICE_NAME"):
            service = _program(process["command"])
        if service is not None:
            found["service.name"] = text(service)
        return Resource.create(found)


def _program(command: list[str]) -> str:
    """What a command runs: its first script, else its first word."""
    scripts = [word for word in command[1:] if word.endswith(".py")]
    return os.path.basename((scripts or command or ["unknown"])[0])


def _tracer(resource: Any, sampler: Any, spans: list[Any]) -> Any:
    """A tracer whose sampled spans, when they end, come into a list."""
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    class Collected(SpanProcessor):  # type: ignore[misc, unused-ignore]
        def on_end(self, span: Any) -> None:
            if span.context.trace_flags.sampled:
                spans.append(span)

    provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(Collected())
    return provider.get_tracer("nvspan")


def _span_exporter(endpoint: str | None) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(None if endpoint is None else f"{endpoint.rstrip('/')}/v1/traces")


def _metric_exporter(endpoint: str | None) -> Any:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    return OTLPMetricExporter(None if endpoint is None else f"{endpoint.rstrip('/')}/v1/metrics")
