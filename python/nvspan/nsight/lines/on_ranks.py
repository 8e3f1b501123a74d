# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a tool around a program on some ranks, and the program alone on the others.

``python on_ranks.py RANK 0,3 4 tool a b c program ...``: the variable that has the rank, the ranks
or ``all``, how many words are the tool's, these words, and the program. In the tool's words {rank}
is the rank, and {pid} the process id. A ``--log-file`` of a folder that is not on this host is left
out.

It is run as a file, and imports nothing of the package: each rank waits for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

ALL = "all"
LOG_NAME = "{rank}-{pid}.txt"
_LOG_FILE = "--log-file"
# mpirun and mpiexec are names of several MPIs.
_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK")


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


def wrapper(tool: Sequence[str], variable: str, ranks: str | None) -> list[str]:
    """The words that stand before a program in place of `tool`; the ranks None are all."""
    if ranks is not None:
        ranks_of(ranks)
    return [sys.executable, __file__, variable, ranks or ALL, str(len(tool)), *tool]


def with_logs(tool: Sequence[str], variable: str, ranks: str | None, folder: str) -> list[str]:
    """The same, where what ncu says goes into files of the folder, one for each of its processes.

    Args:
        tool: ncu and its options.
        folder: on this host; what ncu says on hosts without it is printed.
    """
    log = [_LOG_FILE, os.path.join(folder, LOG_NAME)]
    return wrapper([*tool[:1], *log, *tool[1:]], variable, ranks)


def logs(folder: str) -> dict[str, list[str]]:
    """What ncu said, by rank; "" is a process that has none."""
    found: dict[str, list[str]] = {}
    names = [name for name in os.listdir(folder) if name.endswith(".txt")]
    for name in sorted(names, key=lambda name: [int(n or -1) for n in name[:-4].split("-")]):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            found.setdefault(name.partition("-")[0], []).extend(file.read().splitlines())
    return found


def _rank(variable: str) -> str:
    for name in (variable, *_VARIABLES):
        if (rank := os.environ.get(name, "")).isdecimal():
            return rank
    return ""


def _tool(words: Sequence[str], rank: str, variable: str) -> list[str]:
    """The tool's words in this process."""
    fields = {"{rank}": rank, "{pid}": str(os.getpid())}
    if rank:  # ncu looks for one variable alone
        fields[f"%q{{{variable}}}"] = rank
    line = []
    for word in words:
        for field, value in fields.items():
            word = word.replace(field, value)
        line.append(word)
    if _LOG_FILE in line:
        at = line.index(_LOG_FILE)
        if not os.path.isdir(os.path.dirname(line[at + 1])):
            del line[at : at + 2]
    return line


def main(argv: Sequence[str]) -> None:
    """Becomes the program, with or without the tool."""
    variable, ranks, count = argv[:3]
    program = list(argv[3 + int(count) :])
    rank = _rank(variable)
    if ranks == ALL or (rank and int(rank) in ranks_of(ranks)):
        program = [*_tool(argv[3 : 3 + int(count)], rank, variable), *program]
    try:
        os.execvp(program[0], program)
    except OSError as error:
        sys.exit(f"nvspan ncu: cannot run {program[0]!r}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
