# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan start`` and ``stop``: what the recorder of a running process does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import parser_of
from nvspan.live.control import Answer, ask
from nvspan.recorder import mode_config

_START = """\
Has the recorder of a running process record events: one that is armed keeps none until then. What
is open at that moment is recorded as if it began there."""
_STOP = """\
Has the recorder of a running process record no more events. It stays armed: nvspan where still sees
what is open, and nvspan start goes on."""


def _answer(
    parser: argparse.ArgumentParser, targets: list[str], request: Callable[[str], list[Answer]]
) -> int:
    code = 0
    for target in targets:
        try:
            answers = request(target)
        except (ValueError, OSError) as error:
            print(f"{parser.prog}: {plain_text(str(error))}", file=sys.stderr)
            code = 1
            continue
        for answer in answers:
            good = answer.kind in ("obeyed", "waiting")
            print(f"{plain_text(answer.file)}: {plain_text(answer.text)}",
                  file=sys.stdout if good else sys.stderr)  # fmt: skip
            code = code if good else 1
    return code


def _targets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets", nargs="+", metavar="PID|FILE", help="processes by their ids, or recordings"
    )


def start(argv: Sequence[str]) -> int:
    """Runs ``nvspan start`` with the arguments `argv`."""
    parser = parser_of("start", _START)
    _targets(parser)
    parser.add_argument(
        "--mode", default="full",
        help="full (the default); ring=MB keeps the newest events, in that many megabytes",
    )  # fmt: skip
    options = parser.parse_args(argv)
    try:
        mode, _, size = mode_config(options.mode).partition(":")
    except ValueError as error:
        parser.error(str(error))
    if mode not in ("full", "ring"):
        parser.error(f"mode must be full or ring=MB, not {options.mode!r}")
    return _answer(parser, options.targets, lambda target: ask(target, mode, int(size or 0)))


def stop(argv: Sequence[str]) -> int:
    """Runs ``nvspan stop`` with the arguments `argv`."""
    parser = parser_of("stop", _STOP)
    _targets(parser)
    targets = parser.parse_args(argv).targets
    return _answer(parser, targets, lambda target: ask(target, "armed"))
