# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The black box: what triggers are, the watcher of a process or a folder, and what a bundle holds
beside its recordings. The watching itself is C++ on a thread of its own; nothing here may be needed
for it, so that it works while this process holds the GIL for ever.

Start with `syntax.py`, which has the triggers, then `watching.py`.
"""

from __future__ import annotations

from nvspan.launch import TRIGGER_VARIABLE


def trigger(why: str) -> bool:
    """Keeps the last seconds of this process, and of the others that record into its folder.

    A thread of nvspan's writes them into a new folder, a bundle, beside the recordings; this call
    only asks for it. Reports read a bundle as they read files.

    Args:
        why: a sentence for those who find the bundle.

    Returns:
        Whether this process writes a recording; where it does not, nothing happens.

    It may be called from any thread, in a signal handler of Python's, and in a forked child.

    >>> import nvspan
    >>> nvspan.trigger("the loss is not a number")                       # doctest: +SKIP
    True
    """
    if not isinstance(why, str):
        raise TypeError(f"why must be a str, not {type(why).__name__}")
    from nvspan.blackbox.watching import ask

    return ask("asked", why)


def start_from_environment() -> None:
    """Watches this process where NVSPAN_TRIGGER asks for it. It is called by ``import nvspan``."""
    import os

    if not os.environ.get(TRIGGER_VARIABLE):
        return
    from nvspan.blackbox.watching import start_from_environment

    start_from_environment()
