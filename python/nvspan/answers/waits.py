# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Waits of the loop's thread, and what the thread that it waited for did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nvspan._results.loops import LoopWait
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.words import quoted, time_each
from nvspan.recording.listing import listing
from nvspan.recording.time_text import counted, percent

_WAIT = 0.1  # of the time from the first to the last step
_MAX_NAMED = 2


def large_waits(waits: Sequence[LoopWait], span: int) -> list[LoopWait]:
    """Those that take a tenth of `span` ns or more."""
    return [wait for wait in waits if wait.total >= _WAIT * span]


def wait_findings(
    waits: Sequence[LoopWait], thread_name: Callable[[int], str], span: int, run: int
) -> Iterator[Finding]:
    """A finding for each of the waits in `span` ns of a run of `run` ns."""
    for wait in waits:
        text = f"{quoted(wait.name)} waits {percent(wait.total / span)} of the time"
        evidence = [f"{counted(wait.calls, 'call')}, {time_each(wait.total, wait.calls)}"]
        advice = ""
        if wait.thread is None:
            if wait.others:
                evidence.append("no other thread is in a range for most of it")
            else:
                evidence.append("no other thread has a range meanwhile")
            advice = "put ranges into the thread that it waits for"
        else:
            evidence += _meanwhile(wait, thread_name(wait.thread))
        is_cause = any(other.ends_it for other in wait.meanwhile)
        certainty = MEASURED if is_cause or wait.thread is None else LIKELY
        yield Finding("wait", text, certainty, evidence, advice, min(wait.total / run, 1.0))


def _meanwhile(wait: LoopWait, thread: str) -> Iterator[str]:
    shares = [
        f"{quoted(other.name)} ({percent(min(other.share, 1.0))} of the wait)"
        for other in wait.meanwhile[:_MAX_NAMED]
    ]
    yield f"meanwhile thread '{thread}' runs {listing(shares)}"
    if any(other.ends_it for other in wait.meanwhile):
        ends = [other.name for other in wait.meanwhile if other.ends_it]
        yield f"the wait ends when {quoted(ends[0])} ends"
