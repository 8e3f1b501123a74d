# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of GPU work: whether they can work here, waiting for them, and what became of them."""

from __future__ import annotations

import atexit

from nvspan import _core
from nvspan._runtime.info import device_losses


def _shut_down() -> None:
    """At exit: what the GPU has finished is still sent to the tool, and what was lost. Nothing
    waits long."""
    _core.device_shut_down(1.0)
    lost = device_losses()
    lost.pop("no_cuda", None)  # nothing ran that could have been shown
    if lost and _core.decided() and _core.is_active(None):
        from nvspan._device.losses import mark_losses

        mark_losses(lost)


atexit.register(_shut_down)


def device_available() -> bool:
    """Tell whether device ranges can be placed in this process now.

    False without a CUDA driver, before the program has initialised CUDA (nvspan never does), in a
    child forked after the parent used CUDA, and while the process ends. :func:`device_problem` says
    why. Any thread may call it.

    >>> import nvspan
    >>> nvspan.device_available() in (True, False)
    True
    """
    return _core.device_available()


def device_problem() -> str | None:
    """Say why no device range can be placed, or return None if they can.

    >>> import nvspan
    >>> (nvspan.device_problem() is None) == nvspan.device_available()
    True
    """
    if _core.device_available():
        return None
    problem = _core.device_problem()
    if problem:
        return problem
    return "CUDA is not initialized in this process"


def device_flush(timeout: float | None = None) -> bool:
    """Wait until every device range that has ended is over and told to the tool.

    Replays of CUDA graphs are known when the GPU has run them: synchronise their stream first.

    Args:
        timeout: Seconds to wait at most; None waits as long as the GPU takes.

    Returns:
        True if nothing is left, False if the time was over before.

    Raises:
        TypeError: ``timeout`` is no number.
        ValueError: ``timeout`` is negative.

    Other threads run meanwhile. In a forked child, and without CUDA, it returns at once.

    >>> import nvspan
    >>> nvspan.device_flush()
    True
    """
    if timeout is None:
        while not _core.device_flush(0.1):
            pass  # comes back to Python for signals
        return True
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds or None, not {timeout!r}")
    if not timeout >= 0:
        raise ValueError(f"timeout must not be negative, but is {timeout!r}")
    return _core.device_flush(float(timeout))


def device_stats() -> dict[str, int]:
    """Return how many device ranges were placed, told to the tool, and lost, by reason.

    Keys: ``begun``; ``sent_callback`` and ``sent_exact``; ``timed``; and what was not shown:
    ``no_cuda``, ``capture_boundary`` (open across the beginning or end of a capture),
    ``capture_skipped``, ``capture_refused``, ``ambiguous`` (replays of one graph at once),
    ``overrun`` and ``unpaired`` (stamps of graph replays), ``full``, ``context_lost``,
    ``tool_gone``, ``driver_error``, ``not_taken`` (``backend="exact"`` with a tool that takes no
    deferred events, and any backend under Nsight Compute), ``at_exit``.

    >>> import nvspan
    >>> nvspan.device_stats()["ambiguous"]
    0
    """
    return _core.device_counts()
