# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ranges take, for the tools that people watch. It reads the recordings of running processes,
its own among them, and never touches what an annotation does; the packages of those tools are
imported by the one module that needs them.

Start with `figures.py`: what is read of recordings. `prometheus.py` and `scalars.py` hand it on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan.watch.prometheus import PrometheusCollector
    from nvspan.watch.scalars import Scalars

__all__ = ["PrometheusCollector", "Scalars"]


def __getattr__(name: str) -> Any:
    if name == "PrometheusCollector":
        from nvspan.watch.prometheus import PrometheusCollector

        return PrometheusCollector
    if name == "Scalars":
        from nvspan.watch.scalars import Scalars

        return Scalars
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
