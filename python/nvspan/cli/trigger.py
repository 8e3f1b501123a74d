# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan trigger``: bundles of the last seconds of processes, now or when something happens."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from nvspan._runtime.warnings import plain_text
from nvspan.blackbox.bundle import add_where, folder_of, follow, make_watcher
from nvspan.blackbox.syntax import Triggers, parse, seconds
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.live.process import recordings_of

_DESCRIPTION = """\
Saves the last seconds of every process that records into a directory, also of stopped and killed
ones, as a bundle: a new directory next to the recordings. The processes are not interrupted. Every
reading command opens a bundle.

With --when it watches the recordings of a directory, and saves a bundle whenever a trigger fires,
until Ctrl-C or for the time of --for."""


def _say(text: str) -> None:
    print(f"nvspan: {plain_text(text)}", file=sys.stderr, flush=True)


class Watch:
    """Watches the processes that record into the files like `output`; says what it writes.

    Raises:
        ValueError: the files do not lie in one folder.
    """

    def __init__(self, output: str, triggers: Triggers, run: int = 0) -> None:
        outer = replace(triggers, signals=[], exception=False)
        self._watcher = make_watcher(folder_of(output), outer, run=run)
        if not self._watcher.start():
            raise ValueError("there is no thread for the watch")
        self._ended = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        said = ""
        for bundle in follow(self._watcher, _say, lambda: self._ended):
            if bundle != said:
                if problem := add_where(said := bundle):
                    _say(problem)
                _say(f"the last seconds are in {bundle}")

    def end(self) -> None:
        """Looks a last time, and ends."""
        self._watcher.stop()
        self._ended = True
        self._thread.join()


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan trigger`` with the arguments `argv`."""
    parser = parser_of("trigger", _DESCRIPTION)
    parser.add_argument(
        "target", metavar="PID|DIR", help="a process by its id, or the directory of the recordings"
    )
    parser.option("--why TEXT", "a note to save in the bundle")
    parser.option("--last TIME", "how much to save: 30s (the default), 5min")
    parser.option("--env NAMES", "environment variables to save, separated by commas (* and ?)")
    parser.option(
        "--when TRIGGERS",
        "watch for slow:RANGE>FACTOR, stall:TIME, killed; with last:TIME, every:TIME, keep:COUNT, "
        "env:NAMES; several with semicolons; may be repeated",
        action="append",
    )
    parser.option("--for TIME", "with --when: end after this long: 90s, 10min, 8h", dest="time")
    options = parser.parse_args(argv)
    if options.when is not None:
        return _watch(parser, options)
    if options.time is not None:
        parser.error("--for needs --when")
    return _write_now(parser, options)


def _write_now(parser: Parser, options: argparse.Namespace) -> int:
    try:
        triggers = parse(f"env:{options.env or ''}")
        triggers.last = seconds(options.last or "30s")
    except ValueError as error:
        parser.error(str(error))
    folder, pid = options.target, 0
    if not os.path.isdir(folder):
        try:
            if not folder.isdigit():
                raise ValueError(f"{folder!r} is neither a process id nor a directory")
            folder = os.path.dirname(recordings_of(pid := int(folder))[0])
        except (OSError, ValueError) as error:
            parser.fail(plain_text(str(error)))
    watcher = make_watcher(os.path.abspath(folder), triggers, pid=pid)
    why = "asked for" if options.why is None else options.why
    bundle, problem = map(os.fsdecode, watcher.trigger_now("asked", why))
    if bundle:
        problem = problem or add_where(bundle)
        print(plain_text(bundle))
    if problem:
        print(f"{parser.prog}: {plain_text(problem)}", file=sys.stderr)
    return 1 if problem or not bundle else 0


def _watch(parser: Parser, options: argparse.Namespace) -> int:
    why = "cannot be used with --when, which takes last:TIME and env:NAMES"
    parser.refuse(options, ("why", "last", "env"), why)
    try:
        triggers = parse(options.when)
        limit = None if options.time is None else seconds(options.time)
        _refuse(parser, triggers)
        if not os.path.isdir(options.target):
            raise ValueError(f"there is no directory {options.target!r}")
        found = Watch(os.path.join(options.target, "x"), triggers)
    except ValueError as error:
        parser.error(str(error))
    end = None if limit is None else time.monotonic() + limit
    try:
        while end is None or time.monotonic() < end:
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    found.end()
    return 0


def _refuse(parser: Parser, triggers: Triggers) -> None:
    if triggers.signals or triggers.exception:
        parser.error("signal and exception are seen by the process alone: set NVSPAN_TRIGGER there")
    if not triggers.rules:
        parser.error("argument --when: nothing to watch for")
