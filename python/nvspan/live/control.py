# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to the recorder of a running process: another mode, samples of its lines."""

from __future__ import annotations

import os
from typing import NamedTuple

from nvspan.live.process import recordings_named

_WAIT = 0.5  # seconds
_GONE = {"killed": "its process was killed", "ended": "its process has ended"}


class Answer(NamedTuple):
    """What became of a request to one recording."""

    file: str  #: the recording
    #: "obeyed"; "waiting": no thread of the process has had an event since the request, which takes
    #: effect at the next one; "refused"; "failed"
    kind: str
    text: str  #: the same in a sentence


def send_request(target: str, mode: str, ring_bytes: int = 0, wait: float = _WAIT) -> list[Answer]:
    """Asks the process of a recording, or with this id.

    Args:
        target: a process id, or its recording.
        mode: "full", "ring" or "armed".
        ring_bytes: the size of a ring; 0: the one it has, else 64 MB.
        wait: how many seconds to wait for the answer.

    Raises:
        ProcessLookupError: the process does not exist, or writes no recording.
    """
    from nvspan import _reader

    answers = []
    for path in recordings_named(target) or [target]:
        kind, why = _reader.live_ask(os.fsencode(path), mode, ring_bytes, int(wait * 1e9))
        if kind == "waiting" and (gone := _GONE.get(_state_of(path))):
            kind, why = "failed", gone
        text = {
            "obeyed": f"it is {mode} now",
            "waiting": "request sent; it takes effect at the process's next NVTX event (none in "
            f"{wait:g} s)",
            "refused": "refused: the recording is of mode stats, or others may write its file",
            "failed": why,
        }[kind]
        answers.append(Answer(path, kind, text))
    return answers


def request_lines(target: str, *, on: bool, wait: float = _WAIT) -> list[Answer]:
    """Asks the process of a recording, or with this id, to sample its lines, or to stop.

    Lines that nobody asked for, as the process was started with them, are sampled on.

    Raises:
        ProcessLookupError: the process does not exist, or writes no recording.
    """
    from nvspan import _reader

    answers = []
    for path in recordings_named(target) or [target]:
        kind, why = _reader.live_ask_lines(os.fsencode(path), 0 if on else -1, int(wait * 1e9))
        if kind == "waiting" and (gone := _GONE.get(_state_of(path))):
            kind, why = "failed", gone
        text = {
            "obeyed": f"its lines are {'' if on else 'no longer '}sampled",
            "waiting": f"request sent; its sampler has not answered in {wait:g} s",
            "refused": "refused: it has no sampler; start it with NVSPAN_RECORD_LINES=armed",
            "failed": why,
        }[kind]
        answers.append(Answer(path, kind, text))
    return answers


def _state_of(path: str) -> str:
    """What the process of a recording does, as `Process.state`; "": the file cannot be read."""
    from nvspan.live import where

    return next((process.state for process in where(path, samples=1).processes), "")
