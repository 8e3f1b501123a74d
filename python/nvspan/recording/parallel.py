# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two readings of one recording at a time: the reader holds no lock of Python while it scans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def both(first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """What both return, the second called on a thread of its own; an error of the first leads."""
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(second)
        return first(), other.result()


def each(ask: Callable[[First], Second], items: Sequence[First]) -> list[Second]:
    """What `ask` returns for each of the items, in their order; two of them are asked at a time."""
    if len(items) < 2:
        return [ask(item) for item in items]
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(ask, items))
