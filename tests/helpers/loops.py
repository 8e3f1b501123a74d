# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The events of models and training loops, in short.

`signs`: `+a`, `-a` for a push and its pop, `<a`, `>a` for a start and its end, `.a` for a mark.
`in_short`, in one line: `step:0( next forward( 0 ) backward ) .mark`. A range that holds nothing is
its name, another holds what is between its brackets. Domains other than `torch` follow after an at
sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

NUMBERED = ("step", "iteration", "h2d")  # ranges whose payload is shown
SIGNS = {"push": "+", "pop": "-", "start": "<", "end": ">", "mark": "."}
SHORT = {"dataloader.next": "next", "optimizer.step": "opt", "zero_grad": "zero"}


def signs(events: Iterable[dict[str, Any]]) -> list[str]:
    """Of all processes and threads, in their order."""
    return [
        SIGNS[event["kind"]] + (event["message"] or "")
        for event in events
        if event["kind"] in SIGNS
    ]


def in_short(events: Iterable[dict[str, Any]]) -> str:
    """Of one process and thread."""
    words: list[str] = []
    for event in events:
        name = SHORT.get(event.get("message"), event.get("message"))
        if event["kind"] == "push" and name in NUMBERED and event["payload_type"] == "i64":
            name += f":{event['payload']}"
        domain = event.get("domain")
        name = name if domain in ("torch", None) else f"{name}@{domain}"
        if event["kind"] == "push":
            words.append(f"{name}(")
        elif event["kind"] == "pop" and words and words[-1].endswith("("):
            words[-1] = words[-1][:-1]
        elif event["kind"] == "pop":
            words.append(")")
        elif event["kind"] == "mark":
            words.append(f".{name}")
        elif event["kind"] in ("start", "end"):
            words.append(SIGNS[event["kind"]] + name)
    return " ".join(words)


def by_case(events: Iterable[dict[str, Any]], show: Callable[[list[Any]], Any]) -> dict[str, Any]:
    """What `show` makes of each case's calls, which follow the mark `case NAME`."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] == "mark" and (event["message"] or "").startswith("case "):
            current = cases.setdefault(event["message"].removeprefix("case "), [])
        elif event["kind"] in SIGNS:
            current.append(event)
    return {name: show(of_case) for name, of_case in cases.items()}
