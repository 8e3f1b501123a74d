# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan modules``: what each module of a model costs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from nvspan.answers import modules
from nvspan.cli.common import many
from nvspan.cli.common.options import MANY, QUESTION, positive
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import answer_of, emit, note
from nvspan.recording import Modules, Recording
from nvspan.recording.nearest import hint
from nvspan.report.narrow import width_of

_DESCRIPTION = """\
Shows a model as a tree of its modules: calls, the time of the forward and the
backward pass on the CPU and the GPU, and the share of a step. Blocks that
repeat share a row. It needs the ranges of
nvspan.torch.annotate_module(model, backward=True, device=True)."""

_DOMAIN = "torch"


def _modules(recording: Recording, options: argparse.Namespace) -> Modules:
    known = [name for name in recording.domains.text("domain") if name]
    if options.domain not in [*known, _DOMAIN]:
        raise ValueError(f"no domain is called {options.domain!r}{hint(options.domain, known)}")
    return recording.modules(options.domain, options.step)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan modules`` with the arguments `argv`."""
    parser = parser_of("modules", _DESCRIPTION, QUESTION, MANY)
    parser.option("--unfold", "show repeated blocks one by one")
    parser.option("--depth N", "show N levels of modules within the model", type=positive)
    parser.option(
        "--domain NAME", "the domain of the modules' ranges (default: torch)", default=_DOMAIN
    )
    options = parser.parse_args(argv)
    found: Modules
    if many.is_many(options, options.files):
        many.refuse(parser, options)
        job = many.read_files(
            parser, options.files, options.executor, step=options.step, modules=options.domain
        )
        found = job.modules()
    else:
        found = answer_of(parser, options, partial(_modules, options=options))
    note(modules.notes(found))
    fold = not options.unfold
    if options.format == "json":
        return emit(modules.as_json(found, fold=fold))
    if options.format == "csv":
        return emit(modules.csv(found, fold=fold, escape_formulas=options.escape_formulas))
    width = width_of(sys.stdout)
    return emit(
        modules.render(found, fold=fold, depth=options.depth, form=options.format, width=width)
    )
