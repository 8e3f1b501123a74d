# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a tool around a program on some ranks, and the program alone on the others.

``python -m nvspan.nsight.lines.on_ranks RANK 0,3 4 tool a b c program ...``: the variable that
has the rank, the ranks, how many words are the tool's, these words, and the program. In the tool's
words {rank} is the rank.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

MODULE = "nvspan.nsight.lines.on_ranks"


def ranks_of(text: str) -> set[int]:
    """The numbers of "0,3" or "0-3,8".

    Raises:
        ValueError: it is no such text.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"ranks must be as '0,3' or '0-3', not {text!r}")
        found.update(range(int(first), int(last or first) + 1))
    if not found:
        raise ValueError(f"ranks names none: {text!r}")
    return found


def wrapper(tool: Sequence[str], variable: str, ranks: str) -> list[str]:
    """The words that stand before a program in place of `tool`."""
    ranks_of(ranks)
    return [sys.executable, "-m", MODULE, variable, ranks, str(len(tool)), *tool]


def main(argv: Sequence[str]) -> None:
    variable, ranks, count = argv[:3]
    tool, program = list(argv[3 : 3 + int(count)]), list(argv[3 + int(count) :])
    rank = os.environ.get(variable, "")
    if rank.isdecimal() and int(rank) in ranks_of(ranks):
        program = [*(word.replace("{rank}", rank) for word in tool), *program]
    try:
        os.execvp(program[0], program)
    except OSError as error:
        sys.exit(f"nvspan ncu: cannot run {program[0]!r}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
