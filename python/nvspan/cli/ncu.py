# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ncu``: profiles the kernels in ranges of a program, and shows a table of them."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

import nvspan
from nvspan.cli import ncu_read
from nvspan.cli.common.options import TABLE, TOOL, names
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.program.launching import (
    add_program_options,
    command_of,
    ended_as,
    run_to_end,
    why_not_started,
)
from nvspan.cli.program.ncu_line import range_or_program, split, split_reports, without_option
from nvspan.cli.program.ncu_session import Ranges, Session, show_findings, tell
from nvspan.nsight import ncu_command
from nvspan.nsight.compute.diagnosis import AS_ONE
from nvspan.nsight.compute.dry_run import DryRun, DryRunError, dry_run
from nvspan.nsight.compute.messages import has_driver, no_driver
from nvspan.nsight.lines.counting import slice_of
from nvspan.nsight.lines.launchers import NO_RANK, is_launched, lacks_rank, output_name
from nvspan.nsight.lines.ncu_command import (
    CACHE_CONTROLS,
    CLOCK_CONTROLS,
    METRICS,
    MOST_CALLS,
    PRESETS,
    PROCESSES,
    REPLAY_MODES,
    SECTIONS,
    filters_of,
    section_words,
)
from nvspan.nsight.lines.ncu_options import (
    CHOICE_VALUES,
    FLAGS,
    QUERY_FLAGS,
    QUERY_VALUES,
    RUN_FLAGS,
    RUN_VALUES,
    SHORT,
    VALUES,
    words_of,
)
from nvspan.nsight.lines.tools import find_tool, sets_of
from nvspan.nsight.ranges.names import is_written_for_ncu
from nvspan.nsight.ranges.range_filter import RangeFilter

_USAGE = """\
nvspan ncu [RANGE ...] [options] script.py [arguments ...]
       nvspan ncu [RANGE ...] [options] -m module [arguments ...]
       nvspan ncu [RANGE ...] [options] -c code [arguments ...]
       nvspan ncu [RANGE ...] [options] [--] command [arguments ...]
       nvspan ncu --read FILE [RANGE ...] [options]"""

_DESCRIPTION = """\
Profiles the kernels of the named ranges with Nsight Compute, then prints a table of the ranges. A
RANGE is a plain name (layers.3.attention, torch:layers.*.mlp, 'forward > layers.3') or a filter of
ncu (torch@layers.3/). Plain names are looked up in a dry recording of the program's first steps.
Under torchrun, srun and mpirun each rank writes its own report. --read shows an earlier report,
also for other ranges, and runs nothing. An ncu command line works with 'nvspan' before it: every
option of ncu is accepted, also those that are not listed."""

# The options that are arguments of `ncu_command`.
_OF_LINE = (
    *("exclude", "replay", "preset", "metrics", "sets", "calls", "kernel", "kernel_id"),
    *("launch_skip", "launch_count", "clock_control", "cache_control", "processes", "ranks"),
    "force",
)
_SETS = ("basic", "detailed", "full", "roofline")  # that every version has
_LISTS = {
    "list-sets": "the sets for --set",
    "list-sections": "the sections for --section",
    "list-rules": "the rules of the sections",
    "list-metrics": "the metrics of the chosen sections",
    "list-chips": "the GPUs for --chips",
    "query-metrics": "the metrics that a GPU has; --chips NAME is another one",
}


