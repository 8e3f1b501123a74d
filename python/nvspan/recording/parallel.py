# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two readings of one recording at a time: the reader holds no lock of Python while it scans."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def both(first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """What both return, the second called on a thread of its own; an error of the first leads."""
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(second)
        return first(), other.result()
