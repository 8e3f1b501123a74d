# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A live view of nvspan's events in the running process."""

from __future__ import annotations

import os

from nvspan import launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class trace(launch._Attachment):
    """Shows the annotations of this process as they happen, from `start` to `stop`.

    It attaches nvspan's injection library to nvspan itself, so it sees what goes through nvspan:
    other libraries' NVTX calls are seen only by ``nvspan trace``, which starts the program itself.
    Every annotation is shown, also one that was created, decorated or cached long before. A range
    that was open when tracing started has no beginning and no end in the trace.

    Args:
        path: the file to write, emptied when tracing starts for the first time; None writes to
            standard error.
        format: "text" for people, "jsonl" for one JSON object per line.
        domains: the names of the domains to show ("NVTX" is the default domain); None shows all.

    Raises:
        ValueError: an unknown format.

    `start` and `stop` may be repeated, from any thread: each start goes on in the same file. The
    events of every thread are shown. A forked child goes on tracing into the same file; a program
    started by other means is not traced.

    >>> import nvspan
    >>> with nvspan.trace("steps.txt"):                                  # doctest: +SKIP
    ...     with nvspan.annotate("step"):
    ...         pass
    """

    _noun = "trace"
    _done = "traced"

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        format: str = "text",
        domains: Iterable[str] | None = None,
    ) -> None:
        if isinstance(domains, str):
            raise TypeError(
                f"domains must be a list of names, not {domains!r}; write [{domains!r}]"
            )
        self._path = None if path is None else os.path.abspath(os.fsdecode(path))
        super().__init__(launch.config_string(format, self._path, domains))
        self._emptied = False

    def _before_attaching(self) -> None:
        if self._path is not None and not self._emptied:
            launch.empty_file(self._path)
            self._emptied = True
