# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs code of this process with a tool of ours attached, or with none."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers.traced import LIBRARY, Traced, read_events
from nvspan import _core

STATES = ["idle", "active"] if LIBRARY else ["idle"]


class Trace(Traced):
    """What was emitted while a `listening` block ran; filled at its end, empty if idle."""

    def opened(self) -> list[Any]:
        """The messages of ranges in the order of their starts."""
        calls = self.calls("kind", "message")
        return [message for kind, message in calls if kind in ("push", "start")]

    def balanced(self) -> bool:
        """Every push has its pop and every start its end, with the same message."""
        stacks: dict[Any, list[Any]] = {}
        spans: dict[Any, Any] = {}
        for event in self.events:
            kind, key = event["kind"], (event.get("tid"), event.get("domain"))
            if kind == "push":
                stacks.setdefault(key, []).append(event["message"])
            elif kind == "pop":
                if not stacks.get(key) or stacks[key].pop() != event["message"]:
                    return False
            elif kind == "start":
                spans[event["id"]] = event["message"]
            elif kind == "end" and spans.pop(event["id"], None) != event["message"]:
                return False
        return not spans and not any(stacks.values())


@contextlib.contextmanager
def listening(state: str) -> Iterator[Trace]:
    """With "active", attaches the injection library for the length of the block."""
    trace = Trace()
    if state == "idle":
        yield trace
        return
    with tempfile.TemporaryDirectory(prefix="nvspan-listening-") as folder:
        file = Path(folder) / "trace.jsonl"
        _core.attach(LIBRARY, f"format=jsonl;file={file}")
        try:
            yield trace
        finally:
            _core.detach()
        trace.events = read_events(file)
