# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What frameworks add to nvspan; each file of `nvspan._adapters` is about one of them.

Nothing here imports a framework: an entry names the module that a program imports, and holds what
is to be called once that is there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class EmitTarget:
    """Where ranges and marks may go beside NVTX: `follow` is called once `module` is imported."""

    __slots__ = ("follow", "module", "switch")

    def __init__(
        self, module: str, switch: Callable[[bool], object], follow: Callable[[], None]
    ) -> None:
        self.module = module
        self.switch = switch
        self.follow = follow


# The name that `configure(emit=...)` knows it by -> the target.
emit_targets: dict[str, EmitTarget] = {}

# What a recording of its own process sees too late if it was imported before.
callers_of_nvtx: list[str] = ["nvtx"]
