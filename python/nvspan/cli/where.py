# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan where``: what the threads of processes are in now."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit
from nvspan.live.look import look
from nvspan.report.text import printable_lines

_DESCRIPTION = """\
Says what each thread of each process is in now: its open ranges, for how long nothing has changed,
and which process the others wait for. The processes run under nvspan's recorder, in any mode;
NVSPAN_RECORD=armed costs least. They may be stopped, hold the GIL, or be dead: then it is their
last state. Nothing is asked of them."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan where`` with the arguments `argv`."""
    parser = parser_of("where", _DESCRIPTION)
    parser.add_argument(
        "targets", nargs="+", metavar="PID|FILE|FOLDER|PATTERN",
        help="processes by their ids, or their recordings",
    )  # fmt: skip
    parser.add_argument(
        "--interval", type=float, default=0.2, metavar="SECONDS",
        help="time between two looks: what moves in it is not stuck (0.2)",
    )  # fmt: skip
    parser.add_argument(
        "--samples", type=int, default=2, metavar="N", help="how many looks (2); 1 does not wait"
    )
    parser.add_argument(
        "--waits", action="append", default=[], metavar="NAME",
        help="a range in which a process waits for others, or with a colon behind a domain of such "
        "ranges; collectives of torch, NCCL and MPI are known; may be repeated",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="all of it as JSON, times in ns")
    options = parser.parse_args(argv)
    try:
        found = look(options.targets, options.interval, options.samples, options.waits)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    whole = options.json
    text = json.dumps(found.as_dict(), indent=1) if whole else printable_lines(str(found))
    code = emit(text.rstrip("\n") + "\n")
    return code if found.processes else 1
