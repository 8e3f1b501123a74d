# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tests marked `timing` run last, and while one runs no other worker of the run has a test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

_LOCK = pytest.StashKey[IO[str]]()


def is_timed(item: pytest.Item) -> bool:
    """Whether the verdict of this test depends on the machine's speed."""
    return item.get_closest_marker("timing") is not None


@contextlib.contextmanager
def turn(item: pytest.Item) -> Iterator[None]:
    """Ordinary tests share a lock of the run's workers; a timed test has it alone.

    A worker holds one lock at a time and waits for nothing else meanwhile, so that none waits for
    ever. The lock is the process's own: a child of a test does not inherit it, and it ends with the
    worker, however that ends.
    """
    if not hasattr(item.config, "workerinput"):
        yield
        return
    import fcntl

    lock = item.config.stash.get(_LOCK, None)
    if lock is None:
        # A worker's folder lies in the folder of the run.
        path = Path(item.config.getoption("basetemp")).parent / "turns.lock"
        item.config.stash[_LOCK] = lock = path.open("a+", encoding="utf-8")
        item.config.add_cleanup(lock.close)
    fcntl.lockf(lock, fcntl.LOCK_EX if is_timed(item) else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.lockf(lock, fcntl.LOCK_UN)
