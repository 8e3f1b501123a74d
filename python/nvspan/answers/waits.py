# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Waits of the loop's thread or of requests, and what those that they waited for did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nvspan._results.loops import LoopMeanwhile, LoopWait
from nvspan.answers.changes import Indices
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.words import quoted, time_each
from nvspan.loops.loop import Loop
from nvspan.loops.vocabulary import is_wait
from nvspan.recording.listing import listing
from nvspan.recording.time_text import counted, percent

_WAIT = 0.1  # of the time from the first to the last step
_MAX_NAMED = 2


def large_waits(waits: Sequence[LoopWait], span: int) -> list[LoopWait]:
    """Those that take a tenth of `span` ns or more."""
    return [wait for wait in waits if wait.total >= _WAIT * span]


def wait_findings(
    waits: Sequence[LoopWait],
    thread_name: Callable[[int], str],
    span: int,
    run: int,
    lines: LineFinder,
    whose: str = "the time",
) -> Iterator[Finding]:
    """A finding for each of the waits in `span` ns, which are `whose`, of a run of `run` ns."""
    for wait in waits:
        place, others = lines.waiting(wait, quoted(wait.name)), lines.meanwhile(wait)
        text = f"{quoted(wait.name)} waits {percent(wait.total / span)} of {whose}"
        evidence = [f"{counted(wait.calls, 'call')}, {time_each(wait.total, wait.calls)}"]
        advice = ""
        if wait.meanwhile:
            evidence += _meanwhile(wait, thread_name)
        elif not others:
            if wait.others:
                evidence.append("no other thread is in a range for most of it")
            else:
                evidence.append("no other thread has a range meanwhile")
            advice = place.next or "put ranges into the thread that it waits for"
        evidence += [*place.texts, *others]
        is_cause = any(other.ends_it for other in wait.meanwhile)
        certainty = MEASURED if is_cause or not wait.meanwhile else LIKELY
        yield Finding("wait", text, certainty, evidence, advice, min(wait.total / run, 1.0))


def holder_lines(loop: Loop, which: Indices, name: str, lines: LineFinder) -> list[str]:
    """What was done by whom the steps `which` waited for in ranges of this name; empty: it is no
    wait, or does not end with what another thread does."""
    if not is_wait(name):
        return []
    for wait in loop.waits_of(which):
        if wait.name == name and any(other.ends_it for other in wait.meanwhile):
            return [*_meanwhile(wait, loop.thread_name), *lines.meanwhile(wait)]
    return []


def _meanwhile(wait: LoopWait, thread_name: Callable[[int], str]) -> Iterator[str]:
    thread = None if wait.thread is None else thread_name(wait.thread)
    return meanwhile_lines(wait.meanwhile, thread, "wait", "the wait ends")


def meanwhile_lines(
    meanwhile: Sequence[LoopMeanwhile], thread: str | None, wait: str, end: str
) -> Iterator[str]:
    """What a thread, or without one the other requests, did during a wait: `wait` is what that is
    called, `end` says that it is over."""
    shares = [
        f"{quoted(other.name)} ({percent(min(other.share, 1.0))} of the {wait})"
        for other in meanwhile[:_MAX_NAMED]
    ]
    who = "other requests run" if thread is None else f"thread '{thread}' runs"
    yield f"meanwhile {who} {listing(shares)}"
    if ends := [other.name for other in meanwhile if other.ends_it]:
        yield f"{end} when {quoted(ends[0])} ends"
