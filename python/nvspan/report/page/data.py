# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the scripts of the page draw: the timeline and the flame graph as JSON can hold them.

The reader reduces a recording of any size to so many bytes. What it merged or left out is counted
and said in the notes.
"""

from __future__ import annotations

from array import array
from binascii import b2a_base64
from typing import Any, NamedTuple

from nvspan import _reader
from nvspan._results import Flame, Timeline, TimelineCounter, TimelineKey
from nvspan.recording import Recording
from nvspan.recording.clock import zero
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import duration
from nvspan.report.summary import Summary, process_name
from nvspan.report.text import label, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results import Look

NODES = 15_000
ODD_STEPS = 30  # outliers and steps of the warm-up that have a flame graph of their own
_KINDS = {"push_pop": "", "start_end": "start/end", "device": "GPU", "mark": "mark"}
_TYPICAL, _WARM_UP = 0, 1
_DEFAULT_BLUE, _OPAQUE_BLUE = 0x0000FF, 0xFF0000FF


class Numbers:
    """Numbers of seven bits a byte, the least first; the eighth says that more follow."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, *values: int) -> None:
        """Appends numbers that are 0 or more."""
        for value in values:
            while value >= 128:
                self._bytes.append(value & 127 | 128)
                value >>= 7
            self._bytes.append(value)

    def base64(self) -> str:
        """All of them as text."""
        return base64_text(bytes(self._bytes))


class Size(NamedTuple):
    """How much of a recording is held."""

    timeline: dict[str, int]  # the limits of `timeline`; {}: the reader's own
    nodes: int  # of the flame graph
    sampled: int  # of the flame graph of samples, nodes and lines
    sampled_bytes: int  # of the samples' tracks
    rows: int  # of the table


PAGE = Size({}, NODES, 8000, 800_000, 5000)
CELL = Size({"bytes": 900_000, "payload_bytes": 112_500, "points": 8000}, 4000, 2000, 200_000, 200)


def _thread(summary: Summary, thread: int) -> str:
    """A thread's name without its process."""
    found = summary.threads[thread]
    return f"thread {found.tid}" if found.name is None else printable(found.name)


def _place(summary: Summary, kind: str, thread: int | None, device: str) -> str:
    if kind == "device" or device:
        return printable(device)
    return "start/end ranges" if thread is None else _thread(summary, thread)


def _is_main(summary: Summary, thread: int | None) -> bool:
    if thread is None:
        return False
    found = summary.threads[thread]
    return found.tid == found.pid


def base64_text(data: bytes) -> str:
    """Bytes as JSON can hold them."""
    return b2a_base64(data, newline=False).decode("ascii")


def _color(argb: int | None, kind: str) -> str | None:
    """As CSS has it; None: by the name.

    Colors without alpha are the ten names of the nvtx package, and mean to be seen. Its blue is
    also what a range has that was given none; a device range has that one with alpha.
    """
    if argb is None or argb == _DEFAULT_BLUE or (kind == "device" and argb == _OPAQUE_BLUE):
        return None
    return f"#{argb & 0xFFFFFF:06x}"


def _label(domain: str | None, name: str | None, backward: bool) -> str:
    return label(domain, name) + (" (backward)" if backward else "")


def _prefix(domain: str | None, name: str | None) -> int:
    """How much of a label is the domain."""
    return len(label(domain, name)) - len(label(None, name))


def _key(key: TimelineKey) -> list[object]:
    category = key.category_name
    if category is None and key.category:
        category = str(key.category)
    return [
        _label(key.domain, key.name, key.backward),
        _KINDS[key.kind],
        _color(key.color, key.kind),
        None if category is None else printable(category),
        key.calls,
        round(key.sum),
        None if key.durations is None else [number for pair in key.durations for number in pair],
        _prefix(key.domain, key.name),
    ]


def _counter(counter: TimelineCounter, first: int) -> dict[str, object]:
    name = label(counter.domain, counter.name)
    if counter.field is not None:
        name += f".{printable(counter.field)}"
    points = counter.points
    times, before = [], first
    for point in points:
        times.append(point[0] - before)
        before = point[0]
    found: dict[str, object] = {
        "label": name,
        "unit": None if counter.unit is None else printable(counter.unit),
        "process": counter.process,
        "samples": counter.samples,
        "times": times,
        "last": [_short(point[3]) for point in points],
    }
    if any(point[4] > 1 for point in points):
        found["least"] = [_short(point[1]) for point in points]
        found["greatest"] = [_short(point[2]) for point in points]
    return found


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.7g}")


