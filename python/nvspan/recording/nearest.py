# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names that are spelled like one that is not known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.5) -> list[str]:
    """The names of `known` that are most like `word`, the most like it first; `cutoff` (0 to 1) is
    how like it they must be.

    >>> nearest("stpe", ["loss", "step"])
    ['step']
    """
    from difflib import get_close_matches

    return get_close_matches(word, sorted(known), most, cutoff)


def hint(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown `word`: the nearest name, or nothing.

    >>> hint("stpe", ["loss", "step"])
    "; the nearest is 'step'"
    """
    found = nearest(word, known)
    return f"; the nearest is {found[0]!r}" if found else ""
