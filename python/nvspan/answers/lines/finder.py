# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The line of code that a finding is about, from the samples of a recording."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from nvspan._results.loops import LoopGaps, LoopWait
from nvspan._results.variation import Effect
from nvspan.answers.lines import gains, meanwhile
from nvspan.loops.loop import Loop
from nvspan.recording import Recording
from nvspan.recording.lines import Lines
from nvspan.report.hottest import hottest_row, hottest_share, line_text


@dataclass(frozen=True)
class LineAnswer:
    """What samples say of some time.

    Attributes:
        texts: the hottest line; empty where samples are too few.
        next: a command that shows more lines, those of the whole program where the time has no
            sample of its own, as overlapping ranges of a thread; empty where there are no samples.
    """

    texts: list[str]
    next: str = ""


@dataclass(frozen=True)
class LineFinder:
    """Names lines; says nothing where there are no samples, or too few.

    Attributes:
        recording: whose samples they are.
        lines: the samples, by expression; None: there are none.
        loop: the ranges.
        files: the recording's files, as a shell takes them.
    """

    recording: Recording
    lines: Lines | None
    loop: Loop
    files: str

    def in_groups(
        self, groups: Set[int], name: str, what: str, *, inner: bool = True
    ) -> LineAnswer:
        """Within the ranges of groups, called `name`, and `what` in a sentence; without `inner`,
        in none inside."""
        return self._in(self.loop.pairs_in(groups), name, what, inner=inner)

    def called(self, name: str, what: str, *, inner: bool = True) -> LineAnswer:
        """Within the ranges of this name, likewise."""
        return self._in(self.loop.pairs_called(name), name, what, inner=inner)

    def in_steps(self) -> LineAnswer:
        """In steps, outside of any phase."""
        if self.lines is None:
            return LineAnswer([])
        part = self.lines.within_pairs(self.loop.pairs_in(self.loop.step_groups), inner=False)
        return self._of(part, "it")

    def outside_ranges(self) -> LineAnswer:
        """On the main thread, in no range."""
        if self.lines is None:
            return LineAnswer([])
        main = self.recording.filter(threads=[self.loop.main_thread])
        return self._of(main.lines("expression").outside(), "it")

    def in_pauses(self, gaps: LoopGaps, unit: str) -> LineAnswer:
        """Between steps."""
        if self.lines is None:
            return LineAnswer([])
        starts, ends = gains.pauses(self.loop, gaps)
        found = self.lines.shares([self.loop.thread_key(gaps.thread)], starts, ends)
        what = f"the time between {unit}s"
        texts = [line_text(self.lines, row, what) for row in hottest_share(found)]
        return LineAnswer(texts, self._command())

    def slower(self, effect: Effect, excess: float, which: str) -> list[str]:
        """The lines that have more time in slow steps, `which`; these take `excess` ns more."""
        if self.lines is None:
            return []
        return gains.told(self.lines, gains.steps(self.loop), effect, excess, which)

    def slower_pauses(
        self, gaps: LoopGaps, kept: Sequence[int], effect: Effect, excess: float, which: str
    ) -> list[str]:
        """Likewise of the pauses that are kept."""
        stretches = gains.kept_pauses(self.loop, gaps, kept)
        return gains.told(self.lines, stretches, effect, excess, which)

    def waiting(self, wait: LoopWait, what: str) -> LineAnswer:
        """The line that waits."""
        return LineAnswer([]) if self.loop.steps.is_floating else self.called(wait.name, what)

    def meanwhile(self, wait: LoopWait) -> list[str]:
        """The line where the thread was that was waited for, or where those were that ran."""
        return [] if self.lines is None else meanwhile.told(self.lines, self.loop, wait)

    def _in(
        self, pairs: Iterable[tuple[int, int]], name: str, what: str, *, inner: bool
    ) -> LineAnswer:
        if self.lines is None:
            return LineAnswer([])
        return self._of(self.lines.within_pairs(pairs, inner=inner), what, name)

    def _of(self, part: Lines, what: str, name: str = "") -> LineAnswer:
        row = hottest_row(part)
        texts = [] if row is None else [line_text(part, row, what)]
        return LineAnswer(texts, self._command(name if part.samples else ""))

    def _command(self, name: str = "") -> str:
        words = ["nvspan stats --lines", *([shlex.quote(name)] if name else []), self.files]
        return " ".join(words)
