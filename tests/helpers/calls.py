# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that Profile shows, as text: `f(g h(i))` is f, which called g, and h, which called i."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from helpers.events import plain


def shown(events: Iterable[dict[str, Any]]) -> str:
    """The events of one thread; every push must have its pop."""
    stack: list[str] = []
    words: list[str] = []
    for line in plain(events):
        kind, _, name = line.split(" depth=")[0].split(" category=")[0].split(" ", 2)
        name = name.strip("'")
        if kind == "push":
            if words and words[-1] == "(":
                words.append(name)
            else:
                words.append(" " + name)
            words.append("(")
            stack.append(name)
        else:
            assert stack
            assert stack.pop() == name
            if words[-1] == "(":
                words.pop()
            else:
                words.append(")")
    assert not stack, f"never popped: {stack}"
    return "".join(words).strip()
