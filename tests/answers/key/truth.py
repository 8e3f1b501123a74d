# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What must be said of a recording, what may be, and how an answer differs from that."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from answers.key.answer import Answer
from answers.key.program import MS, Program

from helpers import voice

POINTS = 5.0  # by which a percentage may differ from the truth
TIME = 0.06  # by which a duration may
_NEVER = re.compile(r"\b(?:GPU|CUDA|nan|inf)\b")  # no recording has a GPU
_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True)
class Says:
    """A finding: its kind, the names in it, the percentages next to names, numbers and times.

    Any of several kinds, with | between them, will do. `absent` must not be in it.
    """

    kind: str
    names: tuple[str, ...]
    shares: Mapping[str, float]
    figures: tuple[int, ...]
    times: tuple[float, ...]
    absent: tuple[str, ...]

    def missing(self, text: str) -> list[str]:
        """What of it the text lacks."""
        missing = [f"{name!r}" for name in self.names if name.lower() not in text.lower()]
        missing += [
            f"{name!r} {share:.0f}%, only {near(text, name)}"
            for name, share in self.shares.items()
            if not any(abs(value - share) <= POINTS for value in near(text, name))
        ]
        missing += [f"the number {number}" for number in self.figures if not has(text, number)]
        missing += [f"a time of {ms:.3g} ms" for ms in self.times if not has_time(text, ms)]
        return missing + [f"not {name!r}" for name in self.absent if name in text]


def says(
    kind: str,
    *names: str,
    shares: Mapping[str, float] | None = None,
    figures: tuple[int, ...] = (),
    times: tuple[float, ...] = (),
    absent: tuple[str, ...] = (),
) -> Says:
    """See `Says`; times are in ms."""
    return Says(kind, names, shares or {}, figures, times, absent)


@dataclass(frozen=True)
class Truth:
    """What is true of a recording.

    Attributes:
        step: the name of its steps; None: it has none.
        count: how many there are; None: any number.
        says: findings that must be there.
        may: kinds of findings that may be there: what is true, but no one would miss.
        headline: percentages next to names in the headline.
        unit: what a step is called.
    """

    step: str | None
    count: int | None = None
    says: tuple[Says, ...] = ()
    may: str = ""
    headline: Mapping[str, float] = field(default_factory=dict)
    unit: str = "step"

    @property
    def has_nothing_to_find(self) -> bool:
        return not self.says and not self.may


Build: TypeAlias = Callable[[Program], Truth]
RECORDINGS: dict[str, Build] = {}


def recording(build: Build) -> Build:
    """Adds a recording to the key, by the name of the function."""
    return add(build.__name__, build)


def add(name: str, build: Build) -> Build:
    assert name not in RECORDINGS
    RECORDINGS[name] = build
    return build


def make(name: str, seed: int, path: Path) -> tuple[Program, Truth]:
    """Writes a recording; the same one for the same seed."""
    program = Program(zlib.crc32(name.encode()) + seed)
    truth = RECORDINGS[name](program)
    program.write(path)
    return program, truth


def problems(program: Program, truth: Truth, answer: Answer) -> list[str]:
    """Each missing and each false sentence."""
    return [
        *_of_steps(truth, answer),
        *_of_headline(program, truth, answer.headline),
        *_of_findings(truth, answer),
        *wording(answer),
    ]


def _of_steps(truth: Truth, answer: Answer) -> Iterator[str]:
    if answer.step != truth.step:
        yield f"the step is {truth.step!r}, not {answer.step!r}"
    elif truth.step is not None and truth.count not in (None, answer.count):
        yield f"{truth.count} steps, not {answer.count}"
    elif truth.step is not None and answer.unit != truth.unit:
        yield f"a step is a {truth.unit}, not a {answer.unit}"


def _of_headline(program: Program, truth: Truth, headline: str) -> Iterator[str]:
    counted = re.search(r"\b(\d+(?:,\d{3})*) (step|request)s?\b", headline)
    if truth.step is None:
        if counted:
            yield f"steps in the headline: {headline}"
        return
    if not counted or counted[2] != truth.unit:
        yield f"no number of {truth.unit}s in the headline: {headline}"
    elif truth.count is not None and int(counted[1].replace(",", "")) != truth.count:
        yield f"not {truth.count} {truth.unit}s in the headline: {headline}"
    durations = steps_of(program, truth.step) / MS
    if len(durations) == truth.count and len(durations):
        low, middle, high = np.quantile(durations, [0.25, 0.5, 0.75])
        # Where steps vary, the typical one may be told in more than one way.
        if high - low < TIME * middle and not has_time(headline, middle):
            yield f"no step of {middle:.3g} ms in the headline: {headline}"
    for name, share in truth.headline.items():
        if not any(abs(value - share) <= POINTS for value in near(headline, name)):
            yield f"no {name!r} {share:.0f}% in the headline: {headline}"


def _of_findings(truth: Truth, answer: Answer) -> Iterator[str]:
    known = {kind for said in truth.says for kind in said.kind.split("|")} | set(truth.may.split())
    for kind, text in answer.findings:
        if kind not in known:
            yield f"false, {kind}: {text}"
    for said in truth.says:
        texts = [text for kind, text in answer.findings if kind in said.kind.split("|")]
        lacks = [said.missing(text) for text in texts]
        if not texts:
            yield f"not said: {said.kind} {' '.join(said.names)}"
        elif all(lacks):
            shortest = min(range(len(texts)), key=lambda index: len(lacks[index]))
            yield f"{said.kind} lacks {', '.join(lacks[shortest])}: {texts[shortest]}"


def wording(answer: Answer) -> Iterator[str]:
    """What no sentence may say, whatever the program is."""
    if not answer.headline or "\n" in answer.headline:
        yield f"the headline is no line: {answer.headline!r}"
    for text in answer.sentences():
        if max(percentages(text), default=0) > 100:
            yield f"above 100 %: {text}"
        if wrong := _NEVER.search(text):
            yield f"{wrong[0]!r} is said: {text}"
        yield from (f"{problem}: {text}" for problem in voice.figures(text))


def steps_of(program: Program, step: str) -> np.ndarray:
    """Durations in ns of the ranges of this name, whatever their number."""
    number = r"[\s_#:.=/-]*[0-9a-f]*\d[0-9a-f]*(?:/\d+)?"
    return program.durations(rf"{re.escape(step)}(?:{number})?")


def percentages(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"(\d+(?:\.\d+)?) ?%", text)]


def near(text: str, name: str) -> list[float]:
    """The percentages next to each mention of a name, before it and after it; all of no name."""
    if not name:
        return percentages(text)
    found = []
    for mention in re.finditer(re.escape(name), text):
        found += percentages(text[: mention.start()])[-1:]
        found += percentages(text[mention.end() :])[:1]
    return found


def has(text: str, number: int) -> bool:
    return re.search(rf"(?<![\d.,]){number:,}(?!\d|[.,]\d)", text) is not None


def has_time(text: str, ms: float) -> bool:
    times = re.findall(r"(\d[\d,]*(?:\.\d+)?) (ns|us|ms|s)\b", text)
    return any(
        abs(float(value.replace(",", "")) * _UNITS[unit] - ms) <= TIME * ms for value, unit in times
    )
