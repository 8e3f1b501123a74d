# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan attach`` and ``nvspan detach``: switch the recorder of a running process."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from nvspan._runtime.warnings import plain_text
from nvspan.cli.common.parser import parser_of
from nvspan.live.control import Answer, request_lines, send_request
from nvspan.recorder import mode_config

_ATTACH = """\
Starts recording in a process whose recorder is armed (NVSPAN_RECORD=armed). Ranges that are already
open are recorded as if they started now. --lines samples the lines of Python threads instead, for
nvspan where and top; it works in a process that hangs, too."""
_DETACH = """\
Stops recording and sampling in a process. Its recorder stays armed: nvspan where still shows its
open ranges, and nvspan attach starts recording again."""


def _parser(command: str, description: str) -> argparse.ArgumentParser:
    parser = parser_of(command, description)
    parser.add_argument("targets", nargs="+", metavar="PID|FILE", help="process ids or recordings")
    return parser


def _ask(
    parser: argparse.ArgumentParser, targets: list[str], *asks: Callable[[str], list[Answer]]
) -> int:
    code = 0
    for target in targets:
        try:
            answers = [answer for ask in asks for answer in ask(target)]
        except (ValueError, OSError) as error:
            print(f"{parser.prog}: {plain_text(str(error))}", file=sys.stderr)
            code = 1
            continue
        for answer in answers:
            good = answer.kind in ("obeyed", "waiting")
            text = f"{plain_text(answer.file)}: {plain_text(answer.text)}"
            print(text, file=sys.stdout if good else sys.stderr)
            code = code if good else 1
    return code


def attach(argv: Sequence[str]) -> int:
    """Runs ``nvspan attach`` with the arguments `argv`."""
    parser = _parser("attach", _ATTACH)
    parser.add_argument(
        "--mode", help="full (the default without --lines), or ring=MB: keep the newest megabytes"
    )
    parser.add_argument(
        "--lines",
        action="store_true",
        help="sample lines; the process was started with NVSPAN_RECORD_LINES=armed",
    )
    options = parser.parse_args(argv)

    def sample_lines(target: str) -> list[Answer]:
        return request_lines(target, on=True)

    if options.lines and options.mode is None:
        return _ask(parser, options.targets, sample_lines)
    try:
        mode, _, size = mode_config(options.mode or "full").partition(":")
    except ValueError as error:
        parser.error(str(error))
    if mode not in ("full", "ring"):
        parser.error(f"mode must be full or ring=MB, not {options.mode!r}")

    def switch(target: str) -> list[Answer]:
        return send_request(target, mode, int(size or 0))

    return _ask(parser, options.targets, *([sample_lines] if options.lines else []), switch)


def detach(argv: Sequence[str]) -> int:
    """Runs ``nvspan detach`` with the arguments `argv`."""
    parser = _parser("detach", _DETACH)

    def stop_lines(target: str) -> list[Answer]:
        return [answer for answer in request_lines(target, on=False) if answer.kind != "obeyed"]

    def arm(target: str) -> list[Answer]:
        return send_request(target, "armed")

    return _ask(parser, parser.parse_args(argv).targets, stop_lines, arm)
