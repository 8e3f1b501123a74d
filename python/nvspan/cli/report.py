# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan report``: one HTML page about recordings, to keep or to send."""

from __future__ import annotations

from collections.abc import Sequence

from nvspan.answers.findings import analyze
from nvspan.answers.page import sections
from nvspan.cli.common import many
from nvspan.cli.common.options import FILES, RANKS, SELECTION
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import (
    emit,
    note,
    open_recording,
    refuse_to_replace,
    selected,
    stem_of,
    write_text,
)
from nvspan.report import emptiness, page
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Writes one HTML page: headline and findings, the steps as bars, the modules of
the model and a timeline that zooms; a flame graph, a table of all ranges to
sort and search, and what was lost. The page is one file and loads nothing."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan report`` with the arguments `argv`."""
    parser = parser_of("report", _DESCRIPTION, FILES, SELECTION, RANKS)
    parser.option(
        "-o, --output OUT", "the page to write (default: named after the first recording)"
    )
    parser.option("--title TEXT", "the heading (default: the names of the files)")
    options = parser.parse_args(argv)
    many.choose_files(parser, options)
    output = options.output or stem_of(options.files[0]) + ".html"
    refuse_to_replace(parser, output, options.files, "one of the recordings to read")
    recording = selected(open_recording(parser, options.files), options)
    with Progress("writing the report") as progress:
        analysis = analyze(recording)
        progress(0.4)
        text = page.html(
            recording,
            options.title,
            answers=sections(analysis),
            steps=analysis.steps,
            stats=analysis.stats,
        )
        progress(0.9)
        write_text(parser, output, text)
    note(emptiness.events(recording, "the timeline"))
    return emit(output)
