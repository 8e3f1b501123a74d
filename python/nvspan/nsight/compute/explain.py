# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Explanation of a run of Nsight Compute: the checks that passed, and the first that failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nvspan.nsight.compute import diagnosis
from nvspan.nsight.compute.messages import (
    OK,
    PROBLEM,
    UNEXPLAINED,
    Finding,
    findings_of,
    has_driver,
    no_driver,
    note,
    problem,
)
from nvspan.nsight.results.result import NcuResult
from nvspan.recording import Recording
from nvspan.recording.nearest import nearest

_MOST_KERNELS = 8


@dataclass(frozen=True)
class Run:
    """A run of ncu that ended.

    Attributes:
        said: the lines of ncu.
        result: what it profiled, with the filters of the ranges that were asked for.
        version: of ncu, where it is known.
        replay, processes: as `ncu_command` has them.
        metrics: that were asked for by ncu's names.
        chooses: whether calls, kernels or launches were chosen.
        recording: a recording of the program; it is made when it is asked for. None: there is none.
        rank: whose run it is, where a launcher started several.
    """

    said: Sequence[str]
    result: NcuResult
    version: str | None = None
    replay: str = "kernel"
    processes: str = "all"
    metrics: Sequence[str] = ()
    chooses: Sequence[str] = ()
    recording: Callable[[], Recording | None] = field(default=lambda: None)
    rank: int | None = None


def explain(run: Run) -> list[Finding]:
    """What there is to say: nothing if all went well.

    Of an empty result the checks come in their order, those that passed too, up to what failed.
    """
    messages = findings_of(run.said)
    if run.replay == "range":
        messages = [_with_the_wait(finding) for finding in messages]
    if len(run.result):
        return [*messages, *_left_out(run)]
    found = [Finding(OK, f"ncu {run.version or ''}".rstrip() + " ran")]
    if any(finding.status == PROBLEM for finding in messages):
        return [*found, *messages]
    connected = {m[1] for line in run.said if (m := re.search(r"Connected to process (\d+)", line))}
    if not connected:
        return [*found, *messages, _no_cuda(run)]
    processes = "1 process" if len(connected) == 1 else f"{len(connected)} processes"
    found.append(Finding(OK, f"it looked at {processes} with CUDA"))
    filters = run.result.filters
    recording = run.recording() if filters else None
    if recording is None and filters:
        unknown = problem(
            "no kernel was profiled, and there is no recording that says why",
            "give one of the program: --using FILE, by 'nvspan record'",
        )
        return [*found, *messages, unknown]
    if recording is not None:
        hits = [diagnosis.filter_finding(filter, recording, run.rank) for filter in filters]
        found += hits
        if all(finding.status == PROBLEM for finding in hits):
            return [*found, *messages]
    return [*found, *messages, _chosen(run) or _no_kernel(recording)]


def _with_the_wait(finding: Finding) -> Finding:
    """A failure without a reason, with what range replay needs of the end of a range."""
    if not finding.text.startswith(UNEXPLAINED):
        return finding
    remedies = (
        "the range must wait for its work before it ends: annotate(sync=True), "
        "nvspan.nsight.profile_region and torch.cuda.synchronize() wait",
        *finding.remedies,
    )
    return replace(finding, remedies=remedies, options=("--replay", "app-range"))


def _no_cuda(run: Run) -> Finding:
    if run.processes == "application-only":
        return problem(
            "the program itself used no CUDA, and its children were left out",
            options=("--processes", "all"),
        )
    if not has_driver():
        return no_driver()
    return problem(
        "no process of the program used CUDA",
        "the program must run on the GPU: does it see one (CUDA_VISIBLE_DEVICES, "
        "torch.cuda.is_available())?",
    )


def _chosen(run: Run) -> Finding | None:
    """Kernels, launches or calls that were chosen, and are none."""
    lines = [line.strip() for line in run.said]
    if "Available Kernels:" in lines:
        names = lines[lines.index("Available Kernels:") + 1 :]
        kernels = [name.partition(". ")[2] for name in names if re.match(r"\d+\. ", name)]
        if kernels:
            shown = ", ".join(kernels[:_MOST_KERNELS])
            return problem(
                f"no kernel has the name that was asked for; there are {shown}",
                "--kernel takes a regular expression for a part of the name",
            )
    if run.chooses:
        options = " and ".join(run.chooses)
        return problem(f"{options} left out everything", f"run it without {options}")
    return None


def _no_kernel(recording: Recording | None) -> Finding:
    if recording is None:
        return problem("the program launched no kernel")
    return diagnosis.without_kernels(in_other_process=len(recording.processes) > 1)


def _left_out(run: Run) -> list[Finding]:
    """Ranges and metrics that were asked for, and are not in a result that is there."""
    found = []
    filters, results = run.result.filters, run.result.results
    missing = [filter for filter in filters if not NcuResult(results, [filter]).ranges()]
    recording = run.recording() if missing else None
    if recording is not None and run.replay in diagnosis.AS_ONE:
        found += diagnosis.nested_ranges(filters, recording)
    for filter in missing if not found else ():
        finding = None
        if recording is not None:
            finding = diagnosis.filter_finding(filter, recording, run.rank)
        if finding is None or finding.status == OK:
            finding = note(f"no kernel was profiled in '{filter}'")
        found.append(finding)
    names = run.result.metric_names()
    for metric in run.metrics:
        if not any(name == metric or name.startswith(f"{metric}.") for name in names):
            close = ", ".join(nearest(metric, names, 3))
            unknown = problem(
                f"ncu measured no {metric!r}" + (f"; there are {close}" if close else ""),
                "ncu --query-metrics shows the names; most need an ending: .sum, .avg, .max",
            )
            found.append(unknown)
    return found


def rank_findings(explained: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """What there is to say of each rank, once for all ranks of which it is true."""
    ranks: dict[Finding, list[str]] = {}
    for rank, findings in explained.items():
        for finding in findings:
            ranks.setdefault(finding, []).append(rank)
    return [
        replace(finding, text=f"{_named(named)}: {finding.text}")
        for finding, named in ranks.items()
    ]


def _named(ranks: Sequence[str]) -> str:
    """ "rank 3", or "ranks 0-2, 5"."""
    numbers = sorted(int(rank) for rank in ranks if rank)
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    names = ["a process without a rank"] * ("" in ranks)
    if numbers:
        shown = ", ".join("-".join(map(str, span)) for span in spans)
        names.insert(0, f"rank{'s' * (len(numbers) > 1)} {shown}")
    return " and ".join(names)


def as_lines(findings: Sequence[Finding], again: Callable[[Finding], str | None]) -> list[str]:
    """The findings as text, with the command that works where there is one."""
    lines = []
    for finding in findings:
        lines.append(f"  {finding.status:<8} {finding.text}")
        lines += [f"           - {remedy}" for remedy in finding.remedies]
        if (command := again(finding)) is not None:
            lines.append(f"           try: {command}")
    return lines