def _parser() -> Parser:
    parser = parser_of("ncu", _DESCRIPTION, TABLE, TOOL, usage=_USAGE)
    option = parser.section("selection")
    option(
        "--range NAME",
        "a range, where its name could be taken for a script; may be repeated",
        action="append",
        default=[],
    )
    option(
        "--exclude NAME",
        "leave out kernels in this range; may be repeated",
        action="append",
        default=[],
    )
    option("--nvtx", "have ncu read NVTX ranges; every RANGE implies it")
    for name in ("--nvtx-include", "--nvtx-exclude"):
        option(
            f"{name} FILTER",
            f"a range to {name[7:]}, as ncu takes it (app@step/); may be repeated",
            action="append",
            default=[],
        )
    option(
        "--calls FIRST:END[:STEP]",
        "only these calls of the one range, counted from 0: 3:5 are two of them",
    )
    option("--every N", "only every Nth call of the one range", type=int)
    option("--kernel REGEX", "only kernels whose names match REGEX")
    option(
        "-k, --kernel-name NAME",
        "only kernels with this name, or regex:EXPRESSION",
        action="append",
    )
    option("--kernel-id CONTEXT:STREAM:NAME:N", "only this kernel, in the notation of ncu")
    option("-s, --launch-skip N", "leave out the first N kernels that match", type=int)
    option("--launch-count N", "stop profiling after N results; -c N, too", type=int)
    option(
        "--target-processes, --processes NAME",
        "all (the default): also the processes that the program starts; or application-only",
        default="all",
        choices=PROCESSES,
        dest="processes",
    )
    option("--ranks N[,N]", "profile only these ranks of a launcher: 0,3 or 0-3")
    option = parser.section("measurement")
    option(
        "--preset",
        "quick (times), standard (ncu's set detailed), comprehensive (its set full); the default "
        "is standard unless --metrics, --set or --section is given",
        choices=tuple(PRESETS),
    )
    option(
        "--metrics NAME[,NAME]",
        f"plain names ({', '.join(sorted({*METRICS, *SECTIONS}))}), metrics and sections of ncu",
        type=names,
        action="extend",
        default=[],
    )
    option("--set NAME", "a set of ncu's sections", dest="sets", action="append", default=[])
    option(
        "--section NAME",
        "a section of ncu, as LaunchStats or sol; of a report, the one to show; may be repeated",
        dest="sections",
        action="append",
        default=[],
    )
    option(
        "--replay-mode, --replay MODE",
        "how passes are repeated: kernel (the default), application; range and app-range measure "
        "a range as one thing",
        choices=REPLAY_MODES,
        default="kernel",
        dest="replay",
    )
    option("--clock-control", "lock the clocks (default: base)", choices=CLOCK_CONTROLS)
    option("--cache-control", "flush the caches (default: all)", choices=CACHE_CONTROLS)
    option = parser.section("finding ranges")
    option(
        "--using FILE",
        "a recording of the program in place of a dry one; may be repeated",
        action="append",
    )
    option("--dry-steps N", "how many steps to record (default: 3)", type=int, default=3)
    option(
        "--dry-seconds S",
        "for how many seconds to record at most (default: 120)",
        type=float,
        default=120.0,
    )
    option("--no-check", "skip the check that the run would profile something")
    option = parser.section("results")
    option(
        "-o, --export, --output NAME",
        "the report's name, or the directory of --per-region; {host}, {rank}, {pid} are filled in "
        "(default: nvspan-{pid}, and host and rank with a launcher)",
        dest="output",
    )
    option("-f, --force-overwrite", "the same as --force", dest="force", action="store_true")
    option("--per-region", "run the program once for each range, and write a report for each")
    option("--kernels", "print a row for each kernel")
    option("--csv", "the same as --format csv", dest="format", action="store_const", const="csv")
    option("--log-file FILE", "write the table into FILE; stdout and stderr are the streams")
    option("--ncu PATH", "ncu (default: NVSPAN_NCU, PATH, or where it is installed)")
    ncu_read.add_reading(parser)
    option = parser.section("lists of ncu, for which no program runs")
    for name in QUERY_FLAGS:
        option(_spelled(name), argparse.SUPPRESS if name == "version" else _LISTS[name])
    hidden: dict[str, Any] = {"help": argparse.SUPPRESS}
    for name in FLAGS:
        if name not in QUERY_FLAGS:
            parser.add_argument(*_spelled(name).split(", "), action="store_true", **hidden)
    for name in VALUES:
        if name not in ("kernel-name", "print-summary"):  # which help shows
            parser.add_argument(*_spelled(name).split(", "), action="append", **hidden)
    add_program_options(parser, patterns=False)
    return parser


def _spelled(name: str) -> str:
    return f"{SHORT[name]}, --{name}" if name in SHORT else f"--{name}"


def _settle(parser: Parser, options: argparse.Namespace) -> None:
    """Ends the command where options have no effect together, and puts them into one form.

    Raises:
        ValueError: a filter is none.
    """
    if options.every is not None:
        if options.calls is not None or options.every < 1:
            parser.error("--every must be 1 or more, and goes without --calls")
        options.calls = f"::{options.every}"
    if options.kernel is not None and options.kernel_name is not None:
        parser.error("--kernel and --kernel-name cannot be used together")
    if options.range_filter and options.calls is not None:
        parser.error("--range-filter and --calls cannot be used together")
    if options.preset is None and not (options.metrics or options.sets or options.sections):
        options.preset = "standard"
    options.exclude += map(RangeFilter.parse, options.nvtx_exclude)
    options.range += map(RangeFilter.parse, options.nvtx_include)


