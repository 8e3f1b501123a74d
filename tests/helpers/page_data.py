# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a page of `nvspan report` holds, read back as its scripts read it."""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from typing import Any, NamedTuple


def data_of(page: Path | str) -> dict[str, Any]:
    """The data of a page, given as its path or its text."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def framed(shown: str) -> str:
    """The page in the iframe that a notebook shows of a recording."""
    found = re.fullmatch(r'<iframe(?: [a-z]+="[^"]*")* srcdoc="([^"]*)"></iframe>', shown)
    return html.unescape(found[1])


class Numbers:
    def __init__(self, text: str) -> None:
        self.bytes = iter(base64.b64decode(text))

    def next(self) -> int:
        value = shift = 0
        while True:
            byte = next(self.bytes)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        value = self.next()
        return -(value + 1) // 2 if value % 2 else value // 2


class Block(NamedTuple):
    start: int  # ns of the recording
    length: int
    name: str
    count: int = 1
    busy: int = 0
    longest: int = 0
    names: tuple[str, ...] | None = None
    unclosed: bool = False
    launcher: str | None = None
    launched: int | None = None
    payload: str | None = None


def tracks_of(timeline: dict[str, Any]) -> list[tuple[dict[str, Any], list[list[Block]]]]:
    """The tracks with their levels; the last level has their marks."""
    return [(track, _levels(timeline, track)) for track in timeline["tracks"]]


def blocks_of(timeline: dict[str, Any]) -> list[Block]:
    """The blocks of all tracks, without marks."""
    return [block for _, levels in tracks_of(timeline) for level in levels[:-1] for block in level]


def _levels(timeline: dict[str, Any], track: dict[str, Any]) -> list[list[Block]]:
    read = Numbers(track["data"])
    levels = [_level(timeline, track, read) for _ in range(read.next() + 1)]
    last, at = -1, 0
    for _ in range(read.next()):
        level = read.next()
        at = (at if level == last else 0) + read.next()
        last = level
        levels[level][at] = levels[level][at]._replace(payload=timeline["texts"][read.next()])
    return levels


def _level(timeline: dict[str, Any], track: dict[str, Any], read: Numbers) -> list[Block]:
    keys, blocks = timeline["keys"], []
    start = timeline["first"] + track.get("shift", 0)
    for _ in range(read.next()):
        start += read.next()
        length = read.next()
        key, flags = divmod(read.next(), 4)
        key += track.get("keys", 0)
        block = Block(start, length, keys[key][0], busy=length, longest=length,
                      unclosed=bool(flags & 2))  # fmt: skip
        if flags & 1:
            count, busy, longest, names = (read.next() for _ in range(4))
            block = block._replace(
                count=count + 1, busy=busy, longest=longest,
                names=tuple(
                    keys[name][0] for name in timeline["names"][names + track.get("names", 0)]
                ),
            )  # fmt: skip
        if track["kind"] == "device":
            launcher = read.next()
            if launcher:
                block = block._replace(
                    launcher=timeline["tracks"][launcher - 1]["label"],
                    launched=start - read.signed(),
                )
        blocks.append(block)
    return blocks


class NamedPath(NamedTuple):
    names: tuple[str, ...]
    calls: int
    total: int
    own: int
    unclosed: int
    folded: int


def paths_of(icicle: dict[str, Any], part: int = 0) -> list[tuple[list[Any], list[NamedPath]]]:
    """The roots of a part of the flame graph, each with its paths."""
    held = icicle["parts"][part]
    read = Numbers(held["nodes"])
    found: list[tuple[list[Any], list[NamedPath]]] = [(root, []) for root in held["roots"]]
    places: list[tuple[int, tuple[str, ...]]] = []
    for number in range(held["count"]):
        up = read.next()
        root, around = places[number - up] if up else (read.next(), ())
        names = (*around, icicle["looks"][read.next()][0])
        calls, total, own, word = (read.next() for _ in range(4))
        folded = read.next() if word % 2 else 0
        places.append((root, names))
        found[root][1].append(NamedPath(names, calls, total, own, word // 2, folded))
    return found


class SampledPath(NamedTuple):
    names: tuple[str, ...]  # of the root, then of ranges and functions
    samples: int
    times: tuple[int, int, int]  # running, ready, waiting
    own: int  # of all kinds
    folded: int
    lines: dict[int, tuple[int, int, str]]  # line: total and self of all kinds, text
    margins: dict[int, int]  # line: half of the interval of its share, in hundredths of a percent
    hot: dict[tuple[str, int], int]  # function and line: likewise of its self time in the range


def sampled_of(sampled: dict[str, Any]) -> list[SampledPath]:
    """The paths of the flame graph of samples."""
    read, lines = Numbers(sampled["nodes"]), Numbers(sampled["lines"])
    found: list[SampledPath] = []
    for _ in range(sampled["count"]):
        up = read.next()
        around = found[len(found) - up].names if up else (sampled["roots"][read.next()][1],)
        names = (*around, sampled["looks"][read.next()][0])
        samples, *times = (read.next() for _ in range(4))
        _, *own = (read.next() for _ in range(4))
        running, ready, waiting = times
        found.append(
            SampledPath(
                names, samples, (running, ready, waiting), sum(own), read.next(), {}, {}, {}
            )
        )
    at = 0
    for _ in range(sampled["lineCount"]):
        at += lines.next()
        number = lines.next()
        _, *total = (lines.next() for _ in range(4))
        _, *own = (lines.next() for _ in range(4))
        found[at].lines[number] = (sum(total), sum(own), sampled["texts"][lines.next()])
        found[at].margins[number] = lines.next()
    for node, *key, margin in hottest_of(sampled):
        if node >= 0:
            found[node].hot[sampled["looks"][key[0]][0], key[1]] = margin
    return found


def hottest_of(sampled: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """The hottest lines of paths (-1: of all): path, look, line, half of the interval."""
    read, node, found = Numbers(sampled["hottest"]), -1, []
    for _ in range(sampled["hotCount"]):
        node += read.next()
        found.append((node, read.next(), read.next(), read.next()))
    return found
