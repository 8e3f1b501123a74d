# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Messages for empty results: which filter or option excluded everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from nvspan._results import StatsRow
from nvspan.recording import Recording
from nvspan.recording.label import matches
from nvspan.recording.lines import Lines
from nvspan.recording.losses import has_events
from nvspan.recording.nearest import nearest
from nvspan.recording.time_text import counted, offset
from nvspan.report.device_join import GROUPS
from nvspan.report.text import printable

_MOST = 8  # names that a sentence lists


def unmatched(recording: Recording, patterns: Sequence[str] | None) -> list[str]:
    """A sentence for each pattern of ``--filter`` that matches no name in the recording."""
    sentences = []
    domains, strings = recording._reader.domains(), recording.strings
    names = {
        (domains[domain] or "NVTX", strings[name] if name >= 0 else "")
        for domain, name in recording._reader.pairs()
    }
    for pattern in patterns or ():
        if any(matches([pattern], domain, name) for domain, name in names):
            continue
        text = f"no range matches --filter '{printable(pattern)}'"
        wanted, colon, _ = pattern.partition(":")
        known = {domain for domain, _ in names}
        if colon and not any(fnmatchcase(domain, wanted) for domain in known):
            text += f": the recording has no domain '{printable(wanted)}'"
            close = nearest(wanted, known)
        else:
            close = nearest(pattern, {n for _, n in names if n} | {f"{d}:{n}" for d, n in names})
        sentences.append(text + (f"; did you mean '{printable(close[0])}'?" if close else ""))
    return sentences


def without_events(recording: Recording) -> list[str]:
    """The names of the files that were recorded with ``--mode stats``."""
    return [printable(p.path) for p in recording.processes if p.mode == "stats"]


def nothing(recording: Recording) -> list[str]:
    """That a recording has no ranges, if it has none."""
    stats = recording.stats()
    if stats.rows:
        return []
    marks = sum(mark.calls for mark in stats.marks)
    text = "the recording holds no ranges"
    if marks:
        text += f"; it has {counted(marks, 'mark')}"
    if recording.lines().samples:
        text += "; 'nvspan stats --lines' shows where the program was"
    return [text]


def selection(
    whole: Recording,
    part: Recording,
    match: Sequence[str] | None = None,
    start: int | None = None,
    stop: int | None = None,
) -> list[str]:
    """Why a selected part of a recording is smaller than it was meant to be, or empty.

    Args:
        whole: the recording.
        part: what was selected of it.
        match: the patterns that names had to be like.
        start: the time, in ns since the recording began, from which ranges had to begin.
        stop: the time before which they had to.
    """
    sentences = unmatched(whole, match)
    timed = start is not None or stop is not None
    if timed and (files := without_events(whole)):
        sentences.append(
            f"{', '.join(files)}: recorded with --mode stats, which keeps no times: --from and "
            "--to do not apply"
        )
    if sentences or not (timed or match) or part.stats().rows:
        return sentences
    if empty := nothing(whole):
        return empty
    if timed:
        stats = whole.stats()
        begin = "its start" if start is None else offset(start)
        end = "its end" if stop is None else offset(stop)
        lasts = offset(stats.last - min(p.start for p in whole.processes))
        sentences.append(
            f"no selected range starts between {begin} and {end}; the last range ends at {lasts}"
        )
    else:
        sentences.append("--filter matches only marks or counters, no range")
    return sentences


def events(recording: Recording, what: str) -> list[str]:
    """Why `what`, which needs single events, shows nothing of a recording or of a file of it.

    Empty where it has samples: they are shown then.
    """
    if len(recording.threads) == 0:
        return [] if recording.lines().samples else nothing(recording)
    files = without_events(recording)
    if not files:
        return []
    return [
        f"{', '.join(files)}: recorded with --mode stats, which keeps no single events: {what} "
        "shows none of its ranges; 'nvspan stats' shows their statistics"
    ]


def grouping(part: Recording, by: str, rows: Sequence[StatsRow]) -> list[str]:
    """Why rows of statistics that are grouped `by` something hold nothing, or one group alone."""
    if (by == "payload" or by in GROUPS) and (files := without_events(part)):
        kept = "payloads" if by == "payload" else "streams"
        return [
            f"{', '.join(files)}: recorded with --mode stats, which keeps no {kept}: --by {by} "
            "does not apply"
        ]
    if by in GROUPS:
        if rows or not part.stats().rows:
            return []
        return [
            f"--by {by} groups device ranges, and there are none here; annotate(device=True) and "
            "device_range record them"
        ]
    if by == "payload" and rows and not any(row.payload_type for row in rows):
        return ["--by payload: no range here has a payload"]
    if by == "category" and rows and not any(row.category or row.category_name for row in rows):
        return ["--by category: no range here has a category"]
    return []


def unknown_field(part: Recording, by: str, rows: Sequence[StatsRow]) -> str | None:
    """That no range has the field of payloads which rows are grouped by; None if one has it."""
    if not by.startswith("payload.") or not rows or any(row.field is not None for row in rows):
        return None
    field = by.removeprefix("payload.")
    fields = [n.removeprefix("payload.") for n in part.ranges.names if n.startswith("payload.")]
    text = f"no range has a payload field '{printable(field)}'"
    if not has_events(part):
        return text + ": recorded with --mode stats, which keeps no payloads"
    if not fields:
        return text + "; no range here has a payload with fields"
    close = nearest(field, fields)
    if close:
        text += f"; the nearest is '{printable(close[0])}'"
    listed = ", ".join(printable(name) for name in fields[:_MOST])
    more = f" and {len(fields) - _MOST} more" if len(fields) > _MOST else ""
    return f"{text} (fields: {listed}{more})"


def samples(lines: Lines, within: str | None = None) -> list[str]:
    """Why there are no lines of a recording, or none within ranges called `within`."""
    if lines.samples:
        return []
    if not lines.facts.processes:
        return ["the recording holds no samples of lines; 'nvspan record --lines auto' takes them"]
    if not within:
        return ["no sample is in the selected part of the recording"]
    if any(path.parent is not None and matches([within], path.domain, path.name)
           for path in lines.ranges):  # fmt: skip
        return [f"no sample is in a range called '{printable(within)}'"]
    close = nearest(within, {path.name for path in lines.ranges if path.name})
    hint = f"; did you mean '{printable(close[0])}'?" if close else ""
    return [f"no range with samples matches '{printable(within)}'{hint}"]


def comparison(sides: Mapping[str, Sequence[Recording]]) -> list[str]:
    """Which side of a comparison, by its name, holds no ranges."""
    return [
        f"{printable(name)} ({printable(runs[0].processes[0].path)}) holds no ranges to compare"
        for name, runs in sides.items()
        if not any(run.stats().rows for run in runs)
    ]
