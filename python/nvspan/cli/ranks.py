# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks``: which rank of a job made the others wait."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from nvspan.cli.common.options import EXECUTOR
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note, opened, refuse_to_replace, write_text
from nvspan.ranks.cause import analyze_ranks, text
from nvspan.ranks.page import html
from nvspan.ranks.tables import MOST_NAMED
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Names the rank that made the others wait, in which range, and what that costs
the job. Then shows who waited for how long, how uneven each range is, and the
critical path. -o writes a page with a heat map of ranks and steps. It needs the
collectives of the ranks, from 'nvspan.torch.auto(..., distributed=True)' or
NCCL."""


def _count(text: str) -> int | str:
    if text == "all":
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number or 'all', not {text!r}")
    return int(text)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan ranks`` with the arguments `argv`."""
    parser = parser_of("ranks", _DESCRIPTION, EXECUTOR)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recordings of a job's ranks: files, directories"
    )
    parser.option("--json", "print all figures as JSON, times in ns")
    parser.option(
        "--collectives N|all",
        "with --json: list this many collectives, those with the longest waits, or all in order of "
        "time (default: 100, fewer where there are many ranks)",
        type=_count,
    )
    parser.option("--step NAME", "the ranges that are steps (default: as 'nvspan steps' chooses)")
    parser.option(
        "--domain DOMAIN",
        "count ranges of this domain as collectives, by their names; may be repeated",
        action="append",
        default=[],
    )
    parser.option("--clocks FILE", "measured offsets of the hosts' clocks (format: docs/ranks.md)")
    parser.option("-o, --output OUT", "write a page (.html) with a heat map of ranks and steps")
    parser.option("--title TEXT", "the page's heading (default: the names of the files)")
    options = parser.parse_args(argv)
    if options.collectives is not None and not options.json:
        parser.error("--collectives needs --json")
    progress = Progress("reading")
    analyze = partial(
        analyze_ranks,
        options.files,
        options.executor,
        step=options.step,
        domains=options.domain,
        priors=options.clocks,
        progress=progress,
    )
    found = opened(parser, analyze, options.files, progress)
    note(f"{path}: {sentence}" for path, sentence in found.damage[:MOST_NAMED])
    if options.output:
        read = [rank.path for rank in found.ranks]
        refuse_to_replace(parser, options.output, read, "one of the recordings")
        write_text(parser, options.output, html(found, options.title))
    if options.json:
        pieces = text.as_json(found, options.collectives)
        return next((code for piece in pieces if (code := emit(piece))), 0)
    return emit(options.output or text.render(found))
