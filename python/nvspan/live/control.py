# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Asks the recorder of a running process for another mode, or for a mark."""

from __future__ import annotations

import os

from nvspan.live.process import NoRecordingError, recordings_of
from nvspan.recorder import mode_config

_WAIT = 0.5  # seconds
_WAIT_FOR_PYTHON = 5.0  # until the main thread of a process is in Python code
_MOST_MARK = 256  # bytes


class Answer:
    """What became of a request to one recording.

    Attributes:
        file: the recording.
        kind: "obeyed"; "waiting": no thread of the process has had an event since, and the next one
            obeys; "refused"; "failed".
        text: the same in a sentence.
    """

    def __init__(self, file: str, kind: str, text: str) -> None:
        self.file = file
        self.kind = kind
        self.text = text


def _files(target: int | str | os.PathLike[str]) -> list[str]:
    text = str(target) if isinstance(target, int) else os.fspath(target)
    if text.isdigit() and not os.path.exists(text):
        return recordings_of(int(text))
    return [text]


def ask(
    target: int | str | os.PathLike[str],
    mode: str = "",
    ring_bytes: int = 0,
    mark: str = "",
    wait: float = _WAIT,
) -> list[Answer]:
    """Asks the process of a recording, or with this id.

    Args:
        target: a process id, or its recording.
        mode: "full", "ring" or "armed"; "": as it is.
        ring_bytes: the size of a ring; 0: the one it has, else 64 MB.
        mark: the text of a mark in the recording; "": none.
        wait: how many seconds to wait for the answer.

    Raises:
        ProcessLookupError: the process does not exist, or writes no recording.
        ValueError: the mark is longer than 256 bytes of UTF-8.
    """
    from nvspan import _reader

    if len(os.fsencode(mark)) > _MOST_MARK:
        raise ValueError(f"a mark has at most {_MOST_MARK} bytes, not {len(os.fsencode(mark))}")
    answers = []
    for path in _files(target):
        kind, why = _reader.live_ask(
            os.fsencode(path), mode, ring_bytes, os.fsencode(mark), int(wait * 1e9)
        )
        what = f"it is {mode} now" if mode else "the mark is written"
        text = {
            "obeyed": what,
            "waiting": "asked; no thread of it has had an event since, and the next one obeys",
            "refused": "refused: the recording keeps no events, is of mode stats, or others may "
            "write its file",
            "failed": why,
        }[kind]
        answers.append(Answer(path, kind, text))
    return answers


def start_or_arm(
    target: int | str | os.PathLike[str],
    mode: str = "full",
    path: str | os.PathLike[str] | None = None,
    wait: float = _WAIT_FOR_PYTHON,
) -> list[Answer]:
    """Has the process of a recording, or with this id, record events from now on.

    Where the process has no recorder, it gets one, if it and this one run on the same CPython, 3.14
    or newer. It then records what an `nvspan.record` in its own code would, into `path`.

    Args:
        target: a process id, or its recording.
        mode: "full", or "ring=MB"; "armed", for a process that has no recorder.
        path: the file of a process that has none; None: ``nvspan-{pid}.nvspan`` here.
        wait: for how many seconds to wait until such a process has got to it.

    Raises:
        ProcessLookupError: the process does not exist.
        nvspan.live.remote.NotArmedError: it has no recorder, and cannot be given one: the reason.
    """
    name, _, size = mode_config(mode).partition(":")
    try:
        return ask(target, name, int(size or 0))
    except NoRecordingError as error:
        from nvspan.live.remote import arm

        pid = error.pid
        told = arm(pid, mode, path, wait)
    if "waiting" in told:
        text = "asked; its main thread runs no Python code now, and begins when it does"
        return [Answer(f"process {pid}", "waiting", text)]
    notes = "".join(f"; {note}" for note in told["notes"])
    return [
        Answer(file, "obeyed", f"process {pid} records into it, {name}{notes}")
        for file in told["files"]
    ]
