# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results about Python's stacks in processes that run. Times are ns."""

from __future__ import annotations

from nvspan._result import Result


class LiveFrame(Result):
    """A frame of a Python stack."""

    file: str | None  #: the source file; None: unknown
    function: str | None  #: its qualified name, on CPython 3.10 its name; None: unknown
    line: int | None  #: None: unknown
    end_line: int | None  #: the last line of the expression
    column: int | None  #: where the expression starts, in bytes of UTF-8; None: unknown
    end_column: int | None  #: where it ends
    c_function: str | None  #: the C function that it called and is in; None: none, or unknown


class LiveStack(Result):
    """The newest sample of a thread."""

    tid: int  #: its number
    frames: tuple[LiveFrame, ...]  #: the innermost first, at most 512
    shown: int  #: the innermost that is not hidden, by its index; 0 where all are
    state: str  #: "running", "waiting" or "ready": it waited for a CPU core
    held: int  #: from the first of the newest samples at the line of `shown` to the last look
    at_least: bool  #: whether the thread may have been there before: older samples are not read


class LiveStacks(Result):
    """The Python threads of a process."""

    looked: int | None  #: how long ago the sampler wrote last; None: never, or not known
    threads: list[LiveStack]  #: by `tid`; at most 4,096


STACK_RESULTS = (LiveFrame, LiveStack, LiveStacks)
