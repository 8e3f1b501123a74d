# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan nsys``: runs a program under Nsight Systems, and shows a table of its ranges."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence

from nvspan._doctor.tools import captured
from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.options import TOOL
from nvspan.cli.common.parser import Parser
from nvspan.cli.program.launching import (
    ended_as,
    how_to_profile,
    parse_program,
    program_parser,
    run_to_end,
    split_program,
    why_not_started,
)
from nvspan.nsight.lines.launchers import NO_RANK, is_launched, lacks_rank
from nvspan.nsight.lines.tools import Reports, find_tool
from nvspan.nsight.nsys_command import nsys_command

_DESCRIPTION = """\
Runs a program under Nsight Systems with the options that NVTX ranges need, then prints a table of
the ranges. Under torchrun, srun and mpirun (after '--') each rank writes its own report. Arguments
after the script, module or command belong to the program. The exit code is the program's."""

_SUFFIX = ".nsys-rep"
# Options that nsys_command has by the same names.
_SAME = (
    *("output", "steps", "capture", "captures"),
    *("graph_nodes", "forks", "sample", "stats", "force", "options"),
)


def _parser() -> Parser:
    parser = program_parser("nsys", _DESCRIPTION, TOOL)
    parser.option(
        "-o, --output NAME",
        "the report's name, with {host}, {rank} and {pid} filled in (default: nvspan-{pid}, "
        "and nvspan-{host}-{rank}-{pid} under torchrun, srun and mpirun)",
    )
    parser.option(
        "--trace NAME[,NAME]", "what nsys traces (default: cuda,nvtx)", default="cuda,nvtx"
    )
    parser.option(
        "--steps FIRST:END",
        "collect only these steps of nvspan.step or nvspan.torch.auto: 100:103 is 100, 101, 102",
    )
    parser.option(
        "--capture MESSAGE[@DOMAIN]",
        "collect only during this range, registered or not; @* is any domain",
    )
    parser.option(
        "--captures N",
        "collect the first N of these ranges, each into its own report",
        type=int,
        default=1,
    )
    parser.option("--graph-nodes", "show each kernel of a CUDA graph")
    parser.option("--forks", "trace forked children that run no other program")
    parser.option("--sample", "sample the CPU and record thread switches")
    parser.option("--stats", "print every table of nsys, not only the ranges")
    parser.option("--nsys PATH", "the nsys to run (default: on PATH, or where it is installed)")
    return parser


def _table(nsys: str, report: str) -> str | None:
    """The table of NVTX ranges of a report, by nsys; None where it makes none."""
    with tempfile.TemporaryDirectory(prefix="nvspan-") as folder:
        database = os.path.join(folder, "report.sqlite")
        captured(nsys, "export", "--type=sqlite", f"--output={database}", report)
        for name in ("nvtx_sum", "nvtxsum"):  # the second in versions before 2023
            done = captured(nsys, "stats", "-q", "-r", name, database)
            said = done.stdout + done.stderr
            if "no data was returned" in said:
                return None
            if done.returncode == 0 and "could not be found" not in said:
                return done.stdout.strip("\n")
    return None


def _in_the_way(name: str, options: argparse.Namespace) -> str | None:
    """Why nsys will not be able to write its report, as far as that is known before."""
    folder, base = os.path.split(name)
    if "%" not in folder:
        try:
            os.makedirs(folder or ".", exist_ok=True)
        except OSError as error:
            return f"cannot write into {folder!r}: {error.strerror}"
    # Of several captures each has its number in the name.
    number = "" if options.captures == 1 else ".1"
    path = f"{name.removesuffix(_SUFFIX)}{number}{_SUFFIX}"
    if not options.force and "%" not in base and os.path.exists(path):
        return f"{path} already exists; add --force to overwrite it, or -o NAME"
    return None


def _why_no_report(options: argparse.Namespace) -> str:
    if options.steps:
        return (
            f"the program made no step of {options.steps}: steps are those of nvspan.step and "
            "nvspan.torch.auto"
        )
    if options.capture:
        return f"no range {options.capture!r} started: 'nvspan trace' shows which ones there are"
    return "what nsys says about it is above"


def _no_ranges(options: argparse.Namespace, program: Sequence[str]) -> str:
    if "nvtx" not in options.trace.split(","):
        return "no NVTX ranges"
    return f"no NVTX ranges; {plain_text(how_to_profile('nsys', options, program))}"


def _show(
    nsys: str, reports: Sequence[str], options: argparse.Namespace, program: Sequence[str]
) -> None:
    if not reports:
        print(f"nvspan nsys: no report: {_why_no_report(options)}", file=sys.stderr)
    for report in reports:
        if not options.stats and not options.no_report:
            table = _table(nsys, report)
            print(table or _no_ranges(options, program), file=sys.stderr)
        print(f"nvspan: report {plain_text(report)}", file=sys.stderr)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan nsys`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    options, command = parse_program(parser, argv)
    program = split_program(parser, argv)[2]
    nsys = find_tool("nsys", options.nsys)
    if nsys is None and not options.dry_run:
        where = f"no program {options.nsys!r}" if options.nsys else "no Nsight Systems"
        print(f"nvspan nsys: {where}: 'nvspan doctor' shows where it looks", file=sys.stderr)
        return 127
    try:
        line = nsys_command(
            command,
            trace=options.trace.split(","),
            nsys=nsys or "nsys",
            **{name: getattr(options, name) for name in _SAME},
        )
    except ValueError as error:
        parser.error(str(error))
    if options.dry_run:
        print(shlex.join(line))
        return 0
    assert nsys is not None
    if code := why_not_started("nvspan nsys", command):
        return code
    name = next(word for word in line if word.startswith("--output="))
    name = name.removeprefix("--output=")
    if lacks_rank(name, command):
        parser.error(NO_RANK)
    # What a launcher starts may run elsewhere.
    problem = None if is_launched(command) else _in_the_way(name, options)
    if problem is not None:
        parser.exit(2, f"nvspan nsys: error: {problem}\n")
    reports = Reports(name, _SUFFIX)
    code = run_to_end("nvspan nsys", line, dict(os.environ))
    _show(nsys, reports.written_reports(), options, program)
    return ended_as(code)
