# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a recording: its headline, and findings with evidence and a next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial

from nvspan import _reader
from nvspan._results.loops import LoopOpen
from nvspan._results.variation import Effect
from nvspan.answers import gpu, headline
from nvspan.answers.bottleneck import find_bottleneck
from nvspan.answers.changes import (
    LASTING,
    cancelling_findings,
    change_findings,
    phase_growth_findings,
)
from nvspan.answers.dominant import dominant_findings, self_finding
from nvspan.answers.finding import UNKNOWN, Finding
from nvspan.answers.gap_changes import gap_change_findings
from nvspan.answers.imports import import_findings
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.parts import Parts
from nvspan.answers.ranks import rank_findings
from nvspan.answers.recorder import costly_tiny, loss_findings, tiny_findings
from nvspan.answers.requests import blocking_findings, cause_lines, slow_findings
from nvspan.answers.stages import stage_findings
from nvspan.answers.waits import large_waits, wait_findings
from nvspan.answers.words import files_text
from nvspan.loops.choosing import Choice
from nvspan.loops.loop import Loop
from nvspan.recording import Kernels, Recording
from nvspan.recording.label import PROFILE_DOMAIN
from nvspan.recording.loop import read_loop
from nvspan.recording.losses import has_events
from nvspan.recording.modules import Modules
from nvspan.recording.parallel import both
from nvspan.recording.steps import Steps
from nvspan.report.hottest import run_headline, sampled
from nvspan.report.lines import missed_lines

_RANKS = 3  # that steps are compared of
_COMMANDS = {
    "self": "report",
    "dominant": "stats --tree",
    "wait": "view",
    "blocking": "view",
    "slow": "view",
    **dict.fromkeys(("warm-up", "jump", "trend", "levels", "rare"), "steps"),
    **dict.fromkeys(("period", "sawtooth", "modes", "cancel"), "report"),
}
_LARGEST = ("dominant", "self")  # findings that every program has


