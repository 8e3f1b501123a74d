# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands do with the files of many ranks: one summary, file by file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from nvspan.cli.common.reading import emit, note
from nvspan.ranks import paths, read_many
from nvspan.report.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.ranks.many import ManyRecordings
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
    add_executor(parser)


def add_executor(parser: argparse.ArgumentParser) -> None:
    """The option that says what reads the files."""
    parser.add_argument(
        "--executor", choices=_EXECUTORS, default=_EXECUTORS[0],
        help="what reads them: threads (the default) or processes of this machine",
    )  # fmt: skip


def is_many(options: argparse.Namespace) -> bool:
    """Whether the files are to be reduced one by one."""
    return options.many or are_many(options.files)


def are_many(files: Sequence[str]) -> bool:
    """Whether these files, where nothing else is said, are to be reduced one by one."""
    return len(files) >= LEAST_FILES or any(
        paths.is_url(f) or paths.is_pattern(f) or paths.is_folder(f) for f in files
    )


def read_files(
    parser: argparse.ArgumentParser,
    files: Sequence[str],
    executor: str,
    *,
    by_rank: bool = False,
    steps: bool = False,
    step: str | None = None,
    modules: bool | str = False,
) -> ManyRecordings:
    """Reads them; a file that cannot be read is named on standard error, and the rest goes on."""
    from nvspan.ranks.shown import unread_lines

    try:
        with Progress("reading") as progress:
            job = read_many(
                files, executor, by_rank=by_rank, steps=steps, step=step, modules=modules,
                progress=progress,
            )  # fmt: skip
    except (ValueError, ImportError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    note(unread_lines(job))
    return job


def refuse(
    parser: argparse.ArgumentParser, options: argparse.Namespace, given: Sequence[str]
) -> None:
    """Ends the command where options are given that need single ranges: --from, --to, `given`."""
    given = [*given, *["--from"] * (options.start is not None)]
    given += ["--to"] * (options.stop is not None)
    if given:
        parser.error(f"{' and '.join(given)} cannot be used with many files")


def show_steps(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """A line for each rank, the slowest first; JSON has all that is known of each."""
    from nvspan.ranks.shown import steps_csv, steps_table
    from nvspan.report.render import as_csv

    refuse(parser, options, ["--phases"] * bool(options.phases) + ["--each"] * options.each)
    job = read_files(parser, options.files, options.executor, steps=True, step=options.step)
    try:
        steps = job.steps()
    except ValueError:
        parser.exit(1, f"{parser.prog}: no file has steps\n")
    if options.format == "json":
        return emit(json.dumps(steps.ranks[: options.top], indent=1))
    if options.format == "csv":
        columns, rows = steps_csv(steps)
        return emit(as_csv(rows[: options.top], columns, options.escape_formulas))
    return emit(steps_table(steps, options.top, options.format == "markdown"))


def summary(
    parser: argparse.ArgumentParser, options: argparse.Namespace, by: str
) -> tuple[Summary, list[dict[str, Any]]]:
    """The rows of statistics that --filter takes, and the collectives of all; `by` is "name" or
    "rank"."""
    from nvspan.ranks.shown import summary_of

    job = read_files(parser, options.files, options.executor, by_rank=by == "rank")
    return summary_of(job, by, options.filter), job.collectives(by)


def add_ranks(parser: argparse.ArgumentParser) -> None:
    """The option that chooses ranks of a job."""
    parser.add_argument(
        "--ranks", metavar="RANKS",
        help="of the files only those of these ranks: slowest:3,7",
    )  # fmt: skip


def choose_files(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Puts the files of the ranks that --ranks asks for in the place of `options.files`.

    Standard error says which ranks these are. Folders and patterns become their files.
    """
    files: Sequence[str] = options.files
    try:
        if options.ranks is None:
            if any(paths.is_pattern(f) or paths.is_folder(f) for f in files):
                options.files = paths.expand(files)
            return
        from nvspan.ranks.shown import unread_lines

        with Progress("choosing ranks") as progress:
            job = read_many(files, steps=True, progress=progress)
            ranks = job.choose(options.ranks)
    except (ValueError, ImportError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    note(unread_lines(job))
    number = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
    note([f"{number} of {len(job.processes)} processes"])
    options.files = job.paths_of(ranks)
