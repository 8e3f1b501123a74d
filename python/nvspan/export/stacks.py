# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Export to flame graphs: merged stacks of nested ranges with their self times."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from nvspan import _core, _reader
from nvspan.recording import Recording
from nvspan.recording.label import label

Stack = tuple[str, ...]
MOST_THREADS = 32
MOST_FRAMES = 1024  # of a path: of the ranges within, the time is that of the last one
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def stacks(recording: Recording) -> dict[Stack, int]:
    """The self time in ns of each path of ranges, over all threads; GPU time is below its stream.

    A recursive range counts in the outer range of its name, and what is within 1,024 ranges in the
    innermost of those. Start/end ranges do not nest and are left out.
    """
    nodes = _reader.tree(recording._reader.handle())
    paths: list[Stack] = []
    found: dict[Stack, int] = {}
    for node in nodes:
        around = () if node.parent is None else paths[node.parent]
        if not around and node.lane is not None:
            around = (node.lane,)
        path = around
        if len(around) < MOST_FRAMES:
            path = (*around, label(node.domain, node.name, node.backward))
        paths.append(path)
        if node.self:
            found[path] = found.get(path, 0) + node.self
    return found


def write_collapsed(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> None:
    """Writes a line for each path: its names, separated by ";", and its self time in ns.

    `flamegraph.pl`, speedscope and others read it. In names, ";" becomes "," and a control
    character a space.

    Raises:
        OSError: the file cannot be written.
    """
    _write_lines(stacks(recording), path)
    if progress is not None:
        progress(1.0)


def _write_lines(found: dict[Stack, int], path: str | os.PathLike[str]) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        for stack, ns in found.items():
            frames = ("".join(c if c.isprintable() else " " for c in frame) for frame in stack)
            file.write(";".join(frame.replace(";", ",") for frame in frames) + f" {ns}\n")


def write_folded(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> None:
    """Writes a line for each path of ranges with the functions that ran there, and its time in ns.

    The time is that of samples; a recording without samples has its ranges alone.

    Raises:
        OSError: the file cannot be written.
    """
    sampled = recording.lines().stacks()
    _write_lines(sampled or stacks(recording), path)
    if progress is not None:
        progress(1.0)


def write_speedscope(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> None:
    """Writes a file for speedscope: a profile of all threads, and of each if there are at most 32.

    Raises:
        OSError: the file cannot be written.
    """
    frames: dict[str, int] = {}
    profiles = [_profile("all threads", stacks(recording), frames)]
    threads = list(recording.threads.rows())
    if 1 < len(threads) <= MOST_THREADS:
        for number, thread in enumerate(threads):
            if found := stacks(recording.filter(threads=[number])):
                name = thread["name"] or f"thread {thread['tid']}"
                profiles.append(_profile(str(name), found, frames))
            if progress is not None:
                progress((number + 1) / (len(threads) + 1))
    document = {
        "$schema": _SCHEMA,
        "name": os.path.basename(recording.processes[0].path),
        "exporter": f"nvspan@{_core.__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    if progress is not None:
        progress(1.0)


def _profile(name: str, found: dict[Stack, int], frames: dict[str, int]) -> dict[str, object]:
    samples = [[frames.setdefault(frame, len(frames)) for frame in stack] for stack in found]
    return {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(found.values()),
        "samples": samples,
        "weights": list(found.values()),
    }