class Analysis:
    """A recording's headline and findings.

    Attributes:
        recording: what it is of.
        stats: its statistics by name.
        loop: what a step is, and where time goes; None: it has no closed ranges of the CPU.
        headline: one line about the whole.
        findings: what is missing from the recording, the rank that holds the others up, the others
            by their cost, and what cannot be told.
        checked: what was looked for.
        parts: the phases of a typical step, or the parts of a run; None: it has no ranges.
        lines: its samples, by expression; None: it has none.
    """

    def __init__(self, recording: Recording, step: str | None = None) -> None:
        self.recording = recording
        self._step = step
        self._ranks = sorted({p.rank for p in recording.processes if p.rank is not None})
        self._single = _first_rank(recording, self._ranks)
        self._still_open: list[LoopOpen] = []
        self.loop: Loop | None
        self.loop, self.stats = both(self._read_loop, recording.stats)
        self.checked: list[str] = []
        self.lines = sampled(self._single)
        self.parts: Parts | None = None
        self.headline = ""
        self.findings = [self._with_next(one) for one in sorted(self._find(), key=_order)]
        self.headline = self._processes() + self.headline

    @property
    def has_gpu_work(self) -> bool:
        """Whether the recording has device ranges, kernels or copies."""
        return any(map(gpu.is_gpu_work, self.stats.rows))

    @property
    def nothing_else(self) -> bool:
        """Whether only what every program has was found: a largest part."""
        return all(finding.kind in (*_LARGEST, "samples") for finding in self.findings)

    @cached_property
    def steps(self) -> Steps | None:
        """The steps by phase, on the CPU and the GPU; None: there are none."""
        loop = self.loop if self._single is self.recording else None
        try:
            return Steps(self.recording, self._step, loop=loop)
        except ValueError:
            return None

    @cached_property
    def modules(self) -> Modules | None:
        """The modules of the models; None: there are no steps."""
        return None if self.steps is None else Modules(self.recording, steps=self.steps)

    @cached_property
    def kernels(self) -> Kernels:
        """The kernels by name."""
        return self.recording.kernels()

    def _with_next(self, finding: Finding) -> Finding:
        """The finding with a command that shows more of it, where it names nothing to do."""
        command = _COMMANDS.get(finding.kind)
        if finding.next or command is None:
            return finding
        return replace(finding, next=f"nvspan {command} {files_text(self.recording)}")

    def _read_loop(self) -> Loop | None:
        if self._step is None and not has_events(self.recording):
            return None
        loop = read_loop(self._single, self._step)
        self._still_open = loop.still_open
        return loop if loop.ranges else None

    def _processes(self) -> str:
        """What comes before the headline of several processes."""
        count = len({(process.host, process.pid) for process in self.recording.processes})
        if len(self._ranks) > 1:
            return f"{len(self._ranks):,} ranks; rank {self._ranks[0]}: "
        return f"{count:,} processes: " if count > 1 else ""

    def _find(self) -> Iterator[Finding]:
        yield from loss_findings(self.recording, self.stats)
        if self.lines is not None:
            for text in missed_lines(self.lines.facts):
                yield Finding("samples", text)
        if self.loop is None:
            self.headline = headline.event_headline(self.recording, self.stats, self._still_open)
            if self.lines is not None and not self.stats.rows:
                self.headline = run_headline(self.lines)
            return
        self.parts = Parts(self.loop.tree)
        files = files_text(self.recording)
        lines = LineFinder(self._single, self.lines, self.loop, files)
        if self.loop.choice is None:
            yield from self._find_in_run(self.loop, self.parts, lines)
        elif self.loop.choice.overlapping:
            yield from self._find_in_requests(self.loop, self.loop.choice, self.parts, lines)
        else:
            yield from self._find_in_steps(self.loop, self.loop.choice, lines)
        if PROFILE_DOMAIN in self.recording._reader.domains():
            self.checked.append("imports")
            yield from import_findings(self.recording, self.stats, self.loop)
        self.checked.append("recording cost")
        yield from tiny_findings(self.recording, self.loop)

    def _find_in_steps(self, loop: Loop, choice: Choice, lines: LineFinder) -> Iterator[Finding]:
        run = max(loop.span, 1)
        effects: list[Effect] = _reader.variation(loop.tree.steps)
        self.parts = parts = _typical_parts(loop, effects)
        per_run = min(loop.tree.total / run, 1.0)
        self.checked += ["waits", "time between steps", "warm-up", "jumps", "trends", "periods"]
        self.checked += ["two modes", "rare slow steps"]
        self.headline = headline.step_headline(loop, choice, parts, effects)
        blamed = None
        if len(self._ranks) >= _RANKS and self.steps is not None:
            self.checked.append("ranks")
            across, waiting = rank_findings(self.recording, self.steps)
            yield from across
            blamed = waiting.phase if waiting is not None else None
        waits, explained = self._find_waits(loop, loop.steps_extent, lines)
        yield from waits
        largest = list(dominant_findings(parts, choice.unit, per_run, lines, explained))
        on_gpu = self.has_gpu_work and self.steps is not None
        if on_gpu or blamed is not None:  # what a rank waits for another one is not its own
            largest = [finding for finding in largest if finding.kind != "dominant"]
        if on_gpu and self.steps is not None and find_bottleneck(self.steps).bound is not None:
            largest = []  # what the GPU waits for comes first
        yield from largest
        if on_gpu and self.steps is not None:
            self.checked.append("GPU")
            self.headline += headline.gpu_clause(self.steps)
            yield from self._find_on_gpu(self.steps, lines)
        elif self.recording.has_gpu():
            yield gpu.unknown_finding()
        means, unit = loop.steps.means, choice.unit
        causes = partial(cause_lines, loop, lines=lines)
        first_runs = None
        if on_gpu and self.steps is not None and len(self.steps) == choice.count:
            first_runs = partial(gpu.first_runs, lambda: self.kernels, self.steps)
        yield from change_findings(
            effects, parts, means, unit, per_run, causes, lines.slower, first_runs
        )
        if not any(effect.kind in LASTING for effect in effects):
            cancelling = list(cancelling_findings(parts, choice.unit, per_run))
            yield from cancelling or phase_growth_findings(parts, choice.unit, per_run)
        yield from stage_findings(loop.gaps, choice.unit, run, loop.thread_name, lines)
        yield from gap_change_findings(loop.gaps, loop.gaps.total / run, lines)

    def _find_in_requests(
        self, loop: Loop, choice: Choice, parts: Parts, lines: LineFinder
    ) -> Iterator[Finding]:
        self.checked += ["waits", f"slow {choice.unit}s", "warm-up", "jumps", "trends"]
        if loop.large_holds:
            parts.hold(loop.holds)
        self.headline = headline.request_headline(loop, choice, parts)
        yield from blocking_findings(loop, choice.unit, lines)
        effects: list[Effect] = _reader.variation(parts.tree.steps)
        explained: set[str] = set()
        yield from slow_findings(effects, parts, loop, choice.unit, explained, lines)
        time = max(parts.tree.total, 1)
        waits = [one for one in large_waits(loop.waits_of_requests, time)
                 if one.name not in explained]  # fmt: skip
        whose = f"the {choice.unit}s' time"
        yield from wait_findings(waits, loop.thread_name, time, time, lines, whose)
        told = {one.name for one in waits}
        yield from dominant_findings(parts, choice.unit, 1.0, lines, told, overlapping=True)
        lasting = [effect for effect in effects if effect.kind in (*LASTING, "warm_up")]
        means, unit = loop.steps.means, choice.unit
        causes = partial(cause_lines, loop, lines=lines)
        yield from change_findings(lasting, parts, means, unit, 1.0, causes, lines.slower)

    def _find_in_run(self, loop: Loop, parts: Parts, lines: LineFinder) -> Iterator[Finding]:
        self.checked.append("waits")
        self.headline = headline.run_headline(loop)
        run = max(loop.whole, 1)
        parts.extend(run, sum(row.self for row in loop.self_times if row.still_open))
        waits, explained = self._find_waits(loop, run, lines)
        yield from waits
        largest = next(iter(loop.self_times), None)
        if largest is not None and largest.name not in explained:
            yield from self_finding(parts, largest, loop, self.stats.rows, lines)
            explained.add(largest.name)
        yield from dominant_findings(parts, "run", min(parts.total / run, 1.0), lines, explained)

    def _find_waits(
        self, loop: Loop, span: int, lines: LineFinder
    ) -> tuple[list[Finding], set[str]]:
        """Waits, and the names of the ranges that these, or findings about tiny ones, explain."""
        waits = large_waits(loop.waits, span)
        names = {row.name for row in costly_tiny(self.recording, loop)}
        names |= {wait.name for wait in waits}
        found = wait_findings(waits, loop.thread_name, span, max(loop.span, 1), lines)
        return list(found), names

    def _find_on_gpu(self, steps: Steps, lines: LineFinder) -> Iterator[Finding]:
        if steps.typical.steps:
            yield from gpu.bound_findings(steps, lines)
            yield from gpu.unnamed_findings(steps)
        if steps.has_work and not steps.of_device_ranges:
            yield from gpu.kernel_findings(self.kernels, steps, lines)
        if self.modules is not None and self.modules.has_gpu:
            yield from gpu.module_findings(self.modules)

    @property
    def next(self) -> str:
        """What to type where nothing, or nothing else, was found; empty where something was."""
        if not has_events(self.recording):
            return "record with --mode ring=64 to see steps; it bounds the file as well"
        if self.loop is None and not self.stats.rows and self.lines is not None:
            return f"nvspan stats --lines {files_text(self.recording)}"
        if self.loop is None and not self.stats.rows:
            return "nvspan record --profile script.py    record function calls as ranges"
        if self.loop is None or not self.nothing_else:
            return ""
        files = files_text(self.recording)
        old = "OLD.nvspan" if files.endswith(".nvspan") and " " not in files else "OLD... --"
        return f"nvspan diff {old} {files}    compare with an earlier run"


