# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan record``: runs a program, records its NVTX events, and shows a table of them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence

import nvspan
from nvspan import launch, recorder
from nvspan._runtime import gpu_work, lines
from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.options import MIN_FILES
from nvspan.cli.common.parser import Parser
from nvspan.cli.program.annotate_cost import measure_annotate_cost
from nvspan.cli.program.launching import (
    domain_names,
    ended_as,
    how_to_profile,
    other_tool,
    parse_program,
    program_parser,
    run_to_end,
    split_program,
)
from nvspan.cli.program.output import OutputExistsError, claim_output, default_output
from nvspan.cli.program.saved import saved_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.answers.findings import Analysis
    from nvspan.cli.trigger import Watch

_DESCRIPTION = """\
Runs a program, records the NVTX events of the program and its libraries and samples its lines, and
prints where the time went. Each process writes a file. Arguments after the script, module or
command belong to the program. The exit code is the program's."""

_MB = 1_000_000
_MAX_FINDINGS = 3
_MOST_SUMMARIZED = 500 * _MB  # some two seconds of a core


def _parser() -> Parser:
    parser = program_parser("record", _DESCRIPTION)
    parser.option(
        "-o, --output OUT",
        "the file of each process, with {host}, {rank} and {pid} filled in; further processes add "
        "a number (default: script.nvspan for script.py, then script-1.nvspan, and "
        "script-{pid}.nvspan for its child processes)",
    )
    parser.option(
        "--mode MODE",
        "full (the default); ring=MB keeps the newest events, in that many megabytes; stats keeps "
        "only statistics; armed keeps only the ranges that are open now, for nvspan where",
        default="full",
    )
    parser.option(
        "--domains NAME[,NAME]",
        "record only these domains; NVTX is the default domain; may be repeated",
        action="append",
    )
    parser.option(
        "--min-duration NS", "leave out ranges shorter than NS nanoseconds", type=int, default=0
    )
    parser.option(
        "--names MB",
        "space for names in each file (default: 16 in a ring, 32 with stats, no limit in full); "
        "events with further names are counted under (other names)",
        type=float,
    )
    parser.option(
        "--lines HZ",
        "sample the lines of Python processes HZ times a second; auto: 1,000 times at first, "
        "then as often as 0.5%% of a CPU core allows; armed: once nvspan attach --lines "
        "asks for it; off (default: auto; off with --profile and in the modes stats and armed)",
    )
    parser.option(
        "--cuda WHAT",
        "record GPU work and the calls that launched it: kernels or auto (kernels, copies, sets "
        "and graphs), api (also every CUDA call), memory (also allocations and frees), graphs "
        "(also each kernel of a graph), several of them with commas, all, or off (the default)",
    )
    parser.option(
        "--trigger TRIGGER",
        "write the last seconds of every process into a directory when something happens: "
        "slow:RANGE>FACTOR, stall:TIME, killed, signal:NAME, exception; with last:TIME, "
        "every:TIME, keep:COUNT, env:NAMES; several with semicolons; may be repeated",
        action="append",
        default=[],
    )
    parser.option("--force", "overwrite the recording of an earlier run")
    parser.option("--no-report", "print no summary at the end")
    parser.add_argument(
        "--summaries",
        action=argparse.BooleanOptionalAction,
        help="write a summary next to each file, which nvspan stats --many reads instead (default: "
        f"where OUT has {{rank}} or {{host}}, or with {MIN_FILES} files or more, unless they are "
        f"larger than {_MOST_SUMMARIZED // _MB} MB together)",
    )
    return parser


def _show(recording: nvspan.Recording) -> Analysis:
    """Headline, first findings and a table, on standard error."""
    from nvspan.answers import explain
    from nvspan.answers.findings import analyze
    from nvspan.answers.overview import overview
    from nvspan.report.lines import missed_lines
    from nvspan.report.narrow import width_of
    from nvspan.report.summary import Summary

    analysis = analyze(recording)
    said = explain.render(explain.explanation(analysis), most=_MAX_FINDINGS)
    table = overview(analysis, width_of(sys.stderr))
    notes = [note for note in Summary(recording, stats=analysis.stats).notes
             if not note.startswith("still open:")]  # fmt: skip
    if analysis.lines is not None:
        notes += missed_lines(analysis.lines.facts)
    text = "\n".join([said, *([f"\n{table}"] if table else []), *notes])
    sys.stderr.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    return analysis


def _say(text: str) -> None:
    print(f"nvspan record: {plain_text(text)}", file=sys.stderr)


