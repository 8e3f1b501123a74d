# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The black box: triggers, and the bundles of last seconds that they write.

The watching is C++ on a thread of its own, which works while this process holds the GIL forever:
it must need nothing of what is here. Start with `syntax.py`, then `watching.py`.
"""

from __future__ import annotations

import os

from nvspan.launch import CONFIG_VARIABLE, TRIGGER_VARIABLE

_pending: list[str] = []  # reasons of calls that came while `watching` was being imported


def trigger(why: str) -> bool:
    """Keeps the last seconds of this process, and of the others that record into its folder.

    A thread of nvspan writes them into a new folder, a bundle, next to the recordings. This call
    waits for it without the GIL, 10 s at most. Reports read a bundle as they read files.

    Args:
        why: a note stored in the bundle.

    Returns:
        Whether a bundle holds it. Where nothing is recorded, nothing happens.

    It may be called from any thread, in a Python signal handler, and in a forked child.

    >>> import nvspan
    >>> nvspan.trigger("the loss is not a number")                       # doctest: +SKIP
    True
    """
    if not isinstance(why, str):
        raise TypeError(f"why must be a str, not {type(why).__name__}")
    try:
        from nvspan.blackbox.watching import ask
    except ImportError:  # a signal's handler interrupts that very import, which goes on after it
        _pending.append(why)
        return False
    while _pending:
        ask("asked", _pending.pop(0))
    return ask("asked", why)


def start_from_environment() -> None:
    """Watches this process if NVSPAN_TRIGGER is set. Called by ``import nvspan``.

    Where the environment says that something is recorded, what `trigger` needs is imported now: the
    import system of CPython 3.11 does not survive an import in a signal's handler that interrupts
    one.
    """
    if os.environ.get(TRIGGER_VARIABLE):
        from nvspan.blackbox.watching import start_from_environment

        start_from_environment()
    elif os.environ.get(CONFIG_VARIABLE) or os.environ.get("NVSPAN_RECORD"):
        import nvspan.blackbox.watching  # noqa: F401
