# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the handles of nvspan.torch have in common: a block takes away what it put in place."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeVar

    _Handle = TypeVar("_Handle", bound="Removable")


class Removable:
    """A handle with ``remove()``; as a context manager it calls that at the end of the block."""

    def remove(self) -> None:
        """Take away what the handle stands for. A second call does nothing."""
        raise NotImplementedError

    def __enter__(self: _Handle) -> _Handle:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()
