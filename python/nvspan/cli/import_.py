# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan import``: traces and tables of other programs as recordings."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note, refuse_to_replace
from nvspan.imports import FORMATS, import_file
from nvspan.report.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

_DESCRIPTION = """\
Writes a recording of what another program wrote: a Chrome trace (torch.profiler, JAX), a
Perfetto trace, or a CSV or Parquet table. nvspan stats, report and view read it like any other."""

_EPILOG = """\
columns of a table: start and end (or duration) for ranges, time for marks, time and value for
samples; name, domain, kind (push_pop, start_end, device), category, category_name, color, process
or pid, process_name, host, thread or tid, thread_name, device, stream, field, unit. Others are
left out.
"""


def _columns(text: str) -> dict[str, str]:
    columns = {}
    for part in text.split(","):
        name, equals, given = part.partition("=")
        if not equals or not name.strip() or not given.strip():
            raise argparse.ArgumentTypeError(f"expected NAME=COLUMN, not {part!r}")
        columns[name.strip()] = given.strip()
    return columns


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan import`` with the arguments `argv`."""
    parser = parser_of("import", _DESCRIPTION)
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="FILE", help="the trace or table; .gz is unpacked")
    parser.add_argument(
        "-o", "--output", metavar="OUT",
        help="the recording to write, replaced if it exists (default: FILE with .nvspan)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, help="default: by the file's name")
    parser.add_argument(
        "--columns", metavar="NAME=COLUMN,...", type=_columns, default={},
        help="which column of a table is which: start=ts,name=label",
    )  # fmt: skip
    parser.add_argument(
        "--unit", choices=("ns", "us", "ms", "s"), default="ns",
        help="of the times of a table (default: ns)",
    )  # fmt: skip
    parser.add_argument(
        "--partial", action="store_true",
        help="take what comes before the place at which the file is damaged",
    )  # fmt: skip
    options = parser.parse_args(argv)
    output = options.output
    if output is None:
        stem = options.file[:-3] if options.file.endswith(".gz") else options.file
        output = os.path.splitext(stem)[0] + ".nvspan"
    refuse_to_replace(parser, output, [options.file], "the file to read")
    try:
        with Progress("importing") as progress:
            done = import_file(
                options.file, output, format=options.format, columns=options.columns,
                unit=options.unit, partial=options.partial, progress=progress,
            )  # fmt: skip
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: parquet needs {error.name}: "
                       "pip install 'nvspan[parquet]'\n")  # fmt: skip
    except OSError as error:
        shown = error.filename or output
        parser.exit(1, f"{parser.prog}: {shown!r}: {error.strerror or error}\n")
    except ValueError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    parts = [
        _several(count, noun)
        for count, noun in (
            (done.ranges, "range"),
            (done.device_ranges, "device range"),
            (done.marks, "mark"),
            (done.samples, "sample"),
        )
        if count
    ]
    lines = [f"{output}: {', '.join(parts) or 'no events'}"]
    if done.overlapping:
        lines.append(
            f"{_several(done.overlapping, 'range')} began within another of the thread and ended "
            "after it: start/end ranges in the recording"
        )
    if done.left_out:
        left = ", ".join(f"{count:,} {what}" for what, count in sorted(done.left_out.items()))
        lines.append(f"left out, as a recording has no place for it: {left}")
    if done.damage is not None:
        lines.append(f"{done.damage}; what comes before it was taken")
    note(lines)
    emit(output)
    return 0 if done.damage is None else 1
