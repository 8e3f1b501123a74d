# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan top``: what share of the time processes are in each range, while they run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit
from nvspan.live.top.sampling import Sampler

_DESCRIPTION = """\
Shows what share of the time processes are in each range, by looking at them a thousand times a
second: ranges down, processes across, with what has changed, how many steps each makes, and threads
that are stuck. The processes run under nvspan's recorder, in any mode; NVSPAN_RECORD=armed costs
least. Nothing is asked of them. Keys: s sorts, / filters, left and right choose a process, Enter
opens it, Esc goes back, space holds the screen, q quits."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan top`` with the arguments `argv`."""
    parser = parser_of("top", _DESCRIPTION)
    parser.add_argument(
        "targets", nargs="+", metavar="PID|FILE|FOLDER|PATTERN",
        help="processes by their ids, or their recordings; new files of a pattern join in",
    )  # fmt: skip
    parser.add_argument(
        "--interval", type=float, default=1.0, metavar="SECONDS",
        help="the time that is shown at once, and between two screens (1)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=float, default=1000, metavar="N", help="looks a second (1000)"
    )
    parser.add_argument(
        "--step", metavar="NAME",
        help="the range that is a step (default: the outermost one that began again)",
    )  # fmt: skip
    parser.add_argument(
        "--stuck", type=float, default=5.0, metavar="SECONDS",
        help="without an event for so long a thread in a range is stuck (5, or the interval with "
        "--once)",
    )  # fmt: skip
    parser.add_argument(
        "--waits", action="append", default=[], metavar="NAME", help="as for nvspan where"
    )
    parser.add_argument("--once", action="store_true", help="print one interval and end")
    parser.add_argument(
        "--json", action="store_true",
        help="print a JSON object for each interval, one in a line; with --once a single one",
    )  # fmt: skip
    options = parser.parse_args(argv)
    if not options.interval > 0:
        parser.error(f"--interval must be above 0 seconds, not {options.interval!r}")
    if not options.stuck > 0:
        parser.error(f"--stuck must be above 0 seconds, not {options.stuck!r}")
    on_screen = not (options.once or options.json)
    if on_screen:
        _check_terminal(parser.prog)
    stuck = min(options.stuck, options.interval) if options.once else options.stuck
    try:
        sampler = Sampler(options.targets, options.rate, options.waits, options.step, stuck)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    if on_screen:
        from nvspan.live.top.screen import run

        run(sampler, options.interval, sys.stdin.fileno())
        return 0
    return _print(sampler, options.interval, options.json, options.once)


def _check_terminal(prog: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit(f"{prog}: it needs a terminal; --once and --json print what they see")
    try:
        import rich  # noqa: F401
    except ImportError:
        sys.exit(
            f"{prog}: it needs the package rich: pip install 'nvspan[report]'; --once and --json "
            "do without"
        )


def _print(sampler: Sampler, interval: float, as_json: bool, once: bool) -> int:
    from nvspan.live.top.matrix import shown

    try:
        while True:
            end = time.monotonic() + interval
            while (left := end - time.monotonic()) > 0:  # a signal ends a watch
                sampler.watch(left)
            window = sampler.window()
            text = json.dumps(window.as_dict()) if as_json else shown(window)
            code = emit(text + "\n")
            if once or code:
                return code if window.activities else 1
    except KeyboardInterrupt:
        return 0
