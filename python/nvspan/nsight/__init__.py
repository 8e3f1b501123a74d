# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Nsight Systems and Nsight Compute: their formats, their range filters, their command lines."""

from nvspan.nsight.lines.ncu_command import ncu_command
from nvspan.nsight.nsys_command import nsys_command
from nvspan.nsight.ranges.evaluate import FilterHits
from nvspan.nsight.ranges.names import range_filters
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.ranges.range_syntax import Between

__all__ = ["Between", "FilterHits", "RangeFilter", "ncu_command", "nsys_command", "range_filters"]
