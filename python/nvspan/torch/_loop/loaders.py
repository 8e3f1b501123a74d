# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges `dataloader.next`: in the iterators of a DataLoader, or around any other iterable."""

from __future__ import annotations

import weakref
from functools import partial, wraps

from nvspan.torch._loop.loop import is_expected
from nvspan.torch._support import attributes

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan.torch._loop.loop import Loop


def _next_step(
    loop: Loop, owner: int, expected: bool, annotation: Any, fetch: Callable[[], Any]
) -> Any:
    """Fetches a batch within its step: where none is expected, the step begins if there is one."""
    loop.by_loader = True
    if expected:
        loop.begin(owner)
    else:
        loop.end()
    try:
        with annotation:
            batch = fetch()
    except StopIteration:
        loop.end_empty()
        raise
    except BaseException:
        loop.end()
        raise
    if not expected:
        loop.begin(owner)
    return batch


class _Fetch:
    """Stands for the `_next_data` of one of the DataLoader's iterators, and goes with it.

    It keeps the iterator not alive: workers end when that is gone.
    """

    __slots__ = ("__weakref__", "_annotation", "_drives", "_fetch", "_iterator", "_loop")

    def __init__(self, iterator: Any, loop: Loop, annotation: Any, drives: bool) -> None:
        self._iterator = weakref.ref(iterator)
        self._fetch = attributes.without_reference(iterator, iterator._next_data)
        self._loop = loop
        self._annotation = annotation
        self._drives = drives

    def __call__(self) -> Any:
        loop = self._loop
        if not loop.alive:
            return self._fetch()
        expected = is_expected(self._iterator())
        if not self._drives:
            loop.fetch_ahead_begins(expected)
            with self._annotation:
                return self._fetch()
        return _next_step(loop, id(self), expected, self._annotation, self._fetch)

    def __del__(self) -> None:
        self._loop.end(id(self))


def install(loader: Any, loop: Loop, annotation: Any) -> Callable[[], None]:
    """Has the iterators that a DataLoader makes from now on show their fetches."""
    drives = loop.by_loader

    reference = weakref.ref(loader)  # what stands in its dictionary shall not keep it alive

    def make(before: Any) -> Any:
        get_iterator = attributes.without_reference(reference(), before)

        @wraps(getattr(before, "__func__", before))
        def _get_iterator(*args: Any, **kwargs: Any) -> Any:
            iterator = get_iterator(*args, **kwargs)
            try:
                vars(iterator)["_next_data"] = _Fetch(iterator, loop, annotation, drives)
            except (AttributeError, TypeError):
                pass  # an iterator of another sort
            return iterator

        return _get_iterator

    return attributes.put(loader, "_get_iterator", "auto", 1, make)


# ---- other iterables ----------------------------------------------------------------------------


class _Batches:
    """Iterates over an iterable; each `next` is a range and begins a step."""

    def __init__(self, batches: Any, loop: Loop, annotation: Any) -> None:
        self._batches = iter(batches)
        self._loop = loop
        self._annotation = annotation
        self._left: int | None = None
        if self._batches is not batches:
            try:
                self._left = len(batches)
            except Exception:
                pass

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        loop = self._loop
        if not loop.alive:
            return next(self._batches)
        expected = self._left is None or self._left > 0
        batch = _next_step(loop, id(self), expected, self._annotation, partial(next, self._batches))
        if self._left is not None:
            self._left -= 1
        return batch

    def __getattr__(self, name: str) -> Any:
        if name == "_batches":
            raise AttributeError(name)
        return getattr(self._batches, name)

    def __del__(self) -> None:
        self._loop.end(id(self))


class AnnotatedBatches:
    """What ``auto(...).dataloader`` is for an iterable that is no DataLoader: loop over it.

    Its length, items and attributes are those of the iterable.
    """

    def __init__(self, batches: Any, loop: Loop, annotation: Any) -> None:
        self.__dict__.update(_nvspan_batches=batches, _nvspan_parts=(loop, annotation))

    def __iter__(self) -> Any:
        loop, annotation = self._nvspan_parts
        return _Batches(self._nvspan_batches, loop, annotation)

    def __len__(self) -> int:
        return len(self._nvspan_batches)

    def __bool__(self) -> bool:
        return bool(self._nvspan_batches)

    def __getitem__(self, index: Any) -> Any:
        return self._nvspan_batches[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_nvspan"):
            raise AttributeError(name)
        return getattr(self._nvspan_batches, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._nvspan_batches, name, value)

    def __reduce__(self) -> Any:
        return _itself, (self._nvspan_batches,)


def _itself(value: Any) -> Any:
    return value
