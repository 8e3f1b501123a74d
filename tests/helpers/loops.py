# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The events of training loops in one line: `step:0( next forward( 0 ) backward ) .mark`.

A range that holds nothing is its name, another holds what is between its brackets; `<a` and `>a`
start and end one that does not nest. Domains other than `torch` follow after an at sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NUMBERED = ("step", "iteration", "h2d")  # ranges whose payload is shown
SHORT = {"dataloader.next": "next", "optimizer.step": "opt", "zero_grad": "zero"}


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
            words.append({"start": "<", "end": ">"}[event["kind"]] + name)
    return " ".join(words)


def by_case(events: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Each case after the mark `case NAME`, in short."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] == "mark" and event["message"].startswith("case "):
            current = cases.setdefault(event["message"].removeprefix("case "), [])
        elif event["kind"] in ("push", "pop", "mark", "start", "end"):
            current.append(event)
    return {name: in_short(of_case) for name, of_case in cases.items()}