def timeline(recording: Recording, summary: Summary, **limits: int) -> dict[str, Any]:
    """The timeline: keys, tracks with their blocks in bytes, counters, and what is not there.

    Args:
        limits: of `_reader.timeline`: bytes, levels, tracks, payload_bytes, points, counters.
    """
    found = _reader.timeline(recording._reader.handle(), limits)
    return {
        "first": found.first,
        "last": found.last,
        "offset": found.first - zero(recording) if found.tracks else 0,
        "resolution": found.resolution,
        "note": _note(found),
        "processes": [process_name(process) for process in summary.processes],
        "keys": [_key(key) for key in found.keys],
        "names": found.names,
        "texts": [printable(text) for text in found.texts],
        "tracks": [
            {
                "label": _place(summary, track.kind, track.thread, track.device),
                "kind": track.kind,
                "process": track.process,
                "thread": track.thread,
                "ranges": track.ranges,
                "main": _is_main(summary, track.thread),
                "data": base64_text(track.blocks),
            }
            for track in found.tracks
        ],
        "counters": [_counter(counter, found.first) for counter in found.counters],
    }


def _note(found: Timeline) -> str:
    said = []
    if found.resolution:
        said.append(
            f"Ranges shorter than {duration(found.resolution)} are merged with their "
            "neighbours in the timeline, each block with the number of its ranges; nvspan view "
            "shows each of them, the flame graph and the table count each of them."
        )
    if found.hidden_levels:
        said.append(f"{found.hidden_levels:,} ranges at great depth are not drawn.")
    if found.hidden_tracks:
        said.append(
            f"{found.hidden_tracks:,} ranges and marks of further threads and streams "
            "are not drawn."
        )
    if found.hidden_counters:
        said.append(f"{found.hidden_counters:,} further counters are not drawn.")
    if found.shown_payloads < found.payloads:
        said.append(
            f"Payloads are shown for {found.shown_payloads:,} of the {found.payloads:,} ranges and "
            "marks that have one."
        )
    return " ".join(said)


def windows(steps: Steps | None) -> tuple[list[memoryview], list[str]]:
    """The steps as windows of a flame graph, and what their groups are called."""
    if steps is None or not len(steps):
        return [], []
    states = steps["state"]
    counted = steps.typical.steps
    labels = [f"{counted:,} typical step{'s' if counted != 1 else ''}"]
    groups = states  # 0 where steps are typical
    if counted < len(steps):
        groups = memoryview(array("q", [-1 if state else 0 for state in states]))
        lengths, numbers, numbered = steps["duration"], steps["number"], steps["has_number"]
        odd = [i for i, state in enumerate(states) if state != _TYPICAL]
        odd = sorted(sorted(odd, key=lambda i: -lengths[i])[:ODD_STEPS])
        for number, i in enumerate(odd, 1):
            groups[i] = number
            name = str(numbers[i]) if numbered[i] else f"#{i}"
            labels.append(f"step {name} ({'warm-up' if states[i] == _WARM_UP else 'outlier'})")
    return [steps["process"], steps["start"], steps["duration"], groups], labels


def flame(
    recording: Recording, summary: Summary, steps: Steps | None = None, nodes: int = NODES
) -> dict[str, Any]:
    """Paths of ranges of each thread and stream, of the whole time and of the steps."""
    handle = recording._reader.handle()
    looks: dict[Look, int] = {}
    whole = _reader.flame(handle, [], nodes)
    listed = [_part(whole, summary, looks)]
    of_steps, labels = windows(steps)
    folded = whole.folded
    if of_steps:
        part = _reader.flame(handle, of_steps, nodes)
        folded += part.folded
        listed.append(_part(part, summary, looks))
    note = ""
    if folded:
        note = f"{folded:,} paths that took little time are folded into the path around them."
    return {
        "looks": [
            [
                _label(domain, name, backward),
                _KINDS[kind],
                _color(color, kind),
                _prefix(domain, name),
            ]
            for domain, name, kind, backward, color in looks
        ],
        "processes": [process_name(process) for process in summary.processes],
        "parts": listed,
        "groups": labels,
        "note": note,
    }


def _part(found: Flame, summary: Summary, looks: dict[Look, int]) -> dict[str, Any]:
    flat = Numbers()
    for number, (parent, root, look, calls, total, own, unclosed, folded) in enumerate(found.nodes):
        key = looks.setdefault(look, len(looks))
        place = (0, root) if parent < 0 else (number - parent,)
        times = max(total, 0), max(own, 0)
        flat.add(*place, key, calls, *times, unclosed * 2 + (folded > 0))
        if folded:
            flat.add(folded)
    return {
        "roots": [
            [
                each.group,
                each.process,
                "device" if each.device else "spans" if each.thread is None else "thread",
                _place(summary, "", each.thread, each.device),
            ]
            for each in found.roots
        ],
        "count": len(found.nodes),
        "nodes": flat.base64(),
    }
