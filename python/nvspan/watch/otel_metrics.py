# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of recordings as metrics of OpenTelemetry: exponential histograms of durations."""

from __future__ import annotations

import time

from nvspan.watch.buckets import exponential
from nvspan.watch.tally import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from nvspan.watch.figures import FileFigures

DURATION = "nvspan.range.duration"
MARKS = "nvspan.marks"
LOST = "nvspan.lost_events"


def metrics_data(found: Sequence[FileFigures], resource_of: Callable[[FileFigures], Any]) -> Any:
    """A ``MetricsData`` of the SDK: cumulative since each recording began.

    Args:
        found: the figures.
        resource_of: the ``Resource`` of a recording's process.
    """
    from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    now = time.time_ns()
    scope = InstrumentationScope("nvspan")
    resources = []
    for figures in found:
        metrics = _metrics(figures, now)
        scopes = [ScopeMetrics(scope=scope, metrics=metrics, schema_url="")]
        resources.append(
            ResourceMetrics(resource=resource_of(figures), scope_metrics=scopes, schema_url="")
        )
    return MetricsData(resource_metrics=resources)


def _metrics(figures: FileFigures, now: int) -> list[Any]:
    from opentelemetry.sdk.metrics import export

    cumulative = export.AggregationTemporality.CUMULATIVE
    durations = []
    for (domain, name, kind), tally in figures.tally.ranges.items():
        scale, offset, counts, zeros = exponential(tally.counts)
        durations.append(
            export.ExponentialHistogramDataPoint(
                attributes={
                    "nvspan.domain": text(domain, "NVTX"),
                    "nvspan.range": text(name),
                    "nvspan.kind": kind,
                },
                start_time_unix_nano=figures.start,
                time_unix_nano=now,
                count=tally.calls,
                sum=tally.sum / 1e9,
                scale=scale,
                zero_count=zeros,
                positive=export.Buckets(offset=offset, bucket_counts=counts),
                negative=export.Buckets(offset=0, bucket_counts=[]),
                flags=0,
                min=tally.shortest / 1e9,
                max=tally.longest / 1e9,
            )
        )

    def number(value: int, attributes: dict[str, str]) -> Any:
        return export.NumberDataPoint(
            attributes=attributes, start_time_unix_nano=figures.start, time_unix_nano=now,
            value=value,
        )  # fmt: skip

    marks = [
        number(count, {"nvspan.domain": text(domain, "NVTX"), "nvspan.mark": text(name)})
        for (domain, name), count in figures.tally.marks.items()
    ]
    metrics = [
        export.Metric(DURATION, "How long ranges took that have ended.", "s",
                      export.ExponentialHistogram(durations, cumulative)),
        export.Metric(MARKS, "How many marks there were.", "{mark}",
                      export.Sum(marks, cumulative, is_monotonic=True)),
        export.Metric(LOST, "How many events could not be recorded.", "{event}",
                      export.Sum([number(figures.tally.lost, {})], cumulative, is_monotonic=True)),
    ]  # fmt: skip
    return [metric for metric in metrics if metric.data.data_points]
