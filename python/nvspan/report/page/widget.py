# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page's timeline and flame graph as a fragment that any HTML document may hold."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from nvspan.recording import Recording
from nvspan.recording.steps import Steps
from nvspan.report.page import data
from nvspan.report.page.bundle import script, source
from nvspan.report.summary import Summary

PARTS = ("timeline", "icicle")


def widget(recording: Recording, parts: Sequence[str] = PARTS) -> str:
    """The timeline and the flame graph of a recording as HTML: they zoom, search and select.

    The fragment loads nothing. Its elements stand in a shadow tree and have no global ids, so a
    document may hold any number of them, the same one more than once. Keys work where the fragment
    has the focus. Without scripts it says that it needs them.

    Args:
        recording: what to show.
        parts: of "timeline" and "icicle", in the order in which they stand.

    Raises:
        ValueError: a part that is not known, or none.

    >>> text = nvspan.report.page.widget(nvspan.read("run.nvspan"))      # doctest: +SKIP
    """
    if isinstance(parts, str) or not parts or not set(parts) <= set(PARTS):
        raise ValueError(f"parts must be of {', '.join(map(repr, PARTS))}, not {parts!r}")
    summary = Summary(recording)
    held: dict[str, Any] = {"parts": list(dict.fromkeys(parts))}
    if "timeline" in parts:
        held["timeline"] = data.timeline(recording, summary, **data.CELL.timeline)
    if "icicle" in parts:
        held["icicle"] = data.flame(recording, summary, steps_of(recording), data.CELL.nodes)
    token = secrets.token_hex(8)
    mount = f'mountWidget("{token}");'
    return (
        f'<div data-nvspan="{token}"><noscript>nvspan: the timeline needs scripts</noscript>'
        f'<script type="application/json">{as_json(held)}</script>'
        f"<template><style>{source('parts.css')}</style></template></div>"
        f"<script>(() => {{\n{script('widget')}{mount}\n}})();</script>"
    )


def as_json(value: Any) -> str:
    """As a script element may hold it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def steps_of(recording: Recording) -> Steps | None:
    """The steps of a recording that has some."""
    try:
        return recording.steps()
    except ValueError:
        return None
