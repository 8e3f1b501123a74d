# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every Python call of the process as a range."""

from __future__ import annotations

import gc
import os
import sys
from types import AsyncGeneratorType, CoroutineType, GeneratorType

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, TracebackType

_NO_LIMIT = 0xFFFFFFFF


def _patterns(name: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    if not hasattr(given, "__iter__"):
        raise TypeError(f"{name} must be a str, several, or None, not {given!r}")
    patterns = tuple(given)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"{name} must be a str or several, not {pattern!r}")
    return patterns


_LIBRARY = (os.path.join(os.path.dirname(os.__file__), ""),)
_FOLDER = _patterns.__code__.co_filename[: -len("profiler.py")]
_PREFIXES = {GeneratorType: "gi", CoroutineType: "cr", AsyncGeneratorType: "ag"}


def _suspended_frames() -> list[tuple[int, int, CodeType]]:
    """Of each generator and coroutine that is suspended: where its frame is, and its code.

    It calls no function of Python, which the profile would show.
    """
    found = []
    for each in gc.get_objects():
        prefix = _PREFIXES.get(type(each))
        if prefix is None:
            continue
        code = getattr(each, f"{prefix}_code")
        if sys.version_info >= (3, 12):
            if getattr(each, f"{prefix}_suspended"):
                found.append((id(each), id(each) + type(each).__basicsize__, code))
        else:
            frame = getattr(each, f"{prefix}_frame")
            if frame is not None:
                found.append((id(frame), id(frame) + 1, code))
    return found


class Profile:
    """Makes every Python call a range, in all threads, from `enable` to `disable`.

    The ranges are in the domain "nvtx.py", at level 1, and are closed whatever ends the call. A
    generator or coroutine has a range for each stretch that it runs, whose category says whether it
    begins a call or resumes one, and whose payload which. For each that is suspended at the end
    there is one more, without length, whose category says that it is unfinished. Calls that are
    open when the profile is enabled are not shown; those that are open when it is disabled are
    closed, in the calling thread at once and in the others as soon as they call or return from
    something.

    Args:
        linenos: name a range "file.py:12(function)"; False names it "function".
        annotate_cfuncs: show calls of C functions from shown Python functions as well, by name.
        include: show only the code that one of these patterns matches; None shows all.
        exclude: do not show the code that one of these patterns matches. Stronger than include.
        hide_stdlib: do not show the standard library and the import machinery: their time is that
            of the call that they are in. Code that they call is shown, and imported modules of the
            standard library that are in no package. With `include` that decides.
        max_depth: how many ranges of one thread may be open at a time, at least 1; None for no
            limit. What is called deeper is not shown.

    A pattern is a glob (``*`` is any text, ``?`` any character) that matches the whole path of the
    source file, its last part, the qualified name of the function, or a module, class or function
    by its dotted name: "mypkg" stands for all of mypkg.

    Raises:
        TypeError: a pattern is no str, or max_depth no int.
        ValueError: max_depth is outside 1..4294967295.

    One profile of the process is enabled at a time. While no tool listens an enabled profile costs
    nothing, and begins when one attaches. Under NVTX_DISABLE it does nothing. A forked child goes
    on as its parent did.

    >>> import nvspan
    >>> with nvspan.Profile(include="mypkg"):
    ...     sorted([3, 1, 2], key=abs)
    [1, 2, 3]
    """

    __slots__ = (
        "__weakref__", "_annotate_cfuncs", "_exclude", "_hide_stdlib", "_include", "_linenos",
        "_max_depth",
    )  # fmt: skip

    def __init__(
        self,
        linenos: bool = True,
        annotate_cfuncs: bool = False,
        include: str | Iterable[str] | None = None,
        exclude: str | Iterable[str] | None = None,
        max_depth: int | None = None,
        hide_stdlib: bool = False,
    ) -> None:
        self._linenos = bool(linenos)
        self._annotate_cfuncs = bool(annotate_cfuncs)
        self._hide_stdlib = bool(hide_stdlib)
        self._include = None if include is None else _patterns("include", include)
        self._exclude = _patterns("exclude", exclude)
        if max_depth is not None:
            if not isinstance(max_depth, int) or isinstance(max_depth, bool):
                raise TypeError(f"max_depth must be an int or None, not {max_depth!r}")
            if not 1 <= max_depth <= _NO_LIMIT:
                raise ValueError(f"max_depth {max_depth} is outside 1..{_NO_LIMIT}")
        self._max_depth = max_depth

    @property
    def enabled(self) -> bool:
        """True from `enable` to `disable`."""
        return _core._profile_running(self)

    def enable(self) -> None:
        """Shows calls from now on, in every thread; does nothing when this profile is enabled.

        May be called in any thread, also inside calls that are then left.

        Raises:
            RuntimeError: another profile is enabled, or (CPython 3.12 and later) other tools use
                all tool ids of sys.monitoring.
        """
        _core._profile_start(
            self, self._linenos, self._annotate_cfuncs, self._include, self._exclude,
            self._max_depth or _NO_LIMIT, _FOLDER, _LIBRARY if self._hide_stdlib else (),
        )  # fmt: skip

    def disable(self) -> None:
        """Shows no more calls and closes what is open; does nothing when it is not enabled.

        May be called in another thread than `enable`. Before CPython 3.12 each thread has the
        profile function back that it had before.
        """
        if self.enabled:
            _core._profile_stop(self, _suspended_frames())

    def __enter__(self) -> Profile:
        self.enable()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.disable()

    def __repr__(self) -> str:
        return (
            f"Profile(linenos={self._linenos}, annotate_cfuncs={self._annotate_cfuncs}, "
            f"include={self._include}, exclude={self._exclude or None}, "
            f"max_depth={self._max_depth}, hide_stdlib={self._hide_stdlib})"
        )
