# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which recordings are meant by process ids, files, folders and patterns."""

from __future__ import annotations

import os

from nvspan.live.process import recordings_of
from nvspan.ranks.paths import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def paths_of(targets: Sequence[Any]) -> list[str]:
    """The files that `targets` stand for, each once.

    Raises:
        ValueError: there is none, or one of the targets stands for none.
        ProcessLookupError: a process does not exist, or writes no recording.
    """
    found: dict[str, None] = {}
    flat: list[Any] = []
    for target in targets:
        single = isinstance(target, (int, str, os.PathLike))
        flat += [target] if single else list(target)
    if not flat:
        raise ValueError("where() needs a process id, or the path of a recording")
    for target in flat:
        text = str(target) if isinstance(target, int) else os.fspath(target)
        if text.isdigit() and not os.path.exists(text):
            found.update(dict.fromkeys(recordings_of(int(text))))
            continue
        if os.path.isdir(text) and not any(n.endswith(".nvspan") for n in os.listdir(text)):
            raise ValueError(f"no recording is in the folder {text!r}")
        found.update(dict.fromkeys(expand([text])))
    return list(found)
