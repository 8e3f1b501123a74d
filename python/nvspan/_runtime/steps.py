# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of a program's main loop: a range with the step's number, and its listeners."""

from __future__ import annotations

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Protocol, SupportsIndex

    class Listener(Protocol):
        """Receives each step, in the loop's thread, also while no tool listens."""

        def step_begins(self, number: int) -> None: ...
        def step_ends(self, number: int) -> None: ...


_listeners: tuple[Listener, ...] = ()  # replaced, never changed: a loop may be reading it
_last = -1  # the number of the latest `step`


def add_listener(listener: Listener) -> None:
    global _listeners
    _listeners = (*_listeners, listener)


def remove_listener(listener: Listener) -> None:
    global _listeners
    _listeners = tuple(each for each in _listeners if each is not listener)


def tell_begin(number: int) -> None:
    for each in _listeners:
        each.step_begins(number)


def tell_end(number: int) -> None:
    for each in _listeners:
        each.step_ends(number)


class Step:
    """What :func:`step` returns: a context manager for one step after the other."""

    __slots__ = ("_given", "_message", "_open", "_options", "number")

    def __init__(self, n: SupportsIndex | None, message: str, options: dict[str, Any]) -> None:
        if n is not None and (isinstance(n, bool) or not hasattr(type(n), "__index__")):
            raise TypeError(f"a step's number must be an int or None, not {n!r}")
        self._given: int | None = None if n is None else n.__index__()
        self._message = message
        self._options = options
        self._open: list[tuple[int, Any]] = []
        #: The number of the step that was entered last; None before the first.
        self.number: int | None = None

    def __enter__(self) -> Step:
        global _last
        number = self._given
        if number is None:
            number = _last + 1
        self.number = _last = number
        if _listeners:
            tell_begin(number)
        entered = _core.annotate(self._message, payload=number, **self._options)
        entered.__enter__()
        self._open.append((number, entered))
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        number, entered = self._open.pop()
        entered.__exit__(exc_type, exc_value, traceback)
        if _listeners:
            tell_end(number)


def step(
    n: SupportsIndex | None = None,
    *,
    message: str = "step",
    domain: Any = "torch",
    color: Any = None,
    category: Any = None,
    level: int = 1,
    device: bool = False,
) -> Step:
    """A range around one step of the program's main loop, with its number as payload.

    It has the name and the domain that :func:`nvspan.torch.auto` gives to steps, and opens and
    closes profile windows (:func:`nvspan.torch.profile_window`) as those do. Imports no torch.

    Args:
        n: The step's number, which reports group by; None counts on from the latest step of this
            process, from 0.
        message: The range's name.
        domain, color, category, level, device: As for :class:`nvspan.annotate`.

    Returns:
        A context manager, with the number in ``number``. One kept for a whole loop counts by
        itself. It belongs to the thread that enters it.

    Raises:
        TypeError: An argument is of another type.

    >>> import nvspan
    >>> for batch in range(3):
    ...     with nvspan.step(batch):
    ...         pass
    """
    options: dict[str, Any] = {"domain": domain, "level": level}
    if color is not None:
        options["color"] = color
    if category is not None:
        options["category"] = category
    if device:
        options["device"] = True
    return Step(n, message, options)
