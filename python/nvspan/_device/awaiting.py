# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Awaiting the handle of a device range."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from nvspan._core import DeviceRangeHandle


def wait(handle: DeviceRangeHandle) -> Generator[Any, Any, float | None]:
    """For the extension module: awaits a handle, in asyncio or trio."""
    return _wait(handle).__await__()


async def _wait(handle: DeviceRangeHandle) -> float | None:
    sleep = _sleep_function()
    pause = 0.0
    while not handle.done():
        await sleep(pause)
        pause = min(pause + 0.0001, 0.002)
    return handle.elapsed()


def _sleep_function() -> Callable[[float], Any]:
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
            return trio.sleep  # type: ignore[no-any-return]
        except RuntimeError:
            pass
    import asyncio

    return asyncio.sleep
