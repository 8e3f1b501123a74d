# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Turns the measurements of bench_annotate.py into Markdown tables and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cases import CASES, IMPORT_LIMIT_MS, TARGETS, Target, limit_of

STATE_TITLES = {
    "none": "no tool",
    "tool": "null tool",
    "asyncio": "null tool, asyncio imported",
    "gone": "a tool came and went",
}


@dataclass(frozen=True)
class Verdict:
    """One target, what was measured for it, and whether it was reached (None: not measured)."""

    target: Target
    limit: float
    value: float | None

    @property
    def reached(self) -> bool | None:
        if self.value is None:
            return None
        if self.target.kind == "times":
            return self.value >= self.limit
        return self.value <= self.limit

    def text(self) -> str:
        kind, state = self.target.kind, STATE_TITLES[self.target.state]
        wanted = {
            "ratio": f"<= {self.limit:g}x of nullcontext",
            "times": f">= {self.limit:g}x below nvtx 0.2.17",
            "over": f"<= {self.limit:g} ns over the bare call",
            "added": f"<= {self.limit:g} ns over no tool",
        }[kind]
        return f"{wanted}, {state}"

    def measured(self) -> str:
        if self.value is None:
            return "not measured"
        unit = " ns" if self.target.kind in ("over", "added") else "x"
        return f"{self.value:.1f}{unit}" if unit == " ns" else f"{self.value:.2f}{unit}"


Results = dict[tuple[str, str], dict[str, float]]


def judge(target: Target, results: Results, version: tuple[int, int]) -> Verdict:
    """Holds one target against the medians {(case, state): {subject: ns}}."""
    here = results.get((target.case, target.state), {})
    ours = here.get("nvspan")
    limit = limit_of(target, version)
    reference = {
        "ratio": here.get("nullcontext"),
        "times": here.get("nvtx"),
        "over": here.get("bare"),
        "added": results.get((target.case, "none"), {}).get("nvspan"),
    }[target.kind]
    if ours is None or reference is None:
        return Verdict(target, limit, None)
    value = {
        "ratio": lambda: ours / reference,
        "times": lambda: reference / max(ours, 0.1),
        "over": lambda: ours - reference,
        "added": lambda: ours - reference,
    }[target.kind]()
    return Verdict(target, limit, value)


def medians(run: dict[str, Any]) -> Results:
    """The measurements of one interpreter by case and state."""
    return {(item["case"], item["state"]): item["ns"] for item in run["cases"]}


def cost_table(run: dict[str, Any]) -> str:
    """Nanoseconds per statement, one row a case."""
    results = medians(run)
    columns = (
        "ns per statement", "nullcontext", "nvtx 0.2.17: no tool", "null tool",
        "nvspan: no tool", "null tool", "null tool + asyncio",
    )  # fmt: skip
    lines = ["| " + " | ".join(columns) + " |", "|---|---|---|---|---|---|---|"]

    def cell(case: str, state: str, subject: str) -> str:
        ns = results.get((case, state), {})
        value = ns.get(subject)
        if value is None:
            return ""
        return f"{value - ns.get('bare', 0.0):.1f}" if "bare" in ns else f"{value:.0f}"

    for case in CASES:
        cells = [
            cell(case.name, "none", "nullcontext"),
            cell(case.name, "none", "nvtx"),
            cell(case.name, "tool", "nvtx"),
            cell(case.name, "none", "nvspan"),
            cell(case.name, "tool", "nvspan"),
            cell(case.name, "asyncio", "nvspan"),
        ]
        lines.append(f"| {case.title} | " + " | ".join(cells) + " |")
        gone = cell(case.name, "gone", "nvspan")
        if gone:
            lines.append(f"| {case.title}, after a tool came and went | | | | {gone} | | |")
    return "\n".join(lines)


def target_table(run: dict[str, Any]) -> str:
    """One row a target, with what was measured and pass or miss."""
    results, titles = medians(run), {case.name: case.title for case in CASES}
    version = (run["version"][0], run["version"][1])
    lines = ["| case | target | measured | |", "|---|---|---|---|"]
    for target in TARGETS:
        verdict = judge(target, results, version)
        mark = {True: "pass", False: "**miss**", None: ""}[verdict.reached]
        bold = "**" if target.required else ""
        lines.append(
            f"| {titles[target.case]} | {bold}{verdict.text()}{bold} "
            f"| {verdict.measured()} | {mark} |"
        )
    imports = run.get("import") or {}
    if "nvspan" in imports:
        over, foreign = imports["nvspan"]["over_bare_cpu_ms"], imports["nvspan"]["third_party"]
        mark = "pass" if over <= IMPORT_LIMIT_MS and not foreign else "**miss**"
        shown = f"{over:.1f} ms of CPU time, third-party: {', '.join(foreign) or 'none'}"
        lines.append(
            f"| import nvspan | <= {IMPORT_LIMIT_MS:g} ms over a bare interpreter, "
            f"no third-party import | {shown} | {mark} |"
        )
    return "\n".join(lines)


def import_line(run: dict[str, Any]) -> str:
    """What the imports cost, in one sentence per module."""
    imports = run.get("import") or {}
    parts = []
    if imports:
        parts = [
            f"Bare interpreter: {imports['bare_ms']:.1f} ms, {imports['bare_cpu_ms']:.1f} CPU."
        ]
    parts += [
        f"`import {name}`: +{imports[name]['over_bare_ms']:.1f} ms wall, "
        f"+{imports[name]['over_bare_cpu_ms']:.1f} ms CPU, "
        f"{imports[name]['importtime_ms']:.1f} ms by -X importtime, "
        f"{imports[name]['modules']} modules."
        for name in ("nvspan", "nvtx")
        if name in imports
    ]
    return " ".join(parts)


def markdown(runs: list[dict[str, Any]]) -> str:
    """The whole report: for each interpreter its costs and its targets."""
    parts = []
    for run in runs:
        version = ".".join(str(part) for part in run["version"])
        parts += [f"### CPython {version}", "", cost_table(run), "", import_line(run), ""]
        parts += [target_table(run), ""]
    return "\n".join(parts)


def misses(runs: list[dict[str, Any]]) -> list[str]:
    """Required targets that were missed, for the exit code."""
    missed = []
    for run in runs:
        version = (run["version"][0], run["version"][1])
        for target in TARGETS:
            verdict = judge(target, medians(run), version)
            if target.required and verdict.reached is False:
                missed.append(
                    f"CPython {version[0]}.{version[1]}: {target.case}: {verdict.text()}: "
                    f"{verdict.measured()}"
                )
    return missed
