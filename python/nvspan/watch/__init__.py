# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range statistics for metrics exporters: Prometheus and experiment trackers.

They read the recordings of running processes, this one's among them, and never change what an
annotation does. Start with `figures.py`; `prometheus.py` and `scalars.py` pass its results on.
"""

from __future__ import annotations

from nvspan._lazy import lazy_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.watch.prometheus import PrometheusCollector
    from nvspan.watch.scalars import Scalars

__all__ = ["PrometheusCollector", "Scalars"]


__getattr__ = lazy_attributes(
    __name__,
    PrometheusCollector="nvspan.watch.prometheus:PrometheusCollector",
    Scalars="nvspan.watch.scalars:Scalars",
)
