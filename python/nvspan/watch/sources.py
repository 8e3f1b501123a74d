# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which recordings are watched: those of this process, of others, of folders and patterns."""

from __future__ import annotations

import os

from nvspan.live.process import recordings_of
from nvspan.live.targets import paths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Sources:
    """Looked up again at every reading: patterns and folders get the files of new processes.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process.
    """

    def __init__(self, targets: Sequence[Any]) -> None:
        for target in targets:
            if isinstance(target, bool) or not isinstance(target, (int, str, os.PathLike)):
                raise TypeError(f"a target must be a process id or a path, not {target!r}")
        self._targets = tuple(targets)

    def paths(self) -> tuple[list[str], list[str]]:
        """(the files that are there now, why a target stands for none)."""
        found: dict[str, None] = {}
        problems = []
        for target in self._targets or (os.getpid(),):
            try:
                of = recordings_of(target) if isinstance(target, int) else paths_of([target])
            except (ValueError, OSError) as error:
                problems.append(str(error))
                continue
            for path in of:
                if os.path.exists(path):
                    found[path] = None
                else:
                    problems.append(f"{path}: there is no such file")
        return list(found), problems
