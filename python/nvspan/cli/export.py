# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan export``: recordings in the formats of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import nvspan
from nvspan.cli.common import many
from nvspan.cli.common.options import CSV, FILES, RANKS, SELECTION
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import (
    emit,
    make_directory,
    note,
    open_recording,
    refuse_to_replace,
    selected,
    stem_of,
)
from nvspan.report import emptiness
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Converts recordings to a trace for the Perfetto UI, to the SQLite database of an
nsys export, to tables, or to stacks for flame graphs. The files of several
processes become one."""

#: Name: (suffix, module:function below nvspan).
_FORMATS = {
    "perfetto": (".pftrace", "export.perfetto:write"),
    "sqlite": (".sqlite", "nsight.sqlite:write"),
    "parquet": (".parquet", "export.tables:write_parquet"),
    "csv": (".csv", "export.tables:write_csv"),
    "speedscope": (".speedscope.json", "export.stacks:write_speedscope"),
    "collapsed": (".collapsed", "export.stacks:write_collapsed"),
    "folded": (".folded", "export.stacks:write_folded"),
}
_NO_CHROME = (
    "Chrome's JSON is not written: export with --format perfetto, and convert that "
    "with Perfetto's traceconv (traceconv json run.pftrace run.json)"
)


def _parser() -> Parser:
    parser = parser_of("export", _DESCRIPTION, FILES, SELECTION, CSV, RANKS)

    def format_of(word: str) -> str:
        if word == "chrome":
            parser.exit(2, f"{parser.prog}: {_NO_CHROME}\n")
        return word

    parser.option(
        "--format FORMAT",
        f"{', '.join(_FORMATS)} (the default is perfetto)",
        type=format_of,
        choices=tuple(_FORMATS),
        default="perfetto",
    )
    parser.option(
        "-o, --output OUT", "the file to write (default: named after the first recording)"
    )
    parser.option(
        "--partition",
        "with parquet: a directory with the files of each rank, ranges/rank=0/... and so on, "
        "written file by file",
    )
    return parser


def _partition(options: argparse.Namespace, directory: str) -> int:
    """Writes one file after the other, so that memory is that of the largest."""
    from nvspan.export import tables

    failed = []
    with Progress("exporting parquet") as progress:
        for at, path in enumerate(options.files):
            try:
                recording = selected(nvspan.read(path), options)
            except (OSError, ValueError) as error:
                failed.append(f"cannot read {path!r}: {error}")
                continue
            rank = recording.processes[0].rank
            tables.write_partition(recording, directory, "none" if rank is None else str(rank))
            progress((at + 1) / len(options.files))
    note(failed)
    return 1 if len(failed) == len(options.files) else emit(directory)


def _write(recording: nvspan.Recording, options: argparse.Namespace, output: str) -> list[str]:
    """Writes one file, or the tables of csv and parquet: their paths."""
    module, _, function = _FORMATS[options.format][1].partition(":")
    write: Callable[..., Any] = getattr(import_module(f"nvspan.{module}"), function)
    if options.format == "csv":
        write = partial(write, escape_formulas=options.escape_formulas)
    with Progress(f"exporting {options.format}") as progress:
        found = write(recording, output, progress)
    return found if isinstance(found, list) else [output]


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan export`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    many.choose_files(parser, options)
    first, output = options.files[0], options.output
    if output is None:
        # NAME.sqlite beside NAME.nsys-rep is nsys's own.
        own = ".nvspan" if first.endswith(".nsys-rep") and options.format == "sqlite" else ""
        output = stem_of(first) + own + _FORMATS[options.format][0]
    refuse_to_replace(parser, output, options.files, "one of the recordings to read")
    if options.partition and options.format != "parquet":
        parser.error(f"--partition is for parquet, not {options.format}")
    if options.partition:
        output = stem_of(output)
    try:
        if options.partition:
            return _partition(options, output)
        recording = selected(open_recording(parser, options.files), options)
        make_directory(output)
        paths = _write(recording, options, output)
    except ModuleNotFoundError as error:
        parser.fail(f"{options.format} needs {error.name}: pip install 'nvspan[parquet]'")
    except OSError as error:
        parser.fail(f"cannot write {output!r}: {error.strerror or error}")
    note(emptiness.events(recording, "the export"))
    return emit("\n".join(paths))
