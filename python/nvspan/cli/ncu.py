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
    split_program,
    why_not_started,
)
from nvspan.cli.program.ncu_session import Session, show_findings, tell
from nvspan.nsight import ncu_command
from nvspan.nsight.compute.diagnosis import AS_ONE
from nvspan.nsight.compute.dry_run import DryRunError, dry_run
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
)
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX, find_tool
from nvspan.nsight.ranges.names import is_written_for_ncu

_USAGE = """\
nvspan ncu [RANGE ...] [options] script.py [arguments ...]
       nvspan ncu [RANGE ...] [options] -m module [arguments ...]
       nvspan ncu [RANGE ...] [options] -c code [arguments ...]
       nvspan ncu [RANGE ...] [options] -- command [arguments ...]
       nvspan ncu --read FILE [RANGE ...] [options]"""

_DESCRIPTION = """\
Runs a program under Nsight Compute, which profiles the kernels in the ranges that are named, then
prints a table of these ranges. A RANGE is a plain name (layers.3.attention, torch:layers.*.mlp,
'forward > layers.3') or a filter of ncu (torch@layers.3/). Plain names are looked up in a dry
recording of the program's first steps. After '--' torchrun, srun and mpirun are known: each rank
gets a report of its own. --read shows a report again, for other ranges too, without a run."""

# The options that are arguments of `ncu_command`.
_OF_LINE = (
    *("exclude", "replay", "preset", "metrics", "sets", "calls", "kernel", "kernel_id"),
    *("launch_skip", "launch_count", "clock_control", "cache_control", "processes", "ranks"),
    *("force", "options"),
)
_SCRIPT = re.compile(r".*\.py[cwz]?$")


def _parser() -> Parser:
    parser = parser_of("ncu", _DESCRIPTION, TABLE, TOOL, usage=_USAGE)
    option = parser.section("what is profiled")
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
    option(
        "--calls FIRST:END[:STEP]",
        "only these calls of the one range, counted from 0: 3:5 are two of them",
    )
    option("--every N", "only every Nth call of the one range", type=int)
    option("--kernel REGEX", "only kernels with this in their names")
    option("--kernel-id CONTEXT:STREAM:NAME:N", "only this kernel, as ncu has it")
    option("--launch-skip N", "leave out the first N kernels that match", type=int)
    option("--launch-count N", "stop profiling after N results", type=int)
    option(
        "--processes",
        "profile the processes that the program starts, too (default: all)",
        default="all",
        choices=PROCESSES,
    )
    option("--ranks N[,N]", "profile only these ranks of a launcher: 0,3 or 0-3")
    option = parser.section("what is measured")
    option(
        "--preset",
        "quick (times), standard (ncu's set detailed), comprehensive (its set full); the default "
        "is standard unless --metrics or --set is given",
        choices=tuple(PRESETS),
    )
    option(
        "--metrics NAME[,NAME]",
        f"plain names ({', '.join(sorted({*METRICS, *SECTIONS}))}), metrics and sections of ncu",
        type=names,
        default=[],
    )
    option("--set NAME", "a set of ncu's sections", dest="sets", action="append", default=[])
    option(
        "--replay",
        "how passes are repeated (default: kernel); range and app-range measure a range as one "
        "thing",
        choices=REPLAY_MODES,
        default="kernel",
    )
    option("--clock-control", "lock the clocks (default: base)", choices=CLOCK_CONTROLS)
    option("--cache-control", "flush the caches (default: all)", choices=CACHE_CONTROLS)
    option = parser.section("how ranges are found")
    option(
        "--using FILE",
        "a recording of the program in place of a dry one; may be repeated",
        action="append",
    )
    option("--dry-steps N", "how many steps are recorded (default: 3)", type=int, default=3)
    option("--dry-seconds S", "and for how long at most (default: 120)", type=float, default=120.0)
    option("--no-check", "do not check before the run whether it would profile something")
    option = parser.section("results")
    option(
        "-o, --output NAME",
        "the report's name, or the folder of --per-region, with {host}, {rank} and {pid} filled in "
        "(default: nvspan-{pid}, and host and rank with a launcher)",
    )
    option("--per-region", "run the program once for each range, and write a report for each")
    option("--kernels", "print a row for each kernel")
    option("--ncu PATH", "ncu (default: NVSPAN_NCU, PATH, or where it is installed)")
    ncu_read.add_reading(parser)
    add_program_options(parser, patterns=False)
    return parser


def _is_range(word: str) -> bool:
    """Whether a word is no program: a range, or a report."""
    is_file = os.path.isfile(word) and not word.endswith(COMPUTE_SUFFIX)
    return not (_SCRIPT.match(word) or is_file)


