# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The last steps of a recording that is being written, as text."""

from __future__ import annotations

from nvspan.live.text import seconds
from nvspan.recording import read
from nvspan.recording.time_text import time_cell
from nvspan.watch.tally import text
from nvspan.watch.window import DEVICE, LAST, now_of

_BACK = 600_000_000_000  # ns that are looked at


def last_ranges(path: str, match: str, most: int = 10) -> str:
    """A line for each of the last ranges of these names: how long it took, and how long ago.

    Args:
        path: the recording.
        match: a pattern of their names, or of "domain:name".
        most: how many lines at most, the newest last.

    Raises:
        OSError, ValueError: the file cannot be read.
    """
    recording = read(path)
    process = recording.processes[0]
    if process["mode"] in ("stats", "armed"):
        return f"mode {process['mode']} keeps no single ranges\n"
    now = now_of(process)
    now = int(process["end"]) if now == LAST else now
    table = recording.filter(match=[match], start=now - _BACK).ranges
    starts, kinds = table["start"], table["kind"]
    rows = sorted((starts[row], row) for row in range(len(table)) if kinds[row] != DEVICE)[-most:]
    if not rows:
        return f"no range {match!r} in the last {seconds(_BACK)}\n"
    names, reasons, ends = table.text("name"), table["end_reason"], table["end"]
    payloads, types = table["payload_value"], table["payload_type"]
    lines = []
    for start, row in rows:
        number = f" {payloads[row]:g}" if 0 < types[row] < 7 else ""
        if reasons[row]:
            lines.append(f"{text(names[row])}{number}: open for {seconds(now - start)}")
        else:
            took = time_cell(ends[row] - start)
            lines.append(f"{text(names[row])}{number}: {took}, {seconds(now - ends[row])} ago")
    return "\n".join(lines) + "\n"
