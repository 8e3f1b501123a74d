# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The black box: triggers, and the bundles of last seconds that they write.

The watching is C++ on a thread of its own, which works while this process holds the GIL forever:
it must need nothing of what is here. Start with `syntax.py`, then `watching.py`.
"""

from __future__ import annotations

from nvspan.launch import TRIGGER_VARIABLE


def trigger(why: str) -> bool:
    """Keeps the last seconds of this process, and of the others that record into its folder.

    A thread of nvspan writes them into a new folder, a bundle, next to the recordings; this call
    only requests it. Reports read a bundle as they read files.

    Args:
        why: a note stored in the bundle.

    Returns:
        Whether this process writes a recording; where it does not, nothing happens.

    It may be called from any thread, in a Python signal handler, and in a forked child.

    >>> import nvspan
    >>> nvspan.trigger("the loss is not a number")                       # doctest: +SKIP
    True
    """
    if not isinstance(why, str):
        raise TypeError(f"why must be a str, not {type(why).__name__}")
    from nvspan.blackbox.watching import ask

    return ask("asked", why)


def start_from_environment() -> None:
    """Watches this process if NVSPAN_TRIGGER is set. Called by ``import nvspan``."""
    import os

    if not os.environ.get(TRIGGER_VARIABLE):
        return
    from nvspan.blackbox.watching import start_from_environment

    start_from_environment()
