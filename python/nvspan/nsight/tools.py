# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `nvspan.nsight.lines.tools` by their first address."""

from __future__ import annotations

from nvspan.nsight.lines.tools import Reports, find_tool

__all__ = ["Reports", "find_tool"]
