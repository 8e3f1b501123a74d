# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the process of a recording still runs, and what it was in when it ended."""

from __future__ import annotations

import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results import RecordedProcess


@cache
def boot_id() -> str:
    """What identifies the boot of this machine; "" where nothing does."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def is_writing(pid: int, path: str) -> bool | None:
    """Whether the process has the file mapped; None: the system does not say."""
    try:
        status = os.stat(path)
        with open(f"/proc/{pid}/maps", "rb") as file:
            maps = file.read().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    inode = str(status.st_ino)
    return any(
        len(fields) > 5 and fields[4] == inode
        for fields in (line.split(None, 5) for line in maps.splitlines())
    )


def is_running(process: RecordedProcess) -> bool | None:
    """Whether the process still writes the recording; None: it is of another boot or machine."""
    if process.closed:
        return False
    if not process.boot_id or process.boot_id.strip() != boot_id():
        return None
    writes = is_writing(process.pid, process.path)
    return os.path.exists(f"/proc/{process.pid}") if writes is None else writes


def ended_in_a_range(process: RecordedProcess) -> bool:
    """Whether a range was open when a process that did not close its recording ended."""
    from nvspan import _reader

    (sample,) = _reader.LiveFiles([os.fsencode(process.path)]).sample()
    return not isinstance(sample, str) and any(
        thread.open or thread.started or thread.changing for thread in sample.threads
    )
