# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How ranges are called, everywhere that one stands alone."""

from __future__ import annotations


def label(domain: str | None, name: str | None, backward: bool = False) -> str:
    """``domain:name``, the name alone in the default domain; names that have no shape as they are.

    >>> label("torch", "blocks.1", backward=True)
    'torch:blocks.1 (backward)'
    """
    text = "-" if name is None else name
    if domain is not None:
        text = f"{domain}:{text}"
    return f"{text} (backward)" if backward else text
