# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes by ``/proc``: their state, their threads, the recordings that they write."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Target = int | str | os.PathLike[str]

_STATES = {
    "R": "running",
    "S": "sleeping",
    "I": "sleeping",
    "D": "waiting for a device",
    "T": "stopped",
    "t": "stopped by a debugger",
    "Z": "dead",
    "X": "dead",
}
_SUFFIX = ".nvspan"
GONE = "gone"


def _stat(path: str) -> list[str] | None:
    """The fields of a ``stat`` file from the state on; None: there is no such thread."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    return text[text.rfind(")") + 2 :].split()


def state_of(pid: int) -> str:
    """`GONE`, or the state of a process in a word."""
    fields = _stat(f"/proc/{pid}/stat")
    return GONE if fields is None else _STATES.get(fields[0], fields[0])


def thread_state(pid: int, tid: int) -> tuple[str, float] | None:
    """The state of a thread, and the seconds of processor time that it had; None: it is gone."""
    fields = _stat(f"/proc/{pid}/task/{tid}/stat")
    if fields is None or len(fields) < 13:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return _STATES.get(fields[0], fields[0]), ticks / os.sysconf("SC_CLK_TCK")


def recordings_of(pid: int) -> list[str]:
    """The recordings that a process writes now.

    Raises:
        ProcessLookupError: it writes none, or there is no such process.
        PermissionError: it is another user's.
    """
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            maps = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise ProcessLookupError(f"there is no process {pid}") from None
    except PermissionError:
        why = "permission denied; run as the same user or as root"
        raise PermissionError(f"cannot inspect process {pid}: {why}") from None
    found: dict[str, None] = {}
    for line in maps.splitlines():
        fields = line.split(None, 5)
        if len(fields) < 6 or _SUFFIX not in fields[5] or not fields[1].endswith("s"):
            continue
        path = fields[5].rstrip("\n")
        for candidate in (path, f"/proc/{pid}/root{path}"):
            if _is_recording(candidate):
                found[candidate] = None
                break
    if not found:
        raise ProcessLookupError(
            f"process {pid} writes no recording; start it with NVSPAN_RECORD=armed, or with "
            "'nvspan record --mode armed script.py'"
        )
    return list(found)


def _is_recording(path: str) -> bool:
    from nvspan import _reader

    return _reader.file_header(os.fsencode(path)) is not None


def recordings_named(text: str) -> list[str] | None:
    """`recordings_of` the process that `text` is the id of; None: it is a path."""
    return recordings_of(int(text)) if text.isdigit() and not os.path.exists(text) else None


def paths_of(targets: Iterable[Target | Iterable[Target]]) -> list[str]:
    """The recordings that process ids, files, folders and patterns stand for, each once.

    Raises:
        ValueError: there is none, or one of the targets stands for none.
        ProcessLookupError: a process does not exist, or writes no recording.
    """
    from nvspan.ranks.paths import expand, is_folder

    flat: list[Target] = []
    for target in targets:
        flat += [target] if isinstance(target, (int, str, os.PathLike)) else list(target)
    if not flat:
        raise ValueError("where() needs a process id, or the path of a recording")
    found: list[str] = []
    for target in flat:
        text = str(target) if isinstance(target, int) else os.fspath(target)
        of_process = recordings_named(text)
        if of_process is not None:
            found += of_process
            continue
        if os.path.isdir(text) and not is_folder(text):
            raise ValueError(f"no recording is in the directory {text!r}")
        found += expand([text])
    return list(dict.fromkeys(found))
