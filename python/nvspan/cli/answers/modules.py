# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan modules``: what each module of a model costs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nvspan.answers import modules
from nvspan.cli.answers.asking import add_question, answer_of
from nvspan.cli.common.reading import emit, note, parser_of, positive

_DESCRIPTION = """\
Shows a model as a tree of its modules: how often each was called, the time of
its forward and backward pass on the CPU and on the GPU, and its share of a
step. Blocks that repeat are one row. The ranges are those that
nvspan.torch.annotate_module(model, backward=True, device=True) makes."""


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("modules", _DESCRIPTION)
    add_question(
        parser, "table (the default) or markdown: means of a step; csv and json: sums, in ns"
    )
    parser.add_argument("--unfold", action="store_true", help="show each block that repeats")
    parser.add_argument(
        "--depth", metavar="N", type=positive, help="show N levels of modules within the model"
    )
    parser.add_argument(
        "--domain", default="torch", help="the domain of the modules' ranges (torch)"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan modules`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    found = answer_of(
        parser, options, lambda recording: recording.modules(options.domain, options.step)
    )
    note(modules.notes(found))
    fold = not options.unfold
    if options.format == "json":
        return emit(modules.as_json(found, fold=fold))
    if options.format == "csv":
        return emit(modules.csv(found, fold=fold, escape_formulas=options.escape_formulas))
    return emit(modules.shown(found, fold=fold, depth=options.depth, form=options.format))
