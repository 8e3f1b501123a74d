# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The summary of a few files, made in a worker: what `nvspan.ranks.many` sends to executors."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from nvspan import _reader
from nvspan.ranks import beside, paths
from nvspan.ranks.opening import opened, reason
from nvspan.ranks.traced import DOMAINS, ENQUEUED
from nvspan.recording import Recording
from nvspan.recording.modules import add_modules

_TYPICAL = 0  # Steps: state
_STEP_COLUMNS = ("number", "has_number", "start", "duration", "busy", "ops", "state")


@dataclass(frozen=True)
class Job:
    """What is wanted of each file.

    Attributes:
        by_rank: a row for each rank, beside those of names.
        steps: the steps as well.
        step: what a step is called, see `Recording.steps`.
        modules: the domain of a model's modules, which are wanted as well; None: they are not.
        summaries: "use" those beside the files, "write" them where they are missing or stale as
            well, or "ignore" them.
    """

    by_rank: bool = False
    steps: bool = False
    step: str | None = None
    modules: str | None = None
    summaries: str = "use"

    def asked(self) -> str:
        """What a summary beside a file has to hold."""
        more = f" steps {self.step!r}" if self.steps else ""
        if self.modules is not None:
            more += f" modules by calls {self.modules!r} by {self.step!r}"
        return f"ranges{more}"


@dataclass
class Part:
    """What some files come to.

    Attributes:
        summary: of those that could be read, as bytes.
        unread: which could not be read, and why.
        problems: what is damaged in the others: path and sentence.
        notes: what could not be done beside that: path and sentence.
    """

    summary: bytes = b""
    unread: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)


def summarize(files: Sequence[str], job: Job) -> Part:
    """Reads one file after the other: at most one of them is in memory."""
    part = Part()
    whole = _reader.RankSummary()
    for path in files:
        try:
            one = _of_file(path, job, part)
        except (OSError, ValueError, ImportError) as error:
            part.unread.append((path, reason(error, path)))
            continue
        if not job.by_rank:
            one.collapse()
        whole.merge(one)
    part.summary = whole.bytes()
    return part


def _of_file(path: str, job: Job, part: Part) -> _reader.RankSummary:
    one = None
    if job.summaries != "ignore" and not paths.is_url(path):
        one = beside.load(path, job.asked())
    if one is None:
        one = _made(path, job, part)
    processes = one.table("processes")["process"]
    one.add_table("files", {"process": processes, "path": [path] * len(processes)})
    return one


def _made(path: str, job: Job, part: Part) -> _reader.RankSummary:
    summary = _reader.RankSummary()
    with opened(path) as (recording, problems):
        handle = recording._reader.handle()
        summary.add(handle)
        summary.add_collectives(handle, list(DOMAINS), list(ENQUEUED))
        if job.steps:
            _add_steps(recording, summary, job.step)
        if job.modules is not None:
            with suppress(ValueError):  # it has no such step, or statistics alone
                add_modules(recording, summary, job.modules, job.step)
        del recording, handle
    part.problems += [(path, line) for line in problems]
    # What is mapped into a running process changes without a trace in the file's time.
    is_final = not problems and all(summary.table("processes")["closed"])
    if job.summaries == "write" and is_final and not paths.is_url(path):
        try:
            beside.store(path, job.asked(), summary)
        except OSError as error:
            part.notes.append((path, f"its summary cannot be written: {error.strerror}"))
    return summary


def _add_steps(recording: Recording, summary: _reader.RankSummary, step: str | None) -> None:
    """The tables "steps", and "phases" with the sums of each phase over the typical steps."""
    try:
        steps = recording.steps(step)
    except ValueError:  # it has none
        return
    # Of a file of several processes each step is its own's, in the order of the table.
    found = recording.processes
    known = summary.table("processes")
    identities = dict(zip(zip(known["pid"], known["rank"], strict=True), known["process"],
                          strict=True))  # fmt: skip
    ids = [identities[p.pid, -1 if p.rank is None else p.rank] for p in found]
    owners = _numbers([ids[at] for at in steps["process"].tolist()])
    columns = {name: steps[name] for name in _STEP_COLUMNS}
    summary.add_table("steps", {"process": owners, **columns})
    states = steps["state"].tolist()
    typical = {owner for owner, state in zip(owners, states, strict=True) if state == _TYPICAL}
    for phase in steps.phases:
        times = [steps[f"{kind}.{phase}"] for kind in ("cpu", "gpu", "idle")]
        sums: dict[int, list[int]] = {}
        for owner, state, *values in zip(owners, states, *times, strict=True):
            if state != _TYPICAL and owner in typical:
                continue
            of = sums.setdefault(owner, [0, 0, 0])
            for at, value in enumerate(values):
                of[at] += value
        columns = {
            kind: _numbers([of[at] for of in sums.values()])
            for at, kind in enumerate(("cpu", "gpu", "idle"))
        }
        summary.add_table(
            "phases",
            {"process": _numbers(list(sums)), "phase": [phase] * len(sums), **columns},
        )


def _numbers(values: Sequence[int]) -> memoryview:
    return memoryview(array("q", values))


def write_beside(files: Sequence[str | os.PathLike[str]]) -> list[tuple[str, str]]:
    """Writes the summaries of recordings beside them, those that are current left alone.

    What could not be done is returned: path and sentence.
    """
    part = summarize([os.fspath(path) for path in files], Job(by_rank=True, summaries="write"))
    return [*part.unread, *part.notes]
