# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One call of ``nvspan ncu``: runs the program under ncu, and shows what came of it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nvspan._doctor.tools import captured, version_of
from nvspan.cli.program.launching import run_to_end
from nvspan.cli.program.ncu_line import without_option
from nvspan.nsight.compute import diagnosis
from nvspan.nsight.compute.dry_run import DryRunError, dry_run
from nvspan.nsight.compute.explain import Run, as_lines, explain, rank_findings
from nvspan.nsight.compute.messages import OK, PROBLEM, Finding, reported
from nvspan.nsight.lines import on_ranks
from nvspan.nsight.lines.launchers import is_launched, rank_variable, split_line
from nvspan.nsight.lines.ncu_command import METRICS, filters_of
from nvspan.nsight.lines.ncu_options import printing
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX, Reports
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results import details
from nvspan.nsight.results.csv_reader import printed
from nvspan.nsight.results.result import NcuResult, read_reports
from nvspan.nsight.results.tables import formatted
from nvspan.recording import Recording
from nvspan.report.text import printable_lines

Ranges = Sequence["str | RangeFilter"]


def tell(text: str) -> None:
    """Prints a sentence of ``nvspan ncu``."""
    print(f"nvspan ncu: {printable_lines(text)}", file=sys.stderr, flush=True)


def show_findings(
    findings: Sequence[Finding], again: Callable[[Finding], str | None] = lambda finding: None
) -> None:
    """Prints findings, with the commands that `again` has for them."""
    for line in as_lines(findings, again):
        print(printable_lines(line), file=sys.stderr)


def write_table(text: str, log_file: str | None) -> int:
    """Writes results on standard error, or where --log-file says: 1 if that cannot be done."""
    shown = printable_lines(text).rstrip("\n") + "\n"
    stream = {None: sys.stderr, "stderr": sys.stderr, "stdout": sys.stdout}.get(log_file)
    try:
        if log_file is None or stream is not None:
            print(shown, end="", file=stream)
        else:
            with open(log_file, "w", encoding="utf-8") as file:
                file.write(shown)
    except OSError as error:
        tell(f"cannot write {log_file!r}: {error.strerror}")
        return 1
    return 0


def _part(result: NcuResult, said: Sequence[str]) -> NcuResult:
    """What is in the reports that one ncu says it wrote."""
    paths = {os.path.realpath(path) for path in reported(said)}
    results = [each for each in result.results if os.path.realpath(each.report) in paths]
    return NcuResult(results, result.filters)


