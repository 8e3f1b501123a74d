# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Check mode: finds annotations that do not pair up, and names both calls."""

from __future__ import annotations

import os
import sys

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

# The modules whose lines stand for those of their callers lie here.
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class CheckReport:
    """One finding of check mode.

    Attributes:
        kind: What is wrong, as a word: ``"pop_of_nothing"``, ``"pop_in_wrong_domain"``,
            ``"pop_on_other_thread"``, ``"pop_of_annotation"``, ``"closed_out_of_order"``,
            ``"pop_in_other_task"``, ``"ended_twice"``, ``"end_of_unknown"``,
            ``"end_in_wrong_domain"``, ``"open_at_thread_exit"`` or ``"open_at_exit"``.
        text: The whole finding as a sentence.
        site: The call at fault as ``(file, line, function)``, or None where it is not known.
        other: The call that it does not fit, likewise.
        count: How often this was found between these two calls.

    >>> import nvspan
    >>> nvspan.check.reports()
    []
    """

    __slots__ = ("count", "kind", "other", "site", "text")

    def __init__(
        self,
        kind: str,
        text: str,
        site: tuple[str, int, str] | None,
        other: tuple[str, int, str] | None,
        count: int,
    ) -> None:
        self.kind = kind
        self.text = text
        self.site = site
        self.other = other
        self.count = count

    def __repr__(self) -> str:
        times = f", {self.count} times" if self.count > 1 else ""
        return f"<CheckReport {self.kind}: {self.text}{times}>"


class check:
    """Switch check mode on, until ``stop()`` or the end of a ``with`` block.

    It finds pops that close nothing, pop in the wrong domain, on another thread or in another task,
    or close what belongs to an annotation; ranges that are ended twice or were never started; and
    what its thread or the process leaves open. Each is reported once for each pair of calls, by a
    :class:`NvspanWarning` at the call at fault (what is open at an exit: by a line on stderr), and
    counted. Ranges that were open before are not checked. The environment variables
    ``NVSPAN_CHECK=1`` and ``NVSPAN_STRICT=1`` do the same from the start of a program.

    It works with and without a tool, in all threads, and after a fork in the child.

    Args:
        strict: Raise :class:`CheckError` at the call at fault instead. What is found at an exit, or
            where no exception can leave, is reported all the same.

    >>> import nvspan
    >>> with nvspan.check(strict=True):
    ...     with nvspan.annotate("pairs up"):
    ...         pass
    """

    __slots__ = ()

    def __init__(self, *, strict: bool = False) -> None:
        if not isinstance(strict, bool):
            raise TypeError(f"strict must be a bool, not {strict!r}")
        _start(strict)

    def __enter__(self) -> check:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @staticmethod
    def stop() -> None:
        """Switch check mode off. What it found stays in ``reports()``."""
        _core.stop_checking()

    @staticmethod
    def active() -> bool:
        """Tell whether check mode is on."""
        return _core.checking()

    @staticmethod
    def reports() -> list[CheckReport]:
        """All findings of this process so far, oldest first; at most 10,000 different ones."""
        return [CheckReport(*report) for report in _core.check_reports()]


def _start(strict: bool) -> None:
    import atexit

    atexit.unregister(_at_exit)
    atexit.register(_at_exit)
    _core.start_checking(strict, _FOLDER)


def _at_exit() -> None:
    """Tells what is still open, and how often what was told once was found."""
    sys.stdout.flush()
    _core.check_at_exit()
    for report in check.reports():
        if report.count > 1:
            print(f"nvspan check: {report.count} times: {report.text}", file=sys.stderr)
    lost = _core.check_reports_lost()
    if lost:
        print(f"nvspan check: {lost} further findings were not kept", file=sys.stderr)


def start_from_environment() -> None:
    """Switches check mode on if NVSPAN_CHECK or NVSPAN_STRICT says so."""
    strict = _is_set("NVSPAN_STRICT")
    if strict or _is_set("NVSPAN_CHECK"):
        _start(strict)


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0", "false")
