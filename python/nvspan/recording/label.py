# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How ranges are called, everywhere that one stands alone, and the patterns that take them."""

from __future__ import annotations

from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PROFILE_DOMAIN = "nvtx.py"  # of the calls that a profile shows: their names say where they are


def label(domain: str | None, name: str | None, backward: bool = False) -> str:
    """``domain:name``, the name alone in the default domain and of the calls of a profile.

    Characters that have no shape are left as they are.

    >>> label("torch", "blocks.1", backward=True)
    'torch:blocks.1 (backward)'
    """
    text = "-" if name is None else name
    if domain not in (None, PROFILE_DOMAIN):
        text = f"{domain}:{text}"
    return f"{text} (backward)" if backward else text


def printable(text: str) -> str:
    """`text` in one line, with escapes for what has no shape and for bytes that are no UTF-8."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def matches(patterns: Iterable[str], domain: str | None, name: str | None) -> bool:
    """Whether a pattern (* and ?) takes the name, or ``domain:name``; NVTX is the default domain.

    >>> matches(["lib:l*"], "lib", "load"), matches(["NVTX:load"], None, "load")
    (True, True)
    """
    short, whole = name or "", f"{domain or 'NVTX'}:{name or ''}"
    return any(fnmatchcase(short, each) or fnmatchcase(whole, each) for each in patterns)