@dataclass
class Session:
    """What the runs of one command line have in common.

    Attributes:
        own: the options of ``nvspan ncu`` as they were given.
        ranges: those that were given; filters are those of --nvtx-include.
        program: its words after ours.
        options: what `own` says.
        command: the command line of the program.
        ncu: the program ncu.
        recording: of the program, where there is one.
        unchecked: why ranges cannot be checked by it.
        is_whole: whether the recording has all ranges of the program.
    """

    own: Sequence[str]
    ranges: Ranges
    program: Sequence[str]
    options: argparse.Namespace
    command: list[str]
    ncu: str
    recording: Recording | None
    unchecked: str | None
    is_whole: bool
    _has_tried: bool = False  # to make a recording

    def run(self, line: list[str], ranges: Ranges) -> int:
        """Runs one line, of some of the ranges: the program's exit code."""
        name = line[line.index("--export") + 1]
        if folder := os.path.dirname(name):
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError as error:
                tell(f"cannot write into {folder!r}: {error.strerror}")
                return 1
        filters = self.filters(ranges)
        if not self.check(filters):
            tell("not run, because nothing would be profiled: --no-check runs it nevertheless")
            return 1
        reports = Reports(name, COMPUTE_SUFFIX)
        code, said = self._under_ncu(line, folder)
        paths = reports.written_reports()
        self._show(self._read(paths, filters), paths, said)
        return code

    def filters(self, ranges: Ranges) -> list[RangeFilter]:
        """The filters of ranges, by the recording where there is one."""
        return filters_of(ranges, self.recording)

    def check(self, filters: list[RangeFilter]) -> bool:
        """Says what a recording tells of the ranges; False: none of them would be profiled."""
        options, recording = self.options, self.recording
        if recording is None:
            if self.unchecked is not None:
                tell(f"the ranges could not be checked: {self.unchecked}")
            return True
        found: list[Finding] = []
        try:
            if not options.no_check:
                found = [diagnosis.filter_finding(filter, recording) for filter in filters]
        except ValueError as error:  # it has statistics alone
            tell(f"the ranges could not be checked: {error}")
        missing = [finding for finding in found if finding.status == PROBLEM]
        shown = found if options.dry_run or options.replay in diagnosis.AS_ONE else missing
        launched = is_launched(self.command)
        shown = [*shown, *diagnosis.before(filters, recording, options.replay, launched=launched)]
        show_findings(shown, self._again)
        return not (missing and len(missing) == len(filters) and self.is_whole)

    def _under_ncu(self, line: list[str], folder: str) -> tuple[int, dict[str, list[str]]]:
        """Runs it with what ncu says in a file; the program's own output stays as it is. The exit
        code, and what ncu said, by rank where a launcher starts it."""
        launcher, tool, program = split_line(line, self.command)
        launched = is_launched(self.command)
        if launched:
            tool = tool[tool.index(self.ncu) :]
        # Other hosts may see the folder of the reports.
        with tempfile.TemporaryDirectory(
            prefix=".nvspan-ncu-", dir=os.path.abspath(folder) if launched else None
        ) as logs:
            if launched:
                variable = rank_variable(self.command)
                words = on_ranks.with_logs(tool, variable, self.options.ranks, logs)
            else:
                log = os.path.join(logs, on_ranks.LOG_NAME.format(rank="", pid=0))
                words = [*tool[:1], "--log-file", log, *tool[1:]]
            code = run_to_end("nvspan ncu", [*launcher, *words, *program], dict(os.environ))
            said = on_ranks.logs(logs)
        if code and not said:  # ncu makes no file if it cannot read its options
            said = {"": refused} if (refused := self._refused(tool)) else {}
        return code, said

    def _refused(self, tool: list[str]) -> list[str]:
        """What ncu says of its options."""
        done = captured(*tool, "--version")
        lines = (done.stdout + done.stderr).splitlines()
        return [line for line in lines if line.startswith("==ERROR==")]

    def _read(self, reports: Sequence[str], filters: Sequence[RangeFilter]) -> NcuResult:
        try:
            return read_reports(reports, ncu=self.ncu, filters=filters)
        except (OSError, ValueError) as error:
            tell(str(error))
            return NcuResult([], filters)

    def _show(self, result: NcuResult, reports: Sequence[str], said: dict[str, list[str]]) -> None:
        options = self.options
        if len(result) and not options.no_report:
            write_table(self._table(result, reports), options.log_file)
        if said or len(result) or not is_launched(self.command):
            self._explain(result, said)
        else:
            tell("nothing was profiled; what ncu says of each rank is above")
        for path in reports:
            print(f"nvspan: report {printable_lines(path)}", file=sys.stderr)

    def _table(self, result: NcuResult, reports: Sequence[str]) -> str:
        """The results in the form that was asked for."""
        options = self.options
        if words := printing(vars(options)):
            return "".join(printed(report, self.ncu, *words) for report in reports)
        if options.page:
            return details.formatted(details.detail_rows(result, self.ncu), options.format)
        wanted = [name for name in options.metrics if "__" in name]
        return formatted(result.table(kernels=options.kernels, metrics=wanted), options.format)

    def _explain(self, result: NcuResult, said: dict[str, list[str]]) -> None:
        version = None if len(result) else version_of(self.ncu)
        if list(said) in ([], [""]):
            findings = explain(self._ended(result, said.get("", ()), version))
        else:
            of_rank = {
                rank: explain(self._ended(_part(result, lines), lines, version, rank))
                for rank, lines in said.items()
            }
            findings = rank_findings(of_rank)
        if all(finding.status == OK for finding in findings):
            return
        tell("nothing was profiled" if not len(result) else "of this result:")
        show_findings(findings, self._again)

    def _ended(
        self, result: NcuResult, said: Sequence[str], version: str | None, rank: str = ""
    ) -> Run:
        options = self.options
        choosing = ("calls", "kernel_name", "kernel_id", "launch_skip", "exclude")
        return Run(
            said=said,
            result=result,
            replay=options.replay,
            version=version,
            processes=options.processes,
            metrics=[
                metric
                for name in options.metrics
                if "__" in name or name in METRICS
                for metric in METRICS.get(name, (name,))
            ],
            chooses=[f"--{n.replace('_', '-')}" for n in choosing if getattr(options, n)],
            recording=self._a_recording,
            rank=int(rank) if rank else None,
        )

    def _a_recording(self) -> Recording | None:
        """The recording that there is, or a dry one to find out what went wrong."""
        if self.recording is None and not self._has_tried:
            self._has_tried = True
            options = self.options
            try:
                self.recording = dry_run(
                    self.command, steps=options.dry_steps, seconds=options.dry_seconds, tell=tell
                ).recording
            except (DryRunError, RuntimeError, OSError) as error:
                tell(str(error))
        return self.recording

    def _again(self, finding: Finding) -> str | None:
        """The command line with what a finding asks for."""
        if not (finding.options or finding.ranges):
            return None
        own = without_option(self.own, "--range")  # they are among the ranges
        ranges = [text for text in self.ranges if isinstance(text, str)]
        if finding.instead in ranges and finding.ranges:
            at = ranges.index(finding.instead)
            ranges[at : at + 1] = finding.ranges
        elif finding.ranges:
            own = without_option(own, "--nvtx-include", finding.instead or None)
            ranges = [*(ranges if finding.instead else ()), *finding.ranges]
        if finding.options[:1] and finding.options[0] in own and len(finding.options) == 2:
            own = without_option(own, finding.options[0])
        words = ["nvspan", "ncu", *dict.fromkeys(ranges), *own, *finding.options, *self.program]
        return shlex.join(words)