def analyze(recording: Recording, step: str | None = None) -> Analysis:
    """What stands out in a recording; `step` is a pattern of the ranges that are steps.

    Raises:
        ValueError: no range is called as `step` says.
    """
    return Analysis(recording, step)


def _typical_parts(loop: Loop, effects: list[Effect]) -> Parts:
    """The parts of the steps without warm-up and, where the others are alike, rare slow ones."""
    is_mixed = any(effect.kind in ("period", "sawtooth", "modes") for effect in effects)
    left_out = ("warm_up",) if is_mixed else ("warm_up", "rare")
    odd = {index for effect in effects if effect.kind in left_out for index in effect.high}
    if not odd:
        return Parts(loop.tree)
    typical = [index for index in range(len(memoryview(loop.tree.steps))) if index not in odd]
    return Parts(loop.tree, loop.steps.means(typical, typical), len(typical))


def _order(finding: Finding) -> tuple[int, float]:
    lead = {"losses": 0, "slow-rank": 1, "self": 2, "blocking": 2}.get(finding.kind, 3)
    return 4 if finding.certainty == UNKNOWN else lead, -(finding.cost or 0.0)


def _first_rank(recording: Recording, ranks: list[int]) -> Recording:
    """The part of a job that its first rank recorded; another recording is whole."""
    if len(ranks) < 2:
        return recording
    processes = recording.processes
    owners = memoryview(recording.threads["process"]).tolist()
    threads = [row for row, owner in enumerate(owners) if processes[owner].rank == ranks[0]]
    return recording.filter(threads=threads)
