# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan record``: runs a program, records its NVTX events, and shows a table of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import nvspan
from nvspan import launch, recorder
from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import parser_of
from nvspan.cli.program.launching import (
    add_program_options,
    command_of,
    domain_names,
    ended_as,
    run_to_end,
    split,
)
from nvspan.cli.program.output import InTheWay, make_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.cli.trigger import Watch

_USAGE = """\
nvspan record [options] script.py [arguments ...]
       nvspan record [options] -m module [arguments ...]
       nvspan record [options] -c code [arguments ...]
       nvspan record [options] -- command [arguments ...]"""

_DESCRIPTION = """\
Runs a program and records every NVTX event that it, and any library in it, makes, into a file for
each process; then prints a table of the ranges. What follows the script, the module or the command
belongs to the program, and so do its output and exit code."""

_MB = 1_000_000
_MOST_SUMMARIZED = 500 * _MB  # some two seconds of a core
_MANY = 32  # files, from which on reports read summaries

_VALUE_OPTIONS = ("-o", "--output", "--mode", "--domains", "--min-duration", "--names",
                  "--trigger")  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("record", _DESCRIPTION, _USAGE)
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="nvspan-{pid}.nvspan",
        help="the file of each process, with {host}, {rank} and {pid} filled in (default: "
        "nvspan-{pid}.nvspan); further processes of the program get a number in its name",
    )  # fmt: skip
    parser.add_argument(
        "--mode", default="full",
        help="full (the default); ring=MB keeps the newest events, in that many megabytes; stats "
        "keeps only statistics; armed keeps no events, only what is open, for nvspan where",
    )  # fmt: skip
    parser.add_argument(
        "--domains", metavar="NAME[,NAME]", action="append",
        help="record only these NVTX domains; NVTX is the default domain; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--min-duration", metavar="NS", type=int, default=0,
        help="leave out ranges shorter than this, in nanoseconds",
    )  # fmt: skip
    parser.add_argument(
        "--names", metavar="MB", type=float,
        help="space for names in each file, in megabytes (default: 16 in a ring, 32 with stats, no "
        "limit in full); events with further names are counted under (other names)",
    )  # fmt: skip
    parser.add_argument(
        "--trigger", metavar="TRIGGER", action="append", default=[],
        help="write the last seconds of every process into a folder when something happens: "
        "slow:RANGE>FACTOR, stall:TIME, killed, signal:NAME, exception; with last:TIME, "
        "every:TIME, keep:COUNT, env:NAMES; several with semicolons; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true", help="write over the recording of an earlier run"
    )
    parser.add_argument("--no-report", action="store_true", help="print no table at the end")
    parser.add_argument(
        "--summaries", action=argparse.BooleanOptionalAction,
        help="at the end write a summary beside each file, which nvspan stats --many then reads in "
        "its place (default: where OUT has {rank} or {host}, or with 32 files or more, unless they "
        f"are larger than {_MOST_SUMMARIZED // _MB} MB together)",
    )  # fmt: skip
    add_program_options(parser)
    return parser


def table(recording: nvspan.Recording, most: int = 50) -> str:
    """The ranges of a recording as plain text, what is missing of them on top."""
    from nvspan.report.narrow import width_of
    from nvspan.report.render import plain
    from nvspan.report.summary import Summary

    summary = Summary(recording)
    if not summary.rows and not summary.notes:
        return "no NVTX ranges were recorded"
    return plain(summary, most, width_of(sys.stderr))


def _show(paths: list[str], most: int = 50) -> None:
    """The table on standard error: in colors, and as wide as it is, where that is a terminal."""
    from nvspan.report.render import rich_table
    from nvspan.report.summary import Summary

    recording = nvspan.read(*paths)
    if sys.stderr.isatty():
        summary = Summary(recording)
        if summary.rows and rich_table(summary, sys.stderr, most):
            return
    shown = table(recording, most) + "\n"
    sys.stderr.write(shown.encode("utf-8", "backslashreplace").decode("utf-8"))


def _left_out(paths: list[str], domains: list[str] | None, shortest: int) -> str | None:
    """What kept all ranges out of the recordings, if they have none and options ask for some."""
    from nvspan.recording.time_text import duration

    if (not domains and not shortest) or nvspan.read(*paths).stats().rows:
        return None
    of = f" of the domains {', '.join(map(plain_text, domains))}" if domains else ""
    least = f" of {duration(shortest)} or longer" if shortest else ""
    return f"no range{of}{least} was recorded"


def _report(paths: list[str], domains: list[str] | None, shortest: int) -> None:
    if not paths:
        print("nvspan record: the program made no NVTX call: nothing was recorded", file=sys.stderr)
        return
    try:
        _show(paths)
        if (sentence := _left_out(paths, domains, shortest)) is not None:
            print(f"nvspan record: {sentence}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"nvspan record: {plain_text(str(error))}", file=sys.stderr)
    for path in paths:
        print(f"nvspan: recorded into {plain_text(path)}", file=sys.stderr)


def _write_summaries(asked: bool | None, template: str, mode: str, paths: list[str]) -> None:
    """Writes a summary beside each file, where that is asked for, or of use and soon done."""
    from nvspan.ranks.mapping import write_beside

    if asked is None:
        is_job = "{rank}" in template or "{host}" in template or len(paths) >= _MANY
        if mode == "armed" or not is_job:
            return
        size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
        if size > _MOST_SUMMARIZED:
            print(f"nvspan record: {size // _MB:,} MB were recorded: without --summaries there "
                  "are no summaries beside the files", file=sys.stderr)  # fmt: skip
            return
    for path, sentence in write_beside(paths):
        print(f"nvspan record: {plain_text(path)}: {plain_text(sentence)}", file=sys.stderr)


def _watched(
    parser: argparse.ArgumentParser, options: argparse.Namespace, run: int,
    environment: dict[str, str],
) -> Watch:  # fmt: skip
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


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan record`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    own, program = split(argv, _VALUE_OPTIONS)
    options = parser.parse_args(own)
    command = command_of(parser, options, program)
    environment = dict(os.environ)
    tool = launch.attached_tool()
    run = int.from_bytes(os.urandom(6), "little") | 1
    if tool is not None:
        print(
            f"nvspan record: {launch.INJECTION_VARIABLE} is set to {plain_text(tool)} "
            "(another tool is attached): the program runs without a recording",
            file=sys.stderr,
        )
    else:
        domains = domain_names(options.domains)
        try:
            make_room(options.output, options.force)
        except InTheWay as error:
            parser.exit(1, f"{parser.prog}: {error}\n")
        environment.setdefault(launch.NCCL_VARIABLE, launch.nccl_plugin())
        try:
            environment[launch.INJECTION_VARIABLE] = launch.injection_library()
            environment[launch.CONFIG_VARIABLE] = recorder.config_string(
                options.output, options.mode, domains, options.min_duration, run, options.names
            )
        except ValueError as error:
            parser.error(str(error))
        except RuntimeError as error:
            print(f"nvspan record: {error}", file=sys.stderr)
            return 1
    watch = None
    if tool is None and options.trigger:
        watch = _watched(parser, options, run, environment)
    code = run_to_end("nvspan record", command, environment)
    if watch is not None:
        watch.end()
    if tool is None and not options.no_report:
        files = recorder.recording_files(options.output, run)
        _report(files, domain_names(options.domains), options.min_duration)
    if tool is None and options.summaries is not False:
        files = recorder.recording_files(options.output, run)
        _write_summaries(options.summaries, options.output, options.mode, files)
    return ended_as(code)
