# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan top``: what share of the time processes are in each range, while they run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from nvspan.cli.common.options import TARGETS
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import emit
from nvspan.live.top.sampling import Sampler

_DESCRIPTION = """\
Shows the share of time that processes spend in each range, from 1,000 samples a second: a row for
each range, a column for each process, with changes, steps and stuck threads. The processes run
under nvspan's recorder, in any mode; NVSPAN_RECORD=armed costs least. They are not interrupted.
Keys: s sorts, / filters, left and right choose a process, Enter opens it, Esc goes back, space
holds the screen, q quits."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan top`` with the arguments `argv`."""
    parser = parser_of("top", _DESCRIPTION, TARGETS)
    parser.option("--interval SECONDS", "time of one screen (default: 1)", type=float, default=1.0)
    parser.option("--rate N", "samples a second (default: 1,000)", type=float, default=1000)
    parser.option("--step NAME", "the range that is a step (default: the outermost repeating)")
    parser.option(
        "--stuck SECONDS",
        "a thread in a range without an event for this long is stuck (default: 5; with --once the "
        "interval)",
        type=float,
        default=5.0,
    )
    parser.option("--once", "print one interval and end")
    parser.option("--json", "print a JSON object for each interval, one in a line")
    options = parser.parse_args(argv)
    for name in ("interval", "stuck"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name} must be above 0 seconds, not {getattr(options, name)!r}")
    on_screen = not (options.once or options.json)
    if on_screen:
        _check_terminal(parser)
    stuck = min(options.stuck, options.interval) if options.once else options.stuck
    try:
        sampler = Sampler(options.targets, options.rate, options.waits, options.step, stuck)
    except (ValueError, OSError) as error:
        parser.fail(str(error))
    if not on_screen:
        return _print(sampler, options.interval, as_json=options.json, once=options.once)
    from nvspan.live.top.screen import run

    run(sampler, options.interval, sys.stdin.fileno())
    return 0


def _check_terminal(parser: Parser) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.fail("it needs a terminal; --once and --json print what they see")
    try:
        import rich  # noqa: F401
    except ImportError:
        parser.fail(
            "it needs the package rich: pip install 'nvspan[report]'; --once and --json do without"
        )


def _print(sampler: Sampler, interval: float, *, as_json: bool, once: bool) -> int:
    from nvspan.live.top.matrix import render

    try:
        while True:
            end = time.monotonic() + interval
            while (left := end - time.monotonic()) > 0:  # a signal ends a watch
                sampler.watch(left)
            window = sampler.window()
            text = json.dumps(window.as_dict()) if as_json else render(window)
            code = emit(text + "\n")
            if once or code:
                return code if window.activities else 1
    except KeyboardInterrupt:
        return 0
