# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The half-private name of ``nvtx._lib.profiler``, with that package's defaults."""

from __future__ import annotations

import nvspan.profiler

__all__ = ["Profile"]


class Profile(nvspan.profiler.Profile):
    """:class:`nvspan.Profile` that shows C functions, too, unless told otherwise."""

    __slots__ = ()

    def __init__(self, linenos: bool = True, annotate_cfuncs: bool = True) -> None:
        super().__init__(linenos, annotate_cfuncs)
