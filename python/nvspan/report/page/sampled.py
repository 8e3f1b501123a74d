# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph of samples as the page's scripts read it: ranges, functions and their lines."""

from __future__ import annotations

from typing import Any

from nvspan.recording.lines import Lines
from nvspan.recording.source import short_names
from nvspan.report.lines import notes
from nvspan.report.page.data import Numbers
from nvspan.report.summary import Summary, process_name
from nvspan.report.text import label, printable, short_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results.lines import SampledFlame


def sampled(
    lines: Lines, summary: Summary, looks: list[list[Any]], nodes: int
) -> dict[str, Any] | None:
    """Ranges with the functions that ran in them, and the lines of each; None: no samples.

    Args:
        lines: of the recording.
        summary: of the recording.
        looks: those of the flame graph of ranges, which have the colors of ranges.
        nodes: at most so many paths, and as many lines.
    """
    if not lines.samples:
        return None
    found = lines.flame(nodes, nodes)
    colors = {name: color for name, kind, color, _ in looks if not kind}
    shown: dict[tuple[bool, int], int] = {}
    flat = Numbers()
    for number, (parent, root, is_range, name, total, own, folded) in enumerate(found.nodes):
        place = (0, root) if parent < 0 else (number - parent,)
        flat.add(*place, shown.setdefault((is_range, name), len(shown)))
        flat.add(*total, *own, folded)
    texts: dict[str, int] = {}
    of_lines = Numbers()
    before = 0
    for node, line, total, own in found.lines:
        file = found.functions[found.nodes[node][3]][1]
        text = short_name(lines.source(file, line))
        of_lines.add(node - before, line, *total, *own, texts.setdefault(text, len(texts)))
        before = node
    note = ""
    if found.folded:
        note = f"{found.folded:,} paths that took little time are folded into the path around them."
    threads = {(thread.process, thread.tid): thread.name for thread in summary.threads}
    return {
        "looks": _looks(found, list(shown), colors),
        "processes": [process_name(process) for process in summary.processes],
        "roots": [
            [process, _thread(threads.get((process, tid)), tid)] for process, tid in found.roots
        ],
        "count": len(found.nodes),
        "nodes": flat.base64(),
        "lineCount": len(found.lines),
        "lines": of_lines.base64(),
        "texts": list(texts),
        "facts": "; ".join(notes(lines)),
        "note": note,
    }


def _thread(name: str | None, tid: int) -> str:
    return f"thread {tid}" if name is None else printable(name)


def _looks(
    found: SampledFlame, shown: list[tuple[bool, int]], colors: dict[str, str | None]
) -> list[list[Any]]:
    short = short_names(file for _, file, _ in found.functions if file is not None)
    looks: list[list[Any]] = []
    for is_range, number in shown:
        if is_range:
            domain, name = found.ranges[number]
            text = label(domain, name)
            looks.append([text, "", colors.get(text), len(text) - len(label(None, name))])
            continue
        function, file, line = found.functions[number]
        place = "?" if file is None else printable(short[file])
        called = short_name(function or "?")
        called += "" if called.endswith(">") else "()"
        looks.append([f"{called}  {place}" + (f":{line}" if line else ""), "", None, 0, place])
    return looks
