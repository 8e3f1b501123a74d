# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Undoing: handles with ``remove()``, and attributes of torch's that are put back."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, TypeVar

    _Handle = TypeVar("_Handle", bound="Removable")

_MISSING = object()


class Removable:
    """A handle with ``remove()``; as a context manager it calls that at the end of the block."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def remove(self) -> None:
        """Take away what the handle stands for. A second call does nothing."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self: _Handle) -> _Handle:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


def replace(owner: Any, name: str, ours: object) -> Callable[[], bool]:
    """Replaces an attribute of a module or class; returns what puts the former one back.

    That leaves alone what somebody else has put in place since, and returns False then.
    """
    theirs = vars(owner).get(name, _MISSING)
    setattr(owner, name, ours)

    def put_back() -> bool:
        if vars(owner).get(name) is not ours:
            return False
        if theirs is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, theirs)
        return True

    return put_back
