# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines and functions in which a program's threads were."""

from __future__ import annotations

import re

from nvspan import _reader
from nvspan.recording.frame import Frame
from nvspan.recording.label import matches
from nvspan.recording.source import Sources, is_library, short_names
from nvspan.recording.time_text import counted, percent, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results.lines import (
        FunctionCaller,
        LineGains,
        LineRow,
        LineShares,
        SampledFlame,
        SampledLine,
        SampledPath,
        SampledTimeline,
        SampleFacts,
        ThreadTime,
    )
    from nvspan.recording.opened import OpenedFiles

GROUPS = ("line", "function", "expression")
# They call the function that they stand for.
_FORWARDING = (
    "functools.partial",
    "functools._lru_cache_wrapper",
    "numpy._ArrayFunctionDispatcher",
)


class Lines(Frame):
    """Where Python's threads were, by line or function. Made by `Recording.lines`.

    Times are ns, of all threads together: a thread that waits has time as well. Each sample stands
    for the time since its thread was last looked at.

    Attributes:
        rows: a `LineRow` for each, the largest self time first.
        ranges: a `SampledPath` for each path of ranges with samples, the time of ranges inside
            included; the first is the whole program.
        samples: how many there are.
        running: time on a CPU core.
        ready: time in which a thread waited for a CPU core.
        waiting: time in which a thread was blocked.
        idle_threads: threads that are left out: outside of ranges they only waited.
        idle: their time.
        facts: a `SampleFacts`: how the program was sampled, and what was missed.
        by: "line", "function" or "expression".
    """

    __module__ = "nvspan.recording"

    def __init__(
        self,
        recording: OpenedFiles,
        by: str = "line",
        *,
        show_stdlib: bool = False,
        idle: bool = False,
        within: Lines | None = None,
        chosen: Sequence[bool] = (),
    ) -> None:
        if by not in GROUPS:
            raise ValueError(f"by must be {', '.join(GROUPS[:-1])} or {GROUPS[-1]}, not {by!r}")
        self.by = by
        self._recording = recording
        self._show_stdlib = show_stdlib
        self._idle = idle
        self._chosen = chosen
        if within is None:
            self._samples = _reader.Lines(recording._reader.handle())
            self._sources = Sources(min((p.start + p.unix_offset for p in recording.processes),
                                        default=0))  # fmt: skip
            self.ranges = _with_inner(self._samples.paths())
        else:
            self._samples, self._sources = within._samples, within._sources
            self.ranges = within.ranges
        table = self._samples.rows(GROUPS.index(by), self._hidden(), list(chosen), idle)
        self.rows = table.rows
        self.samples = table.samples
        self.running, self.ready, self.waiting = table.running, table.ready, table.waiting
        self.idle_threads, self.idle = table.idle_threads, table.idle

    @property
    def total(self) -> int:
        """The time of all samples."""
        return self.running + self.ready + self.waiting

    @property
    def facts(self) -> SampleFacts:
        """How the program was sampled, and what was missed."""
        return self._samples.facts()

    def within(self, *match: str) -> Lines:
        """The samples in ranges whose name is like one of these patterns (``*``, ``?``).

        >>> recording.lines().within("load").rows[0].line                # doctest: +SKIP
        48
        """
        return self._part([path.parent is not None and matches(match, path.domain, path.name)
                           for path in self.ranges])  # fmt: skip

    def by_group(self, by: str) -> Lines:
        """The same samples by "line", "function" or "expression".

        Raises:
            ValueError: `by` is none of these.
        """
        return Lines(self._recording, by, show_stdlib=self._show_stdlib, idle=self._idle,
                     within=self, chosen=self._chosen)  # fmt: skip

    def text(self, row: SampledLine) -> str:
        """The source text of a row's line, or expression.

        Empty where the file is not there, or has changed since the recording began.
        """
        if self.by == "expression":
            return self._sources.expression(row)
        return self.source(row.file, row.line)

    def text_and_call(self, row: LineRow) -> str:
        """`text`, and the C function that the time is in where the text does not name it.

        >>> recording.lines("expression").text_and_call(row)             # doctest: +SKIP
        'json.loads(line)  in _json.Scanner()'
        """
        return with_c_function(self.text(row), row.c_function)

    def source(self, file: str | None, line: int | None) -> str:
        """The text of a line of a file; empty as `text` is."""
        return self._sources.line(file, line)

    def callers(self) -> list[FunctionCaller]:
        """The callers with the most of each function's self time, at most two, the first first."""
        return self._samples.callers(self._hidden(), list(self._chosen), self._idle)

    def flame(self, most_nodes: int, most_lines: int) -> SampledFlame:
        """The paths of ranges and functions with the most time, and the lines in them."""
        return self._samples.flame(self._hidden(), self._idle, most_nodes, most_lines)

    def timeline(self, most_bytes: int, levels: int) -> SampledTimeline:
        """The functions of each thread's stack in time, level below level."""
        return self._samples.timeline(self._hidden(), self._idle, most_bytes, levels)

    def stacks(self) -> dict[tuple[str, ...], int]:
        """The time of each path of ranges with the functions that ran there, outermost first."""
        places, found = self._samples.stacks(self._hidden(), self._idle)
        names = _range_names(self.ranges)
        functions = [function or "?" for function, _ in places]
        merged: dict[tuple[str, ...], int] = {}
        for path, frames, ns in found:
            stack = (*names[path], *(functions[frame] for frame in frames))
            merged[stack] = merged.get(stack, 0) + ns
        return merged

    def within_pairs(self, pairs: Iterable[tuple[int, int]], *, inner: bool = True) -> Lines:
        """The samples in ranges of these domains and names, by their numbers; without `inner`,
        those in no range inside."""
        wanted = set(pairs)
        return self._part([path.pair in wanted for path in self.ranges], inner=inner)

    def outside(self) -> Lines:
        """The samples in no range."""
        return self._part([path.parent is None for path in self.ranges], inner=False)

    def shares(
        self, threads: Sequence[tuple[int, int]], starts: Sequence[int], ends: Sequence[int]
    ) -> LineShares:
        """The lines of threads, each a process and its number there, in stretches of time."""
        return self._samples.shares(GROUPS.index(self.by), self._hidden(), threads, starts, ends)

    def gains(
        self,
        threads: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int],
        firsts: int,
        count: int,
    ) -> LineGains:
        """The lines with more time in the first steps, so many of `count`, than in the others.

        Each stretch of time is of a thread, a row of `Recording.threads`, and of a step.
        """
        by = GROUPS.index(self.by)
        return self._samples.gains(by, self._hidden(), threads, starts, ends, steps, firsts, count)

    def others(self, thread: int, starts: Sequence[int], ends: Sequence[int]) -> list[ThreadTime]:
        """What the threads other than this row of `Recording.threads` did in stretches of time."""
        return self._samples.others(thread, starts, ends)

    def _part(self, own: Sequence[bool], *, inner: bool = True) -> Lines:
        chosen: list[bool] = []
        for path, is_chosen in zip(self.ranges, own, strict=True):
            around = inner and path.parent is not None and chosen[path.parent]
            chosen.append(is_chosen or around)
        return Lines(self._recording, self.by, show_stdlib=self._show_stdlib, idle=self._idle,
                     within=self, chosen=chosen)  # fmt: skip

    def _hidden(self) -> list[int]:
        if self._show_stdlib:
            return []
        return [number for number, file in self._samples.files() if is_library(file)]

    def _records(self) -> list[dict[str, Any]]:
        return [row.as_dict() for row in self.rows]

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        short = short_names(row.file for row in self.rows if row.file is not None)
        rows = (
            (
                place(row, short, self.by),
                percent(row.share),
                *(time_cell(time) for time in (row.self, row.running, row.waiting, row.total)),
                self.text_and_call(row),
            )
            for row in self.rows
        )
        return (
            ("line", "share", "self", "on core", "waiting", "total", "text"),
            rows,
            len(self.rows),
        )

    def __repr__(self) -> str:
        return f"<nvspan Lines of {counted(self.samples, 'sample')}>"


