# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan kernels``: the kernels of a recording, and what launched them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from nvspan.cli.common.options import FILES, SPAN, TABLE, positive
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import answer_of, emit, note
from nvspan.recording import Kernels, Recording
from nvspan.recording.kernels import GROUPS
from nvspan.report import kernels
from nvspan.report.narrow import width_of

_MOST_ROWS = 30  # of a table for people
_DESCRIPTION = """\
Ranks the GPU's kernels, copies and sets by their time: how often each ran, how
long, and the range that launched it. It needs kernels: of 'nvspan record --cuda
kernels', of Nsight Systems, or of torch.profiler."""


def _kernels(recording: Recording, options: argparse.Namespace) -> Kernels:
    return recording.kernels(
        options.by, within=options.within, domain=options.domain, match=options.filter
    )


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan kernels`` with the arguments `argv`."""
    parser = parser_of("kernels", _DESCRIPTION, FILES, SPAN, TABLE)
    parser.add_argument(
        "--by",
        choices=GROUPS,
        default="name",
        help="a row for each kernel (name, the default), or for each kernel of each innermost "
        "range, or of each module's forward and backward pass",
    )
    parser.option(
        "--filter PATTERN", "only kernels whose name matches PATTERN (* and ?); may be repeated",
        action="append",
    )  # fmt: skip
    parser.option(
        "--within RANGE",
        "only kernels launched within RANGE, at any depth; may be repeated",
        action="append",
    )
    parser.option("--top N", f"show N rows (default: {_MOST_ROWS})", type=positive)
    parser.option(
        "--domain NAME", "the domain of the modules' ranges (default: torch)", default="torch"
    )
    options = parser.parse_args(argv)
    found: Kernels = answer_of(parser, options, partial(_kernels, options=options))
    note(kernels.notes(found, options.filter))
    if options.format == "json":
        return emit(kernels.as_json(found, options.top))
    if options.format == "csv":
        return emit(kernels.csv(found, options.top, options.escape_formulas))
    top = options.top or _MOST_ROWS
    return emit(kernels.render(found, top, options.format, width_of(sys.stdout)))
