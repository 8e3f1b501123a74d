# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The name of ``nvtx._lib.time``."""

from __future__ import annotations

from nvspan.payloads import TimestampType

__all__ = ["TimestampType"]
