# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often a test repeats what it does."""

from __future__ import annotations

import os
from typing import TypeVar

Value = TypeVar("Value")
SLOW = os.environ.get("NVSPAN_SLOW") == "1"


def length(whole: Value, short: Value) -> Value:
    """`whole` with NVSPAN_SLOW=1, which takes minutes, and `short` without it."""
    return whole if SLOW else short
