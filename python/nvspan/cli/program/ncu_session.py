# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One call of ``nvspan ncu``: runs the program under ncu, and shows what came of it."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from nvspan.cli.program.launching import run_to_end
from nvspan.nsight.compute import diagnosis
from nvspan.nsight.compute.dry_run import DryRunError, dry_run
from nvspan.nsight.compute.explain import Run, as_lines, explain, of_ranks
from nvspan.nsight.compute.messages import OK, PROBLEM, Finding, reported
from nvspan.nsight.lines import on_ranks
from nvspan.nsight.lines.launchers import is_launched, rank_variable, split_line
from nvspan.nsight.lines.ncu_command import METRICS, filters_of
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX, Reports, version_of
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results.result import NcuResult, read_reports
from nvspan.nsight.results.tables import formatted
from nvspan.recording import Recording
from nvspan.report.text import printable_lines

_LONG = 30.0  # seconds


def tell(text: str) -> None:
    print(f"nvspan ncu: {printable_lines(text)}", file=sys.stderr, flush=True)


def _part(result: NcuResult, said: Sequence[str]) -> NcuResult:
    """What is in the reports that one ncu says it wrote."""
    paths = {os.path.realpath(path) for path in reported(said)}
    results = [each for each in result.results if os.path.realpath(each.report) in paths]
    return NcuResult(results, result.filters)


