# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges `dataloader.next` for a DataLoader that `auto` was not given.

Accelerate, Lightning and Hugging Face's Trainer make loaders of their own, and a loop may not name
one: so `__next__` of every DataLoader's iterator is replaced. The loop tells a loader that it
trains on from one that it evaluates with.
"""

from __future__ import annotations

import functools

from nvspan import _core
from nvspan.torch._support.removable import replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan.torch._loop.loop import Loop

_loops: list[tuple[Loop, Any]] = []
_replacement: Any = None
_put_back: Callable[[], bool]


def _made(original: Any) -> Any:
    @functools.wraps(original)
    def __next__(iterator: Any) -> Any:
        # `_next_data` in its own dictionary: a loader that `auto` was given.
        if not _core.listening() or "_next_data" in vars(iterator):
            return original(iterator)
        shown = [each for each in _loops if each[0].fetch_begins(iterator)]
        if not shown:
            return original(iterator)
        try:
            with shown[-1][1]:
                return original(iterator)
        except BaseException:
            for loop, _ in shown:
                loop.fetch_was_empty()
            raise

    return __next__


def install(torch: Any, loop: Loop, annotation: Any) -> Callable[[], None]:
    """Shows fetches of the loop's batches, until what it returns is called."""
    global _replacement, _put_back
    kind = torch.utils.data.dataloader._BaseDataLoaderIter
    if kind.__next__ is not _replacement:
        _replacement = _made(kind.__next__)
        _put_back = replace(kind, "__next__", _replacement)
    entry = (loop, annotation)
    _loops.append(entry)

    def remove() -> None:
        _loops.remove(entry)
        if not _loops:
            _put_back()

    return remove
