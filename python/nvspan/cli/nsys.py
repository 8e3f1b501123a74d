# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan nsys``: runs a program under Nsight Systems, and shows a table of its ranges."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import parser_of
from nvspan.cli.program.launching import (
    add_program_options,
    command_of,
    ended_as,
    run_to_end,
    split,
    tool_option,
    why_not_started,
)
from nvspan.nsight.lines.launchers import NO_RANK, is_launched, lacks_rank
from nvspan.nsight.lines.tools import Reports, find_tool
from nvspan.nsight.nsys_command import nsys_command

_USAGE = """\
nvspan nsys [options] script.py [arguments ...]
       nvspan nsys [options] -m module [arguments ...]
       nvspan nsys [options] -c code [arguments ...]
       nvspan nsys [options] -- command [arguments ...]"""

_DESCRIPTION = """\
Runs a program under Nsight Systems with the options that it needs, then prints a table of its NVTX
ranges. After '--' torchrun, srun and mpirun are known: each rank gets a report of its own. What
follows the script, the module or the command belongs to the program, and so does its exit code."""

_VALUE_OPTIONS = ("-o", "--output", "--trace", "--steps", "--capture", "--captures", "--nsys",
                  "--option")  # fmt: skip
_SUFFIX = ".nsys-rep"


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("nsys", _DESCRIPTION, _USAGE)
    add = parser.add_argument
    add("--dry-run", action="store_true", help="print the command line, and run nothing")
    add("-o", "--output", metavar="NAME",
        help="the report's name, with {host}, {rank} and {pid} filled in (default: nvspan-{pid}, "
        "and nvspan-{host}-{rank}-{pid} under torchrun, srun and mpirun)")  # fmt: skip
    add("--trace", metavar="NAME[,NAME]", default="cuda,nvtx",
        help="what nsys traces (default: cuda,nvtx)")  # fmt: skip
    add("--steps", metavar="FIRST:END",
        help="collect only these steps of nvspan.step or nvspan.torch.auto: 100:103 is 100, 101, "
        "102")  # fmt: skip
    add("--capture", metavar="MESSAGE[@DOMAIN]",
        help="collect only during this range, registered or not; @* is any domain")  # fmt: skip
    add("--captures", metavar="N", type=int, default=1,
        help="collect that many of these ranges, each into a report of its own")  # fmt: skip
    add("--graph-nodes", action="store_true", help="show each kernel of a CUDA graph")
    add("--forks", action="store_true", help="trace forked children that run no other program")
    add("--sample", action="store_true", help="sample the CPU, and show thread switches")
    add("--stats", action="store_true", help="print all tables of nsys, not that of NVTX alone")
    add("--force", action="store_true", help="write over reports that exist")
    add("--no-report", action="store_true", help="print no table at the end")
    add("--option", metavar="--NAME=VALUE", type=tool_option, action="append", default=[],
        help="a further option of 'nsys profile'; may be repeated")  # fmt: skip
    add("--nsys", metavar="PATH", help="nsys (default: on PATH, or where it is installed)")
    add_program_options(parser)
    return parser


def _table(nsys: str, report: str) -> str | None:
    """The table of NVTX ranges of a report, by nsys; None where it makes none."""
    with tempfile.TemporaryDirectory(prefix="nvspan-") as folder:
        database = os.path.join(folder, "report.sqlite")
        export = [nsys, "export", "--type=sqlite", f"--output={database}", report]
        subprocess.run(export, capture_output=True, check=False)
        for name in ("nvtx_sum", "nvtxsum"):  # the second in versions before 2023
            done = subprocess.run(
                [nsys, "stats", "-q", "-r", name, database],
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
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
            with os.scandir(folder or "."):
                pass
        except OSError as error:
            return f"cannot write into {folder!r}: {error.strerror}"
    # Of several captures each has its number in the name.
    number = "" if options.captures == 1 else ".1"
    path = f"{name.removesuffix(_SUFFIX)}{number}{_SUFFIX}"
    if not options.force and "%" not in base and os.path.exists(path):
        return f"{path!r} exists: --force writes over it, -o NAME names another"
    return None


def _why_no_report(options: argparse.Namespace) -> str:
    if options.steps:
        return (
            f"the program made no step of {options.steps}: steps are those of nvspan.step and "
            "nvspan.torch.auto"
        )
    if options.capture:
        return f"no range {options.capture!r} began: 'nvspan trace' shows which ones there are"
    return "what nsys says about it is above"


def _show(nsys: str, reports: Sequence[str], options: argparse.Namespace) -> None:
    if not reports:
        print(f"nvspan nsys: no report: {_why_no_report(options)}", file=sys.stderr)
    for report in reports:
        if not options.stats and not options.no_report:
            table = _table(nsys, report)
            print(table or "no NVTX ranges", file=sys.stderr)
        print(f"nvspan: report {plain_text(report)}", file=sys.stderr)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan nsys`` with the arguments `argv`; the result is the program's exit code."""
    parser = _parser()
    own, program = split(argv, _VALUE_OPTIONS)
    options = parser.parse_args(own)
    command = command_of(parser, options, program)
    nsys = find_tool("nsys", options.nsys)
    if nsys is None and not options.dry_run:
        where = f"no program {options.nsys!r}" if options.nsys else "no Nsight Systems"
        print(f"nvspan nsys: {where}: 'nvspan doctor' shows where it looks", file=sys.stderr)
        return 127
    try:
        line = nsys_command(
            command, output=options.output, trace=options.trace.split(","), steps=options.steps,
            capture=options.capture, captures=options.captures, graph_nodes=options.graph_nodes,
            forks=options.forks, sample=options.sample, stats=options.stats, force=options.force,
            options=options.option, nsys=nsys or "nsys",
        )  # fmt: skip
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
    _show(nsys, reports.made(), options)
    return ended_as(code)
