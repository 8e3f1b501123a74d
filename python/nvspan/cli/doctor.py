# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan doctor``: find out why nothing is recorded, and how to fix it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from nvspan import doctor
from nvspan.cli.common.parser import parser_of
from nvspan.report.text import printable

_DESCRIPTION = """\
Checks everything that decides whether annotations are recorded, and names the fix for each problem.
Checks that could hang or crash run in a separate process. The exit code is 0 without a problem,
else 1."""
_SIGNS = {"ok": "  ", "note": "* ", "problem": "! "}
_NAME_WIDTH = 13


def render(report: Mapping[str, Any], width: int = 100) -> str:
    """The report of `nvspan.doctor.collect` as text."""
    lines = []
    before = None
    for finding in report["findings"]:
        name = finding["name"] if finding["name"] != before else ""
        before = finding["name"]
        text, advice = printable(finding["text"]), printable(finding["advice"] or "")
        lead = _SIGNS[finding["status"]] + f"{name:<{_NAME_WIDTH}}"
        lines += _wrapped(text, lead, width)
        if advice and finding["status"] != "ok":
            lines += _wrapped("-> " + advice, " " * len(lead), width)
    lines += ["", printable(report["verdict"])]
    lines += [line for step in report["next"] for line in _wrapped(printable(step), "  - ", width)]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, lead: str, width: int) -> list[str]:
    indent = " " * len(lead)
    return textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan doctor`` with the arguments `argv`."""
    parser = parser_of("doctor", _DESCRIPTION)
    parser.add_argument(
        "recordings", nargs="*", metavar="FILE", help="recordings to check for lost events"
    )
    parser.option("--json", "print everything as one JSON object")
    parser.option(
        "--import MODULE",
        "import MODULE in another process and list the libraries with NVTX that it loads; may be "
        "repeated",
        dest="modules",
        action="append",
        default=[],
    )
    parser.option("--timeout SECONDS", "limit of one check (default: 60)", type=float, default=60)
    options = parser.parse_args(argv)
    if not options.timeout > 0:
        parser.error("argument --timeout: must be more than 0")
    report = doctor.collect(options.modules, options.timeout, options.recordings)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(render(report), end="")
    return 0 if report["ok"] else 1
