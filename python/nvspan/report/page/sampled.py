# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph of samples as the page's scripts read it: ranges, functions and their lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from nvspan.recording import Recording
from nvspan.recording.clock import zero
from nvspan.recording.lines import Lines, with_c_function
from nvspan.recording.source import short_names
from nvspan.recording.time_text import duration
from nvspan.report.hottest import MIN_SAMPLES
from nvspan.report.lines import notes
from nvspan.report.page.data import Numbers, base64_text
from nvspan.report.summary import Summary, process_name
from nvspan.report.text import label, printable, short_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results.lines import SampledFlame, SampledTimeline

LEVELS = 128  # of a track


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
    called = {(row.file, row.line): row.c_function for row in lines.by_group("line").rows}
    texts: dict[str, int] = {}
    of_lines = Numbers()
    before = 0
    for node, line, total, own, margin in found.lines:
        file = found.functions[found.nodes[node][3]][1]
        text = short_name(with_c_function(lines.source(file, line), called.get((file, line))))
        of_lines.add(node - before, line, *total, *own, texts.setdefault(text, len(texts)))
        of_lines.add(_hundredths(margin))
        before = node
    hottest = Numbers()
    before = -1
    hot = [one for one in found.hottest if (False, one[1]) in shown]
    for node, function, line, margin in hot:
        hottest.add(node - before, shown[False, function], line, _hundredths(margin))
        before = node
    note = ""
    if found.folded:
        note = f"{found.folded:,} paths that took little time are folded into the path around them."
    threads = _thread_names(summary)
    return {
        "looks": _looks(found, list(shown), colors),
        "processes": [process_name(process) for process in summary.processes],
        "roots": [
            [process, threads.get((process, tid), f"thread {tid}")] for process, tid in found.roots
        ],
        "count": len(found.nodes),
        "nodes": flat.base64(),
        "lineCount": len(found.lines),
        "lines": of_lines.base64(),
        "hotCount": len(hot),
        "hottest": hottest.base64(),
        "texts": list(texts),
        "least": MIN_SAMPLES,
        "facts": "; ".join(notes(lines)),
        "note": note,
    }


def add_tracks(
    timeline: dict[str, Any], recording: Recording, lines: Lines, summary: Summary, most: int
) -> None:
    """Adds the functions of each thread's stack to a timeline, below the ranges of the thread.

    Args:
        timeline: of the recording.
        recording, lines, summary: likewise.
        most: bytes of blocks.
    """
    found = lines.timeline(most, LEVELS)
    if not found.tracks:
        return
    tracks: list[dict[str, Any]] = timeline["tracks"]
    is_empty = not tracks and not timeline["counters"]
    begin = found.first if is_empty else min(found.first, timeline["first"])
    if not is_empty and begin < timeline["first"]:
        shift = timeline["first"] - begin
        for track in tracks:
            track["shift"] = shift
        for counter in timeline["counters"]:
            counter["times"][0] += shift
    keys, names = len(timeline["keys"]), len(timeline["names"])
    above = {
        (track["process"], summary.threads[track["thread"]].tid): index
        for index, track in enumerate(tracks)
        if track["thread"] is not None
    }
    threads = _thread_names(summary)
    for process, tid, stretches, blocks in found.tracks:
        below = above.get((process, tid))
        tracks.append({
            "label": threads.get((process, tid), f"thread {tid}") + " · samples",
            "kind": "samples", "process": process, "ranges": stretches,
            "main": tid == summary.processes[process].pid, "data": base64_text(blocks),
            "shift": found.first - begin, "keys": keys, "names": names,
            **({} if below is None else {"below": below}),
        })  # fmt: skip
    short = short_names(file for _, file, *_ in found.functions if file is not None)
    for function, file, line, stretches, time in found.functions:
        text, place = _function(function, file, line, short)
        key = [text, "function", None, None, stretches, round(time), None, 0, place]
        timeline["keys"].append(key)
    timeline["names"] += [[keys + number for number in numbers] for numbers in found.names]
    timeline["last"] = found.last if is_empty else max(found.last, timeline["last"])
    timeline["first"] = begin
    timeline["offset"] = begin - zero(recording)
    timeline["note"] = " ".join(filter(None, [timeline["note"], *_track_notes(found)]))


def _track_notes(found: SampledTimeline) -> Iterator[str]:
    if found.resolution:
        yield (
            f"Stretches of samples shorter than {duration(found.resolution)} are merged with their "
            "neighbours in the timeline; the flame graph counts each of them."
        )
    if found.hidden_levels:
        yield f"{found.hidden_levels:,} functions at great depth are not drawn."
    if found.hidden_tracks:
        yield f"Samples of further threads are not drawn: {found.hidden_tracks:,} stretches."


def _thread_names(summary: Summary) -> dict[tuple[int, int], str]:
    return {
        (thread.process, thread.tid): printable(thread.name)
        for thread in summary.threads
        if thread.name is not None
    }


def _hundredths(margin: float) -> int:
    """Of a percent, rounded up."""
    return math.ceil(10_000 * margin)


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
        text, place = _function(*found.functions[number], short)
        looks.append([text, "", None, 0, place])
    return looks


def _function(
    function: str | None, file: str | None, line: int, short: dict[str, str]
) -> tuple[str, str]:
    """``load()  app.py:10``, and the name of its file."""
    place = "?" if file is None else printable(short[file])
    called = short_name(function or "?")
    called += "" if called.endswith(">") else "()"
    return f"{called}  {place}" + (f":{line}" if line else ""), place
