# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks``: which rank of a job made the others wait."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nvspan.cli.common.many import add_executor
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note, opened, refuse_to_replace
from nvspan.ranks.cause import analyze_ranks, text
from nvspan.ranks.page import html
from nvspan.ranks.shown import MOST_NAMED
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Says which rank of a job made the others wait, in which range, and what that
costs the job; then who waited for how long, how uneven each range is, and what
the job's end hangs on; with -o as a page, with a heat map of ranks and steps. It
stands on the collectives of the ranks: those of
'nvspan.torch.auto(..., distributed=True)', and the ranges of NCCL."""


def _count(text: str) -> int | str:
    if text == "all":
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number or 'all', not {text!r}")
    return int(text)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan ranks`` with the arguments `argv`."""
    parser = parser_of("ranks", _DESCRIPTION)
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="the recordings of a job's ranks: files, folders, patterns",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="all figures as JSON, times in ns")
    parser.add_argument(
        "--collectives", metavar="N|all", type=_count,
        help="with --json: list so many single collectives, those in which ranks waited longest, "
        "or all, in the order of time (default: 100, fewer where there are many ranks)",
    )  # fmt: skip
    parser.add_argument(
        "--step", default="step", metavar="NAME", help="the ranges that are steps (step)"
    )
    parser.add_argument(
        "--domain", action="append", default=[], metavar="DOMAIN",
        help="ranges of this domain are collectives too, by their names; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--clocks",
        metavar="FILE",
        help="measured offsets of the clocks of the job's hosts, as JSON: docs/which-rank.md",
    )
    add_executor(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT",
        help="write a page (.html) with a heat map of ranks and steps, replaced if it exists",
    )  # fmt: skip
    parser.add_argument("--title", help="the heading of the page (default: the names of the files)")
    options = parser.parse_args(argv)
    if options.collectives is not None and not options.json:
        parser.error("--collectives needs --json")
    progress = Progress("reading")
    found = opened(
        parser,
        lambda: analyze_ranks(
            options.files, options.executor, step=options.step, domains=options.domain,
            priors=options.clocks, progress=progress,
        ),
        options.files,
        progress,
    )  # fmt: skip
    note(f"{path}: {sentence}" for path, sentence in found.damage[:MOST_NAMED])
    if options.output:
        refuse_to_replace(
            parser, options.output, [rank.path for rank in found.ranks], "one of the recordings"
        )
        try:
            with open(options.output, "w", encoding="utf-8") as file:
                file.write(html(found, options.title))
        except OSError as error:
            parser.exit(1, f"{parser.prog}: cannot write {options.output!r}: {error.strerror}\n")
        if not options.json:
            return emit(options.output)
    if not options.json:
        return emit(text.shown(found))
    code = 0
    for piece in text.as_json(found, options.collectives):
        code = code or emit(piece)
    return code
