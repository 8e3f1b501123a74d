# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan export``: recordings in the formats of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import nvspan
from nvspan.cli.common import many
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import (
    add_escape_formulas,
    add_selection,
    emit,
    note,
    open_recording,
    refuse_to_replace,
    selected,
    stem_of,
)
from nvspan.report import emptiness
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Writes recordings as a trace for the Perfetto UI, as the SQLite database of an
nsys export, as tables, or as stacks for flame graphs. The files of several
processes become one."""

_SUFFIXES = {
    "perfetto": ".pftrace",
    "sqlite": ".sqlite",
    "parquet": ".parquet",
    "csv": ".csv",
    "speedscope": ".speedscope.json",
    "collapsed": ".collapsed",
}
_NO_CHROME = (
    "Chrome's JSON is not written: export with --format perfetto, and convert that "
    "with Perfetto's traceconv (traceconv json run.pftrace run.json)"
)


def _partitioned(
    parser: argparse.ArgumentParser, options: argparse.Namespace, folder: str
) -> int:  # fmt: skip
    """One file after the other, so that memory is that of the largest."""
    from nvspan.export import tables

    failed = []
    try:
        with Progress("exporting parquet") as progress:
            for at, path in enumerate(options.files):
                try:
                    recording = selected(nvspan.read(path), options)
                except (OSError, ValueError) as error:
                    failed.append(f"cannot read {path!r}: {error}")
                    continue
                rank = recording.processes[0]["rank"]
                tables.write_partition(recording, folder, "none" if rank is None else str(rank))
                progress((at + 1) / len(options.files))
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: parquet needs {error.name}: "
                       "pip install 'nvspan[parquet]'\n")  # fmt: skip
    except OSError as error:
        parser.exit(1, f"{parser.prog}: cannot write {folder!r}: {error.strerror or error}\n")
    note(failed)
    if len(failed) == len(options.files):
        return 1
    return emit(folder)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan export`` with the arguments `argv`."""
    parser = parser_of("export", _DESCRIPTION)

    def format_of(word: str) -> str:
        if word == "chrome":
            parser.exit(2, f"{parser.prog}: {_NO_CHROME}\n")
        return word

    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="recordings, or reports of Nsight Systems, to read together",
    )
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        type=format_of,
        choices=tuple(_SUFFIXES),
        default="perfetto",
        help=f"{', '.join(_SUFFIXES)} (the default is perfetto)",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT",
        help="the file to write, replaced if it exists (default: the name of the first recording, "
        "with the format's suffix)",
    )  # fmt: skip
    parser.add_argument(
        "--partition", action="store_true",
        help="with parquet: a folder with the files of each rank, ranges/rank=0/... and so on, "
        "written file by file",
    )  # fmt: skip
    add_selection(parser)
    add_escape_formulas(parser)
    many.add_ranks(parser)
    options = parser.parse_args(argv)
    many.choose_files(parser, options)
    output = options.output
    if output is None:
        # NAME.sqlite beside NAME.nsys-rep is nsys's own.
        is_report = options.files[0].endswith(".nsys-rep") and options.format == "sqlite"
        output = (
            stem_of(options.files[0]) + (".nvspan" if is_report else "") + _SUFFIXES[options.format]
        )
    refuse_to_replace(parser, output, options.files, "one of the recordings to read")
    if options.partition:
        if options.format != "parquet":
            parser.error(f"--partition is for parquet, not {options.format}")
        return _partitioned(parser, options, stem_of(output))
    recording = selected(open_recording(parser, options.files), options)
    paths = [output]
    try:
        with Progress(f"exporting {options.format}") as progress:
            if options.format == "perfetto":
                from nvspan.export import perfetto

                perfetto.write(recording, output, progress)
            elif options.format == "sqlite":
                from nvspan.nsight import sqlite

                sqlite.write(recording, output, progress)
            elif options.format == "speedscope":
                from nvspan.export import stacks

                stacks.write_speedscope(recording, output, progress)
            elif options.format == "collapsed":
                from nvspan.export import stacks

                stacks.write_collapsed(recording, output, progress)
            else:
                from nvspan.export import tables

                if options.format == "csv":
                    paths = tables.write_csv(
                        recording, output, progress, escape_formulas=options.escape_formulas
                    )
                else:
                    paths = tables.write_parquet(recording, output, progress)
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: {options.format} needs {error.name}: "
                       "pip install 'nvspan[parquet]'\n")  # fmt: skip
    except OSError as error:
        parser.exit(1, f"{parser.prog}: cannot write {output!r}: {error.strerror or error}\n")
    note(emptiness.events(recording, "the export"))
    return emit("\n".join(paths))
