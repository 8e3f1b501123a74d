# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan where``: which process blocks a job, and what its threads are doing."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nvspan.cli.common.options import TARGETS
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit
from nvspan.live import where
from nvspan.report.text import printable_lines

_DESCRIPTION = """\
Names the rank that blocks the job, and shows what the threads of each process are doing: their
open ranges and spans, and for how long nothing has changed. The processes run under nvspan's
recorder, in any mode; NVSPAN_RECORD=armed costs least. They are not interrupted, and may be stopped
or hold the GIL; of a dead one the last state is shown."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan where`` with the arguments `argv`."""
    parser = parser_of("where", _DESCRIPTION, TARGETS)
    parser.option(
        "--interval SECONDS",
        "time between samples; a thread that moves in it is not stuck (default: 0.2)",
        type=float,
        default=0.2,
    )
    parser.option(
        "--samples N", "number of samples (default: 2); 1 does not wait", type=int, default=2
    )
    parser.option("--json", "print everything as JSON, times in ns")
    options = parser.parse_args(argv)
    try:
        found = where(
            *options.targets,
            interval=options.interval,
            samples=options.samples,
            waits=options.waits,
        )
    except (ValueError, OSError) as error:
        parser.fail(str(error))
    text = json.dumps(found.as_dict(), indent=1) if options.json else printable_lines(str(found))
    code = emit(text.rstrip("\n") + "\n")
    return code if found.processes else 1