def _no_ncu(options: argparse.Namespace) -> int:
    where = f"no program {options.ncu!r}" if options.ncu else "no Nsight Compute"
    tell(
        f"{where} here: install it (it is a part of the CUDA toolkit), or name it: --ncu PATH, "
        "NVSPAN_NCU; 'nvspan doctor' shows where nvspan looks"
    )
    return 127


def _query(parser: Parser, options: argparse.Namespace, own: Sequence[str], ncu: str | None) -> int:
    """Has ncu print what it lists."""
    words = [word for word in without_option(own, "--ncu") if word != "--dry-run"]
    line = [ncu or "ncu", *words]
    if options.dry_run:
        print(shlex.join(line))
        return 0
    if ncu is None:
        return _no_ncu(options)
    return ended_as(run_to_end(parser.prog, line, dict(os.environ)))


def _needs_recording(options: argparse.Namespace, ranges: Ranges) -> bool:
    """Whether names have to be looked up."""
    texts = [text for text in (*ranges, *options.exclude) if isinstance(text, str)]
    names = [part for text in texts for part in text.split(";")]
    return not all(is_written_for_ncu(name.strip()) for name in names)


def _check(options: argparse.Namespace, command: list[str]) -> None:
    """Refuses what makes no sense whatever the ranges, before the program runs for them.

    Raises:
        ValueError: says which option it is.
    """
    if options.calls is not None:
        slice_of("calls", options.calls)
    ncu_command(
        ["program"],
        metrics=options.metrics,
        sets=options.sets,
        preset=options.preset,
        launch_skip=options.launch_skip,
        launch_count=options.launch_count,
        output=options.output,
    )
    if not options.dry_run and lacks_rank(output_name(options.output or "", command), command):
        raise ValueError(NO_RANK)
    folder = os.path.dirname(options.log_file or "")
    if folder and not os.path.isdir(folder):
        raise ValueError(f"cannot write {options.log_file!r}: there is no directory {folder!r}")


