# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Nsight Systems and Nsight Compute: their formats, their range filters, their command lines."""

from __future__ import annotations

from nvspan._lazy import lazy_attributes
from nvspan.nsight.nsys_command import nsys_command  # has its module's name: not later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.nsight.compute.region import profile_region
    from nvspan.nsight.lines.ncu_command import ncu_command
    from nvspan.nsight.ranges.names import range_filters
    from nvspan.nsight.ranges.range_filter import FilterHits, RangeFilter
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


# Commands that only read recordings use none of these.
__getattr__ = lazy_attributes(
    __name__,
    Between="nvspan.nsight.ranges.range_syntax:Between",
    FilterHits="nvspan.nsight.ranges.range_filter:FilterHits",
    NcuResult="nvspan.nsight.results.result:NcuResult",
    RangeFilter="nvspan.nsight.ranges.range_filter:RangeFilter",
    ncu_command="nvspan.nsight.lines.ncu_command:ncu_command",
    profile_region="nvspan.nsight.compute.region:profile_region",
    range_filters="nvspan.nsight.ranges.names:range_filters",
    read_ncu="nvspan.nsight.results.result:read_reports",
)
