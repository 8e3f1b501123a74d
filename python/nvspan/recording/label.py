# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How ranges are called, everywhere that one stands alone."""

from __future__ import annotations

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
