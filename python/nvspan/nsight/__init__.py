# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Nsight Systems and Nsight Compute: their formats, their range filters, their command lines."""

from __future__ import annotations

from nvspan.nsight.nsys_command import nsys_command  # has its module's name: not later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan.nsight.compute.region import profile_region
    from nvspan.nsight.lines.ncu_command import ncu_command
    from nvspan.nsight.ranges.evaluate import FilterHits
    from nvspan.nsight.ranges.names import range_filters
    from nvspan.nsight.ranges.range_filter import RangeFilter
    from nvspan.nsight.ranges.range_syntax import Between
    from nvspan.nsight.results.result import NcuResult
    from nvspan.nsight.results.result import read_reports as read_ncu

__all__ = [
    "Between",
    "FilterHits",
    "NcuResult",
    "RangeFilter",
    "ncu_command",
    "nsys_command",
    "profile_region",
    "range_filters",
    "read_ncu",
]


def __getattr__(name: str) -> Any:
    """Each is loaded with its first use: commands that only read recordings use none."""
    if name in ("Between", "FilterHits", "RangeFilter", "range_filters"):
        from nvspan.nsight.ranges.evaluate import FilterHits
        from nvspan.nsight.ranges.names import range_filters
        from nvspan.nsight.ranges.range_filter import RangeFilter
        from nvspan.nsight.ranges.range_syntax import Between

        found = (Between, FilterHits, RangeFilter, range_filters)
        return next(each for each in found if each.__name__ == name)
    if name == "ncu_command":
        from nvspan.nsight.lines.ncu_command import ncu_command

        return ncu_command
    if name == "profile_region":
        from nvspan.nsight.compute.region import profile_region

        return profile_region
    if name in ("NcuResult", "read_ncu"):
        from nvspan.nsight.results.result import NcuResult, read_reports

        return NcuResult if name == "NcuResult" else read_reports
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
