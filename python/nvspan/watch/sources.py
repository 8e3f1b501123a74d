# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which recordings are watched: those of this process, of others, of folders and patterns."""

from __future__ import annotations

import os

from nvspan import _reader
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
        return _without_copies(list(found)), problems


def _without_copies(paths: list[str]) -> list[str]:
    """Without the frozen copies in bundles of processes whose own recordings are there as well; of
    several copies the last."""
    headers = _reader.LiveFiles([os.fsencode(path) for path in paths]).headers()
    own: set[tuple[str, int]] = set()
    copies: dict[tuple[str, int], str] = {}
    for path, header in zip(paths, headers, strict=True):
        if isinstance(header, str):
            continue
        of = (header.boot_id, header.pid)
        if header.frozen:
            copies[of] = path
        else:
            own.add(of)
    kept = {path for of, path in copies.items() if of not in own}
    return [path for path, header in zip(paths, headers, strict=True)
            if isinstance(header, str) or not header.frozen or path in kept]  # fmt: skip