def place(row: SampledLine, short: dict[str, str], by: str = "line") -> str:
    """``file.py:48``; by function ``name() file.py:40``."""
    where = "?" if row.file is None else short.get(row.file, row.file)
    if row.line is not None:
        where += f":{row.line}"
    return f"{function_name(row)}  {where}" if by == "function" else where


def function_name(row: SampledLine) -> str:
    """``load()``, ``<module>``."""
    name = row.function or "?"
    return name if name.endswith(">") else f"{name}()"


def with_c_function(text: str, c_function: str | None) -> str:
    """A line's text with the C function that it is in, where the text has no call of that name.

    >>> with_c_function("time.sleep(1)", "time.sleep")
    'time.sleep(1)'
    >>> with_c_function("self.scan_once(s, idx)", "_json.Scanner")
    'self.scan_once(s, idx)  in _json.Scanner()'
    """
    if c_function is None or c_function in _FORWARDING:
        return text
    name = re.escape(c_function.rpartition(".")[2])
    if re.search(rf"\b{name}\(", text):
        return text
    return f"{text}  in {c_function}()".lstrip()


def outer_function(function: str | None) -> str | None:
    """The function that a comprehension is in; else the function itself."""
    return None if function is None else function.partition(".<locals>.<")[0]


def _with_inner(paths: Sequence[SampledPath]) -> list[SampledPath]:
    """The paths with the time of those within them; parents come before their children."""
    sums = [[path.samples, path.running, path.ready, path.waiting] for path in paths]
    for index in range(len(paths) - 1, 0, -1):
        parent = paths[index].parent
        assert parent is not None
        sums[parent] = [a + b for a, b in zip(sums[parent], sums[index], strict=True)]
    return [
        path.replace(samples=samples, running=running, ready=ready, waiting=waiting)
        for path, (samples, running, ready, waiting) in zip(paths, sums, strict=True)
    ]


def _range_names(paths: Sequence[SampledPath]) -> list[tuple[str, ...]]:
    from nvspan.recording.label import label

    names: list[tuple[str, ...]] = [()]
    for path in paths[1:]:
        assert path.parent is not None
        names.append((*names[path.parent], label(path.domain, path.name)))
    return names
