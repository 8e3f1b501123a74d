# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands do with the files of many ranks: one summary, file by file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nvspan.cli.common.reading import note
from nvspan.ranks import paths, read_many
from nvspan.ranks.many import ManyRecordings
from nvspan.ranks.shown import summary_of, unread_lines
from nvspan.report.progress import Progress
from nvspan.report.summary import Summary

LEAST_FILES = 32  # from here on files are reduced one by one
GROUPS = ("name", "rank")
_EXECUTORS = ("threads", "processes")


def add_many(parser: argparse.ArgumentParser) -> None:
    """The options of commands that can read the files of a job one by one."""
    parser.add_argument(
        "--many", action="store_true",
        help="read the files one by one into one summary, which takes memory for the names alone; "
        f"so are {LEAST_FILES} files and more, folders, patterns and URLs",
    )  # fmt: skip
    parser.add_argument(
        "--executor", choices=_EXECUTORS, default=_EXECUTORS[0],
        help="what reads them: threads (the default) or processes of this machine",
    )  # fmt: skip


def is_many(options: argparse.Namespace) -> bool:
    """Whether the files are to be reduced one by one."""
    files: Sequence[str] = options.files
    return (
        options.many
        or len(files) >= LEAST_FILES
        or any(paths.is_url(f) or paths.is_pattern(f) or paths.is_folder(f) for f in files)
    )


def read(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    *,
    by_rank: bool = False,
    steps: bool = False,
    step: str | None = None,
) -> ManyRecordings:
    """Reads them; a file that cannot be read is named on standard error, and the rest goes on."""
    try:
        with Progress("reading") as progress:
            job = read_many(
                options.files, options.executor, by_rank=by_rank, steps=steps, step=step,
                progress=progress,
            )  # fmt: skip
    except (ValueError, ImportError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    note(unread_lines(job))
    return job


def summary(parser: argparse.ArgumentParser, options: argparse.Namespace, by: str) -> Summary:
    """The rows of statistics that --filter takes; `by` is "name" or "rank"."""
    return summary_of(read(parser, options, by_rank=by == "rank"), by, options.filter)
