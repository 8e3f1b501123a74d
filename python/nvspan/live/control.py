# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Asks the recorder of a running process for another mode."""

from __future__ import annotations

import os

from nvspan.live.process import recordings_of

_WAIT = 0.5  # seconds


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
    target: int | str | os.PathLike[str], mode: str, ring_bytes: int = 0, wait: float = _WAIT
) -> list[Answer]:
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
    for path in _files(target):
        kind, why = _reader.live_ask(os.fsencode(path), mode, ring_bytes, int(wait * 1e9))
        text = {
            "obeyed": f"it is {mode} now",
            "waiting": "asked; no thread of it has had an event since, and the next one obeys",
            "refused": "refused: the recording is of mode stats, or others may write its file",
            "failed": why,
        }[kind]
        answers.append(Answer(path, kind, text))
    return answers
