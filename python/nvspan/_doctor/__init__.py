# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of `nvspan.doctor`: of the process, its tools and its devices."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Finding:
    """One result of a check, whose `name` it gets; `status` is "ok", "note" or "problem"."""

    __slots__ = ("advice", "details", "name", "status", "text")

    def __init__(self, status: str, text: str, advice: str | None = None, **details: Any) -> None:
        self.name = ""
        self.status = status
        self.text = text
        self.advice = advice
        self.details = details

    def as_dict(self) -> dict[str, Any]:
        names = ("name", "status", "text", "advice", "details")
        return {name: getattr(self, name) for name in names}
