# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The files of many ranks as arguments of commands: read one by one, or chosen by rank."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from nvspan.cli.common.options import MIN_FILES
from nvspan.cli.common.parser import Parser
from nvspan.cli.common.reading import note
from nvspan.ranks import paths, read_many
from nvspan.recording.time_text import counted
from nvspan.report.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.ranks.many import ManyRecordings


def is_many(options: argparse.Namespace, files: Sequence[str]) -> bool:
    """Whether these files are to be reduced one by one."""
    return (
        options.many
        or len(files) >= MIN_FILES
        or any(paths.is_url(f) or paths.is_pattern(f) or paths.is_folder(f) for f in files)
    )


def read_files(
    parser: Parser, files: Sequence[str], executor: str = "threads", **parts: Any
) -> ManyRecordings:
    """Reads them, with the `parts` that `read_many` is asked for; a file that cannot be read is
    named on standard error, and the rest goes on."""
    from nvspan.ranks.tables import unread_lines

    try:
        with Progress("reading") as progress:
            job = read_many(files, executor, progress=progress, **parts)
    except (ValueError, ImportError) as error:
        parser.fail(str(error))
    note(unread_lines(job))
    return job


def refuse(parser: Parser, options: argparse.Namespace, *names: str) -> None:
    """Ends the command where options are given that need single ranges: --from, --to, `names`."""
    parser.refuse(options, [*names, "from", "to"], "cannot be used with many files")


def choose_files(parser: Parser, options: argparse.Namespace) -> None:
    """Puts the files of the ranks that --ranks asks for in the place of `options.files`.

    Standard error says which ranks these are. Folders and patterns become their files.
    """
    try:
        if options.ranks is None:
            if any(paths.is_pattern(f) or paths.is_folder(f) for f in options.files):
                options.files = paths.expand(options.files)
            return
        job = read_files(parser, options.files, steps=True)
        ranks = job.choose(options.ranks)
    except (ValueError, ImportError) as error:
        parser.fail(str(error))
    number = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
    note([f"{number} of {counted(len(job.processes), 'process')}"])
    options.files = job.paths_of(ranks)