class _DryRuns:
    """Dry recordings of commands, one of each."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._made: dict[tuple[str, ...], DryRun] = {}

    def record(self, command: list[str], ranges: Ranges) -> DryRun:
        """The recording of --using, or one of a command that is made until it has these ranges."""
        options = self._options
        if options.using:
            return DryRun(nvspan.read(*options.using), whole=True)

        def is_enough(recording: nvspan.Recording) -> bool:
            try:
                filters_of(options.exclude, recording)
                return all(filter.evaluate(recording) for filter in filters_of(ranges, recording))
            except ValueError:
                return False

        key = tuple(command)
        if key not in self._made:
            self._made[key] = dry_run(
                command,
                steps=options.dry_steps,
                seconds=options.dry_seconds,
                is_enough=is_enough,
                tell=tell,
            )
        return self._made[key]


def _recording(
    options: argparse.Namespace, ranges: Ranges, command: list[str], runs: _DryRuns
) -> tuple[nvspan.Recording | None, bool, str | None]:
    """What tells the program's ranges, None where everything is told already, and whether it has
    all of them; and why the ranges cannot be checked by it."""
    is_needed = _needs_recording(options, ranges)
    is_checked = options.replay in AS_ONE and not options.no_check
    if not (is_needed or is_checked or options.using):
        return None, False, None
    try:
        found = runs.record(command, ranges)
    except (DryRunError, RuntimeError) as error:
        if is_needed:
            raise
        return None, False, str(error)
    return found.recording, found.whole, None


def _with_end(calls: str | None) -> str | None:
    """Calls with an end, for a program of which nobody knows how many there are."""
    found = re.fullmatch(r"\s*(\d*)\s*:\s*(?::\s*(\d+)\s*)?", calls or "")
    if found is None:
        return calls
    first, every = int(found[1] or 0), int(found[2] or 1)
    return f"{first}:{first + every * MOST_CALLS}:{every}"


def _passed_on(options: argparse.Namespace, ranges: Ranges) -> list[str]:
    """What the line of ncu has besides what `ncu_command` writes."""
    words = ["--nvtx"] if options.nvtx and not (ranges or options.exclude) else []
    words += section_words(options.sections)
    words += words_of(vars(options), (*CHOICE_VALUES, *RUN_FLAGS, *RUN_VALUES))
    return [*words, *options.options]


def _lines(
    options: argparse.Namespace,
    ranges: Ranges,
    command: list[str],
    ncu: str,
    recording: nvspan.Recording | None,
) -> list[tuple[list[str], Ranges]]:
    """The command lines, each with its ranges: one, or one for each region."""
    arguments: dict[str, Any] = {name: getattr(options, name) for name in _OF_LINE}
    arguments.update(ncu=ncu, recording=recording, options=_passed_on(options, ranges))
    if not options.per_region:
        return [(ncu_command(command, ranges, output=options.output, **arguments), ranges)]
    folder = options.output or "nvspan-ncu"
    regions: list[str | RangeFilter] = []
    for given in ranges:
        parts = [given] if isinstance(given, RangeFilter) else map(str.strip, given.split(";"))
        regions += filter(None, parts)
    if not regions:
        raise ValueError("--per-region needs a range")
    lines: list[tuple[list[str], Ranges]] = []
    for number, region in enumerate(regions):
        name = re.sub(r"[^\w.=+-]+", "_", str(region)).strip("_.") or "range"
        rank = "{rank}-" if is_launched(command) else ""
        path = os.path.join(folder, f"{number}-{name}-{rank}{{pid}}")
        lines.append((ncu_command(command, [region], output=path, **arguments), [region]))
    return lines


def _why_no_set(sets: Sequence[str], ncu: str) -> str | None:
    """What to write in place of a set that the installed ncu does not have."""
    unknown = [name for name in sets if name not in _SETS]
    known = sets_of(ncu) if unknown else []
    for name in unknown:
        if known and name not in known:
            return f"ncu has no set {name!r}: write --set {' or '.join(known)}"
    return None


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan ncu`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    line = split(parser, argv)
    options = line.options
    if options.read:
        line = split_reports(parser, argv)
        if line.program:
            parser.error(f"--read runs no program: {' '.join(line.program)!r}")
        options = line.options
    ncu = find_tool("ncu", options.ncu)
    if words_of(vars(options), (*QUERY_FLAGS, *QUERY_VALUES)):
        return _query(parser, options, line.own, ncu)
    ncu_read.refuse(parser, options)
    if options.read:
        return ncu_read.show(parser, options, line.ranges)
    if not line.program and line.ranges:
        parser.error(
            f"no program to run after {' '.join(line.ranges)!r}: give script.py, -m module, -c "
            "code or -- command"
        )
    command = command_of(parser, options, line.program)
    if ncu is None and not options.dry_run:
        return _no_ncu(options)
    if not options.dry_run and (code := why_not_started("nvspan ncu", command)):
        return code
    try:
        _settle(parser, options)
        _check(options, command)
        if ncu is not None and (problem := _why_no_set(options.sets, ncu)):
            parser.error(problem)
        runs = _DryRuns(options)
        chosen = range_or_program(parser, line, runs.record)
        if chosen is not line:
            line, options = chosen, chosen.options
            command = command_of(parser, options, line.program)
            _settle(parser, options)
            _check(options, command)
        ranges: Ranges = [*line.ranges, *options.range]
        # A command of the user's own may be a script that finds the driver elsewhere.
        is_python = line.program[0] != "--"
        if is_python and not (options.dry_run or options.no_check or has_driver()):
            tell("nothing would be profiled (--no-check runs it nevertheless)")
            show_findings([no_driver()])
            return 1
        recording, is_whole, unchecked = _recording(options, ranges, command, runs)
        if not is_whole:
            options.calls = _with_end(options.calls)
        lines = _lines(options, ranges, command, ncu or "ncu", recording)
    except (DryRunError, RuntimeError) as error:
        parser.exit(1, f"nvspan ncu: {error}\n")
    except OSError as error:
        parser.exit(1, f"nvspan ncu: cannot read {error.filename!r}: {error.strerror}\n")
    except ValueError as error:
        parser.exit(2, f"nvspan ncu: error: {error}\n")
    session = Session(
        own=line.own,
        ranges=ranges,
        program=line.program,
        options=options,
        command=command,
        ncu=ncu or "ncu",
        recording=recording,
        unchecked=unchecked,
        is_whole=is_whole,
    )
    if options.dry_run:
        for words, wanted in lines:
            if not session.check(session.filters(wanted)):
                tell("this run would profile nothing")
            print(shlex.join(words))
        return 0
    code = 0
    for words, wanted in lines:
        code = session.run(words, wanted) or code
    return ended_as(code)