def _needs_recording(options: argparse.Namespace, ranges: Sequence[str]) -> bool:
    """Whether names have to be looked up."""
    names = [part for text in (*ranges, *options.exclude) for part in text.split(";")]
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


def _recording(
    options: argparse.Namespace, ranges: Sequence[str], command: list[str]
) -> tuple[nvspan.Recording | None, bool, str | None]:
    """What tells the program's ranges, None where everything is told already, and whether it has
    all of them; and why the ranges cannot be checked by it."""
    if options.using:
        return nvspan.read(*options.using), True, None
    is_needed = _needs_recording(options, ranges)
    is_checked = options.replay in AS_ONE and not options.no_check
    if not (is_needed or is_checked):
        return None, False, None

    def is_enough(recording: nvspan.Recording) -> bool:
        try:
            filters_of(options.exclude, recording)
            return all(filter.evaluate(recording) for filter in filters_of(ranges, recording))
        except ValueError:
            return False

    try:
        found = dry_run(
            command,
            steps=options.dry_steps,
            seconds=options.dry_seconds,
            is_enough=is_enough,
            tell=tell,
        )
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


def _lines(
    options: argparse.Namespace,
    ranges: list[str],
    command: list[str],
    ncu: str,
    recording: nvspan.Recording | None,
) -> list[tuple[list[str], list[str]]]:
    """The command lines, each with its ranges: one, or one for each region."""
    arguments: dict[str, Any] = {name: getattr(options, name) for name in _OF_LINE}
    arguments.update(ncu=ncu, recording=recording)
    if not options.per_region:
        return [(ncu_command(command, ranges, output=options.output, **arguments), ranges)]
    folder = options.output or "nvspan-ncu"
    regions = [part.strip() for text in ranges for part in text.split(";") if part.strip()]
    if not regions:
        raise ValueError("--per-region needs a range")
    lines = []
    for number, region in enumerate(regions):
        name = re.sub(r"[^\w.=+-]+", "_", region).strip("_.") or "range"
        rank = "{rank}-" if is_launched(command) else ""
        path = os.path.join(folder, f"{number}-{name}-{rank}{{pid}}")
        lines.append((ncu_command(command, [region], output=path, **arguments), [region]))
    return lines


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan ncu`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    own, words, program = split_program(parser, argv, _is_range)
    options = parser.parse_args(own)
    if options.read:
        own, words, program = split_program(parser, argv, lambda word: True)
        if program:
            parser.error(f"--read runs no program: {' '.join(program)!r}")
        options = parser.parse_args(own)
    ncu_read.refuse(parser, options)
    if options.read:
        return ncu_read.show(parser, options, words)
    ranges = [*words, *options.range]
    if options.every is not None:
        if options.calls is not None or options.every < 1:
            parser.error("--every must be 1 or more, and goes without --calls")
        options.calls = f"::{options.every}"
    if not program and words:
        parser.error(
            f"no program to run after {' '.join(words)!r}: give script.py, -m module, -c "
            "code or -- command"
        )
    if options.preset is None and not (options.metrics or options.sets):
        options.preset = "standard"
    command = command_of(parser, options, program)
    ncu = find_tool("ncu", options.ncu)
    if ncu is None and not options.dry_run:
        where = f"no program {options.ncu!r}" if options.ncu else "no Nsight Compute"
        tell(
            f"{where} here: install it (it is a part of the CUDA toolkit), or name it: --ncu "
            "PATH, NVSPAN_NCU; 'nvspan doctor' shows where nvspan looks"
        )
        return 127
    if not options.dry_run and (code := why_not_started("nvspan ncu", command)):
        return code
    try:
        _check(options, command)
        # A command of the user's own may be a script that finds the driver elsewhere.
        if not (options.dry_run or options.no_check or program[0] == "--" or has_driver()):
            tell("nothing would be profiled (--no-check runs it nevertheless)")
            show_findings([no_driver()])
            return 1
        recording, is_whole, unchecked = _recording(options, ranges, command)
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
        own=own,
        ranges=ranges,
        program=program,
        options=options,
        command=command,
        ncu=ncu or "ncu",
        recording=recording,
        unchecked=unchecked,
        is_whole=is_whole,
    )
    if options.dry_run:
        for line, wanted in lines:
            if not session.check(session.filters(wanted)):
                tell("this run would profile nothing")
            print(shlex.join(line))
        return 0
    assert ncu is not None
    code = 0
    for line, wanted in lines:
        code = session.run(line, wanted) or code
    return ended_as(code)
