# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ranges take, for the tools that people watch. It reads the recordings of running processes,
its own among them, and never touches what an annotation does; the packages of those tools are
imported by the one module that needs them.

Start with `figures.py`: what is read of recordings. `prometheus.py` and `scalars.py` hand it on.
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
