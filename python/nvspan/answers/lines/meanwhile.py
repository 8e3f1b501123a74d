# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where other threads were while one waited."""

from __future__ import annotations

from nvspan._results.lines import ThreadTime
from nvspan._results.loops import LoopWait
from nvspan.loops.loop import Loop
from nvspan.recording.lines import Lines
from nvspan.recording.time_text import counted
from nvspan.report.hottest import hottest_share, line_text

_RAN = 0.15  # of the wait: a thread that may be what it waits for


def told(lines: Lines, loop: Loop, wait: LoopWait) -> list[str]:
    """The hottest line of the thread that was waited for; where no range says which one that is,
    of those that ran, if any did."""
    starts, ends = memoryview(wait.starts), memoryview(wait.ends)
    if wait.thread is not None:
        threads = [loop.thread_key(wait.thread)]
        who = f"thread '{loop.thread_name(wait.thread)}'"
    elif wait.of_requests or wait.waiter is None:
        return []
    else:
        ran = [one for one in lines.others(wait.waiter, starts, ends) if _ran(one, wait)]
        threads = [(one.process, one.tid) for one in ran]
        name = loop.name_of_key(threads[0]) if len(threads) == 1 else ""
        who = f"thread '{name}'" if name else counted(len(threads), "other thread")
    found = hottest_share(lines.shares(threads, starts, ends)) if threads else []
    return [line_text(lines, row, f"the wait in {who}") for row in found]


def _ran(one: ThreadTime, wait: LoopWait) -> bool:
    return one.running + one.ready >= _RAN * wait.total
