# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan mcp``: the reading commands as tools of a Model Context Protocol server."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of

_DESCRIPTION = """\
Serves explain, steps, stats, diff, where and ranks to an AI assistant: a Model
Context Protocol server on standard input and output, which the assistant's
program starts. Each answer is the text that the command prints, with its JSON.
The server reads recordings; it writes no files and starts no programs."""


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan mcp`` with the arguments `argv`, until standard input ends."""
    parser = parser_of("mcp", _DESCRIPTION)
    parser.parse_args(argv)
    if sys.stdin is None or sys.stdout is None:
        parser.fail("standard input and output must be open: the assistant's program starts it")
    try:
        from nvspan.cli.mcp_server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        parser.fail("it needs the MCP SDK: pip install 'nvspan[mcp]'")
    serve()
    return 0