def _report(paths: list[str], options: argparse.Namespace, program: Sequence[str]) -> None:
    """What the recording shows, what kept ranges out of it, the files and the next command."""
    from nvspan.recording.time_text import duration

    if not paths:
        why = _write_problem(os.path.dirname(os.path.abspath(options.output)))
        if why is None:
            how = how_to_profile("record", options, program)
            why = f"the program made no NVTX call; {how}"
        _say(f"nothing recorded: {why}")
        return
    samples = 0
    after = "explain"
    try:
        analysis = _show(nvspan.read(*paths))
        samples = 0 if analysis.lines is None else analysis.lines.samples
        if not analysis.stats.rows:
            after = "stats --lines" if samples else after
            if options.domains or options.min_duration:
                domains = domain_names(options.domains)
                of = f" of the domains {', '.join(domains)}" if domains else ""
                shortest = options.min_duration
                least = f" of {duration(shortest)} or longer" if shortest else ""
                _say(f"no range{of}{least} was recorded")
            elif options.mode != "armed" and not samples:
                _say(how_to_profile("record", options, program))
    except (OSError, ValueError) as error:
        _say(str(error))
    for line in saved_lines(paths, samples, after):
        print(line, file=sys.stderr)
    if not samples and lines.unproved() and _rate(options) == "off" and options.lines is None:
        _say(f"lines are off by default with {lines.unproved()}: --lines auto")


def _write_problem(folder: str) -> str | None:
    """Why no recording can have been written into the folder."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
    except OSError as error:
        # A folder of many processes is made by each of them.
        return None if "{" in folder else f"{folder} cannot be written: {error.strerror}"
    return None


def _write_summaries(asked: bool | None, template: str, mode: str, paths: list[str]) -> None:
    """Writes a summary beside each file, where that is asked for, or of use and soon done."""
    from nvspan.ranks.mapping import write_beside

    if asked is None:
        is_job = "{rank}" in template or "{host}" in template or len(paths) >= MIN_FILES
        if mode == "armed" or not is_job:
            return
        size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
        if size > _MOST_SUMMARIZED:
            recorded = f"{size // _MB:,} MB were recorded"
            _say(f"{recorded}: without --summaries no summaries are written next to the files")
            return
    for path, sentence in write_beside(paths):
        _say(f"{path}: {sentence}")


def _rate(options: argparse.Namespace) -> str:
    """How often lines are sampled, by the option, the environment, or by default."""
    asked = options.lines or os.environ.get(lines.LINES_VARIABLE)
    if asked:
        return str(asked)
    does_without = options.profile or options.mode in ("stats", "armed") or lines.unproved()
    return "off" if does_without else "auto"


def _watched(
    parser: Parser, options: argparse.Namespace, run: int, environment: dict[str, str]
) -> Watch:
    """Watches the program's processes from here; they watch for what only they can see."""
    from nvspan.blackbox.syntax import parse
    from nvspan.cli.trigger import Watch

    try:
        triggers = parse(options.trigger)
        watch = Watch(options.output, triggers, run)
    except ValueError as error:
        parser.error(str(error))
    environment[launch.TRIGGER_VARIABLE] = triggers.inner()
    return watch


def _environment(
    parser: Parser, options: argparse.Namespace, program: Sequence[str], run: int
) -> dict[str, str]:
    """Has NVTX load the recorder; the files of an earlier run are out of the way then."""
    try:
        if options.output is None:
            options.output = default_output(program, force=options.force)
        else:
            claim_output(options.output, force=options.force)
        rate = _rate(options)
        lines.period_of(rate)
        library = launch.injection_library()
        config = recorder.config_string(
            options.output,
            options.mode,
            domain_names(options.domains),
            options.min_duration,
            run,
            options.names,
            annotate_cost=measure_annotate_cost(),
            cuda=options.cuda,
        )
    except ValueError as error:
        parser.error(str(error))
    except (OutputExistsError, RuntimeError) as error:
        parser.fail(str(error))
    environment = {**os.environ, launch.INJECTION_VARIABLE: library, launch.CONFIG_VARIABLE: config}
    environment.setdefault(launch.NCCL_VARIABLE, launch.nccl_plugin())
    lines.add_to_environment(environment, rate)
    gpu_work.add_to_environment(environment, options.cuda, library)
    return environment


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan record`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    options, command = parse_program(parser, argv)
    if other_tool(parser.prog, "recording", "record"):
        return ended_as(run_to_end(parser.prog, command, dict(os.environ)))
    run = int.from_bytes(os.urandom(6), "little") | 1
    program = split_program(parser, argv)[2]
    environment = _environment(parser, options, program, run)
    watch = _watched(parser, options, run, environment) if options.trigger else None
    code = run_to_end(parser.prog, command, environment)
    if watch is not None:
        watch.end()
    files = recorder.recording_files(options.output, run)
    if not options.no_report:
        _report(files, options, program)
    if options.summaries is not False:
        _write_summaries(options.summaries, options.output, options.mode, files)
    return ended_as(code)
