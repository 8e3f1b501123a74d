# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share: each group is one of the parents of their parsers."""

from __future__ import annotations

import argparse
import math

from nvspan.cli.common.parser import group
from nvspan.report.render import FORMATS
from nvspan.report.text import parse_duration

MIN_FILES = 32  # from here on files are reduced one by one


def names(text: str) -> list[str]:
    """The names in a list with commas between."""
    if found := [name for name in text.split(",") if name]:
        return found
    raise argparse.ArgumentTypeError("names of ranges, separated by commas, are needed")


def percentage(text: str) -> float:
    """A share of 1, of "5%" or "0.05"."""
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a percentage such as 5%, not {text!r}")
    return value


def positive(text: str) -> int:
    """A number of rows."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {value}")
    return value


def _tool_option(text: str) -> str:
    """An option for nsys or ncu itself, in one word."""
    if not text.startswith("-"):
        raise argparse.ArgumentTypeError(f"must be an option as --NAME=VALUE, not {text!r}")
    return text


def _time(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


FILES = group()
FILES.add_argument(
    "files", nargs="+", metavar="FILE", help="recordings, or reports of Nsight Systems"
)

SPAN = group()
SPAN.set_defaults(filter=None)
SPAN.option(
    "--from TIME",
    "only ranges that start at this time of the recording or later: 1.5s, 20ms",
    dest="start",
    type=_time,
)
SPAN.option("--to TIME", "only ranges that start before this time", dest="stop", type=_time)

SELECTION = group(SPAN)
SELECTION.option(
    "--filter PATTERN",
    "only ranges whose name or domain:name matches PATTERN (* and ?); may be repeated",
    action="append",
)

CSV = group()
CSV.option(
    "--escape-formulas", "with csv: put a ' before text that a spreadsheet takes for a formula"
)

TABLE = group(CSV)
TABLE.add_argument(
    "--format",
    choices=FORMATS,
    default="table",
    help="table (the default) or markdown; csv and json give all figures, times in ns",
)

STEP = group()
STEP.option("--step NAME", "the range that is a step: its name or domain:name (* and ?)")

CUDA = group()
CUDA.option("--cuda", "show CUDA calls, kernels and copies, too, where there are any")

EXECUTOR = group()
EXECUTOR.add_argument(
    "--executor",
    choices=("threads", "processes"),
    default="threads",
    help="read files in threads (the default) or in processes of this machine",
)

MANY = group(EXECUTOR)
MANY.option(
    "--many",
    "read the files one by one into one summary; the default for a directory, a pattern, a URL, "
    f"and {MIN_FILES} files or more",
)

RANKS = group()
RANKS.option("--ranks RANKS", "only these ranks; slowest:3,7 is the slowest three, and 7")

QUESTION = group(FILES, STEP, SPAN, TABLE)

TOOL = group()
TOOL.option("--dry-run", "print the command line, and profile nothing")
TOOL.option("--force", "overwrite reports that exist")
TOOL.option("--no-report", "print no table at the end")
TOOL.option(
    "--option --NAME=VALUE",
    "a further option of nsys or ncu itself; may be repeated",
    dest="options",
    type=_tool_option,
    action="append",
    default=[],
)

TARGETS = group()
TARGETS.add_argument(
    "targets",
    nargs="+",
    metavar="PID|FILE|DIR|PATTERN",
    help="process ids, or recordings",
)
TARGETS.option(
    "--waits NAME",
    "a range in which a process waits for others, or DOMAIN: for a whole domain; those of torch, "
    "NCCL and MPI are known; may be repeated",
    action="append",
    default=[],
)
