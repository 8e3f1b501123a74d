# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range assertions for tests: calls and durations of ranges, while the program still runs.

The pytest plugin of this package provides a `LiveRecording` as the fixture ``recording``.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings

from nvspan import _core
from nvspan.recorder import record
from nvspan.recording import Recording, read
from nvspan.recording.time_text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from nvspan._results import StatsRow


class RangeSummary:
    """Statistics of one range: `calls` and, in milliseconds, `mean_ms`, `min_ms`, `max_ms`,
    `p50_ms`, `p90_ms`, `p99_ms` of those that ended. `unclosed` are still open: `total_ms` and
    `self_ms` have their time so far.
    """

    def __init__(self, name: str, row: StatsRow | None) -> None:
        self.name = name
        self.calls = 0 if row is None else row.calls
        self.unclosed = 0 if row is None else row.unclosed
        times = [0.0] * 8
        if row is not None:
            times = [row.total, row.self, row.mean, row.min, row.max, row.p50, row.p90, row.p99]
        self.total_ms, self.self_ms, self.mean_ms, self.min_ms = (ns / 1e6 for ns in times[:4])
        self.max_ms, self.p50_ms, self.p90_ms, self.p99_ms = (ns / 1e6 for ns in times[4:])

    def check(self, calls: int | None = None, **budgets: float) -> None:
        """Compares with budgets: ``check(calls=3, max_ms=5, mean_ms=2)``.

        Args:
            calls: how often it must have run, exactly.
            budgets: the most that an attribute may be.

        Raises:
            AssertionError: a budget is exceeded; the message has all that are.
            TypeError: there is no such attribute.
        """
        wrong = []
        if calls is not None and self.calls != calls:
            wrong.append(f"{counted(self.calls, 'call')}, not {calls}")
        for key, most in budgets.items():
            if not key.endswith("_ms") or not hasattr(self, key):
                raise TypeError(f"a range has no {key}")
            value = getattr(self, key)
            if value > most:
                wrong.append(f"{key} is {value:.3f}, more than {most:g}")
        if wrong:
            raise AssertionError(f"range {self.name!r}: " + "; ".join(wrong))

    def __repr__(self) -> str:
        return (
            f"<range {self.name!r}: {counted(self.calls, 'call')}, {self.mean_ms:.3f} ms each, "
            f"at most {self.max_ms:.3f} ms>"
        )


class LiveRecording:
    """Records nvspan's events in a ``with`` block or a test, and can be read at any moment.

    Args:
        path: where the recording goes; None is a temporary file, removed at the end.

    Raises:
        RuntimeError: another tool is attached, or nvspan was built without NVTX.

    Threads, forks and other libraries' events are recorded as by `nvspan.record`. The events of
    another thread are visible as soon as its call has returned.

    >>> with LiveRecording() as recording:                               # doctest: +SKIP
    ...     train()
    ...     assert recording.range("fwd").calls == 3
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = path
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._recorder: record | None = None
        self._whole: LiveRecording | None = None
        self._start: int | None = None
        self._stop: int | None = None

    def part_from_now(self) -> LiveRecording:
        """A view of this recording from now on, without earlier events."""
        part = LiveRecording()
        part._whole = self
        part._start = time.monotonic_ns()
        return part

    def end_part(self) -> None:
        """Ends a view: later events are not in it."""
        self._stop = time.monotonic_ns()

    @property
    def paths(self) -> list[str]:
        """The files recorded so far, one for each process."""
        if self._whole is not None:
            return self._whole.paths
        return [] if self._recorder is None else self._recorder.paths

    def read(self) -> Recording:
        """The recording up to now.

        Raises:
            RuntimeError: nothing has been recorded.
        """
        paths = self.paths
        if not paths:
            raise RuntimeError("nothing has been recorded yet")
        found = read(*paths)
        if self._start is None:
            return found
        # A file's time line is the clock that `part_from_now` read.
        return found.filter(start=self._start, stop=self._stop)

    def range(self, name: str, domain: str | None = None, device: bool = False) -> RangeSummary:
        """The statistics of a range; one that never ran has no calls.

        Args:
            name: its message.
            domain: the name of its domain; None is any.
            device: device ranges of the name, not those of the CPU.

        Raises:
            ValueError: several domains have such a range, or it is both a push/pop and a start/end
                range.
        """
        rows = [
            row
            for row in self.read().stats().rows
            if row.name == name
            and domain in (None, row.domain or "NVTX")
            and (row.kind == "device") == device
        ]
        if len(rows) > 1:
            kinds = sorted({(row.domain or "NVTX", row.kind) for row in rows})
            raise ValueError(f"several ranges have the name {name!r}: {kinds}; name the domain")
        return RangeSummary(name, rows[0] if rows else None)

    @property
    def ranges(self) -> list[str]:
        """The names of all ranges, by total time, longest first."""
        return [str(row.name) for row in self.read().stats().rows]

    def __enter__(self) -> LiveRecording:
        path = self._path
        if path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="nvspan-test-")
            path = os.path.join(self._folder.name, "test.nvspan")
        self._recorder = record(path)
        try:
            with warnings.catch_warnings():
                # A library imported earlier is no reason to warn in a test.
                warnings.simplefilter("ignore", _core.NvspanWarning)
                self._recorder.start()
        except BaseException:
            self._remove()
            raise
        # The first event creates the file: without one, reading it would fail.
        _core.mark("recording starts", domain="nvspan.testing")
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._recorder is not None:
            self._recorder.stop()
        self._remove()

    def _remove(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