class Session:
    """What the runs of one command line have in common."""

    def __init__(
        self, own: Sequence[str], ranges: Sequence[str], program: Sequence[str],
        options: argparse.Namespace, command: list[str], ncu: str, recording: Recording | None,
        unchecked: str | None, *, is_whole: bool,
    ) -> None:  # fmt: skip
        self._ranges, self._program = list(ranges), list(program)
        self._own = list(own)
        while "--range" in self._own:  # they are among the ranges
            at = self._own.index("--range")
            del self._own[at : at + 2]
        self._options, self._command, self._ncu = options, command, ncu
        self._recording, self._unchecked, self._is_whole = recording, unchecked, is_whole
        self._has_tried = False  # to make a recording

    def run(self, line: list[str], ranges: list[str]) -> int:
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
        made = reports.written_reports()
        result = self._read(made, filters)
        self._show(result, made, said, filters)
        return code

    def filters(self, ranges: Sequence[str]) -> list[RangeFilter]:
        return filters_of(ranges, self._recording)

    def check(self, filters: list[RangeFilter]) -> bool:
        """Says what a recording tells of the ranges; False: none of them would be profiled."""
        options, recording = self._options, self._recording
        if recording is None:
            if self._unchecked is not None:
                tell(f"the ranges could not be checked: {self._unchecked}")
            return True
        found: list[Finding] = []
        try:
            if not options.no_check:
                found = [diagnosis.of_filter(each, recording) for each in filters]
        except ValueError as error:  # it has statistics alone
            tell(f"the ranges could not be checked: {error}")
        missing = [each for each in found if each.status == PROBLEM]
        shown = found if options.dry_run or options.replay in diagnosis.AS_ONE else missing
        launched = is_launched(self._command)
        shown = [*shown, *diagnosis.before(filters, recording, options.replay, launched=launched)]
        for line in as_lines(shown, self._again):
            print(printable_lines(line), file=sys.stderr)
        return not (missing and len(missing) == len(filters) and self._is_whole)

    def _under_ncu(self, line: list[str], folder: str) -> tuple[int, dict[str, list[str]]]:
        """Runs it with what ncu says in a file; the program's own output stays as it is. The exit
        code, and what ncu said, by rank where a launcher starts it."""
        launcher, tool, program = split_line(line, self._command)
        launched = is_launched(self._command)
        if launched:
            tool = tool[tool.index(self._ncu) :]
        # Other hosts may see the folder of the reports.
        with tempfile.TemporaryDirectory(
            prefix=".nvspan-ncu-", dir=os.path.abspath(folder) if launched else None
        ) as logs:
            variable = rank_variable(self._command)
            words = on_ranks.with_logs(tool, variable, self._options.ranks, logs)
            log = os.path.join(logs, "ncu.txt")
            if not launched:
                words = [*tool[:1], "--log-file", log, *tool[1:]]
            code = run_to_end("nvspan ncu", [*launcher, *words, *program], dict(os.environ))
            if launched:
                said = on_ranks.logs(logs)
            else:
                try:
                    with open(log, encoding="utf-8", errors="replace") as file:
                        said = {"": file.read().splitlines()}
                except OSError:
                    said = {}
        if code and not said:  # ncu makes no file if it cannot read its options
            said = {"": refused} if (refused := self._refused(tool)) else {}
        return code, said

    def _refused(self, tool: list[str]) -> list[str]:
        """What ncu says of its options."""
        done = subprocess.run(
            [*tool, "--version"], capture_output=True, text=True, errors="replace",
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        said = (done.stdout + done.stderr).splitlines()
        return [each for each in said if each.startswith("==ERROR==")]

    def _read(self, reports: Sequence[str], filters: Sequence[RangeFilter]) -> NcuResult:
        try:
            return read_reports(reports, ncu=self._ncu, filters=filters)
        except (OSError, ValueError) as error:
            tell(str(error))
            return NcuResult([], filters)

    def _show(
        self, result: NcuResult, reports: Sequence[str], said: dict[str, list[str]],
        filters: Sequence[RangeFilter],
    ) -> None:  # fmt: skip
        options = self._options
        if len(result) and not options.no_report:
            wanted = [name for name in options.metrics if "__" in name]
            table = result.table(kernels=options.kernels, metrics=wanted)
            shown = formatted(table, options.format)
            sys.stderr.write(printable_lines(shown).rstrip("\n") + "\n")
        if said or len(result) or not is_launched(self._command):
            self._explain(result, said, filters)
        else:
            tell("nothing was profiled; what ncu says of each rank is above")
        for path in reports:
            print(f"nvspan: report {printable_lines(path)}", file=sys.stderr)

    def _explain(
        self, result: NcuResult, said: dict[str, list[str]], filters: Sequence[RangeFilter]
    ) -> None:
        version = None if len(result) else version_of(self._ncu)
        if list(said) in ([], [""]):
            findings = explain(self._ended(result, said.get("", ()), filters, version))
        else:
            findings = of_ranks({
                rank: explain(self._ended(_part(result, lines), lines, filters, version, rank))
                for rank, lines in said.items()
            })  # fmt: skip
        if all(finding.status == OK for finding in findings):
            return
        tell("nothing was profiled" if not len(result) else "of this result:")
        lines = "\n".join(as_lines(findings, self._again))
        print(printable_lines(lines), file=sys.stderr)

    def _ended(
        self, result: NcuResult, said: Sequence[str], filters: Sequence[RangeFilter],
        version: str | None, rank: str = "",
    ) -> Run:  # fmt: skip
        options = self._options
        chosen = {"--calls": options.calls, "--kernel-id": options.kernel_id,
                  "--launch-skip": options.launch_skip, "--exclude": options.exclude}  # fmt: skip
        return Run(
            said=said, result=result, filters=filters, replay=options.replay, version=version,
            processes=options.processes,
            metrics=[m for name in options.metrics if "__" in name or name in METRICS
                     for m in METRICS.get(name, (name,))],
            chooses=[name for name, value in chosen.items() if value],
            recording=self._a_recording, rank=int(rank) if rank else None,
        )  # fmt: skip

    def _a_recording(self) -> Recording | None:
        """The recording that there is, or a dry one to find out what went wrong."""
        if self._recording is None and not self._has_tried:
            self._has_tried = True
            options = self._options
            try:
                self._recording = dry_run(
                    self._command, steps=options.dry_steps, seconds=options.dry_seconds, tell=tell
                ).recording
            except (DryRunError, RuntimeError, OSError) as error:
                tell(str(error))
        return self._recording

    def _again(self, finding: Finding) -> str | None:
        """The command line with what a finding asks for."""
        if not (finding.options or finding.ranges):
            return None
        ranges = list(self._ranges)
        if finding.instead in ranges and finding.ranges:
            at = ranges.index(finding.instead)
            ranges[at : at + 1] = finding.ranges
        elif finding.ranges:
            ranges = list(finding.ranges)
        own = list(self._own)
        if finding.options[:1] and finding.options[0] in own and len(finding.options) == 2:
            at = own.index(finding.options[0])
            del own[at : at + 2]
        words = ["nvspan", "ncu", *dict.fromkeys(ranges), *own, *finding.options, *self._program]
        return shlex.join(words)
