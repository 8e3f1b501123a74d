# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Launchers (torchrun, srun, mpirun): puts a profiler before the program that each rank runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence

_TORCHRUN_FLAGS = {"--standalone", "--no-python", "--run-path", "-m", "--module"}
# Options with a value in a word of its own; what else begins with a dash stands alone.
_SRUN_LETTERS = frozenset("ABCDGJLMNSTUWabcdeginopqrtwx")
_SRUN_FLAGS = {
    *("--exclusive", "--overlap", "--pty", "--label", "--unbuffered", "--verbose", "--quiet"),
    *("--no-kill", "--overcommit", "--exact", "--contiguous", "--preserve-env"),
}
_MPI_VALUES = {
    *("-n", "-np", "--np", "-N", "-c", "-H", "--host", "-host", "--hostfile", "-hostfile", "-x"),
    *("--map-by", "--bind-to", "--rank-by", "--mca", "-mca", "-ppn", "-npernode"),
}
_MPI_PAIRS = {"--mca", "-mca"}  # two values
_RANK_VARIABLES = {
    "srun": "SLURM_PROCID",
    "mpirun": "OMPI_COMM_WORLD_RANK",
    "orterun": "OMPI_COMM_WORLD_RANK",
    "mpiexec": "PMI_RANK",
}
NO_RANK = (
    "output has the rank in it, but the variable RANK is not set here, and no launcher that is "
    "known (torchrun, srun, mpirun) starts the program"
)


def checked_program(program: Sequence[str]) -> list[str]:
    """The command line of a program, as a list."""
    if isinstance(program, (str, bytes)) or not all(isinstance(word, str) for word in program):
        raise TypeError(f"program must be a list of str, not {program!r}")
    if not program:
        raise ValueError("program must name what to run, not []")
    return list(program)


def inside(program: Sequence[str], tool: Iterable[str]) -> list[str]:
    """The command line in which `tool` profiles what a launcher starts, or else the program.

    torchrun, ``python -m torch.distributed.run``, srun and mpirun are known. A tool around a
    launcher would profile the launcher, and write one report for all ranks.
    """
    words = checked_program(program)
    name = os.path.basename(words[0])
    if name in ("torchrun", "torchrun.exe"):
        return _torchrun(words[:1], words[1:], tool)
    if words[1:3] in (["-m", "torch.distributed.run"], ["-m", "torch.distributed.launch"]):
        return _torchrun(words[:3], words[3:], tool)
    at = 0
    if name in _RANK_VARIABLES:
        at = _after_options(words, _srun_values if name == "srun" else _mpi_values)
    return [*words[:at], *tool, *words[at:]]


def split_line(line: Sequence[str], program: Sequence[str]) -> tuple[list[str], ...]:
    """A command line that `inside` made of `program`: the launcher, the tool and what it runs."""
    around = inside(program, [""])
    before = around.index("")
    after = len(line) - (len(around) - before - 1)
    return list(line[:before]), list(line[before:after]), list(line[after:])


def rank_variable(program: Sequence[str]) -> str:
    """The variable that tells a process its rank: that of the launcher; RANK without one."""
    return _RANK_VARIABLES.get(os.path.basename(program[0]) if program else "", "RANK")


def is_launched(program: Sequence[str]) -> bool:
    """Whether a launcher that is known starts a process for each rank."""
    return inside(program, ["tool"])[0] != "tool"


def output_name(name: str, program: Sequence[str]) -> str:
    """A name with {host}, {rank} and {pid}, as nsys and ncu write it.

    Raises:
        ValueError: there is another word in braces, or one in the folder's name, which the tools do
            not make. Those of %q{VARIABLE} are the tool's.
    """
    variable = rank_variable(program)
    for field in re.findall(r"(?<!%q)\{\w*\}", name):
        if field not in ("{host}", "{rank}", "{pid}"):
            raise ValueError(f"output may have {{host}}, {{rank}} and {{pid}} in it, not {field}")
    if "{" in re.sub(r"%q\{\w*\}", "", folder := os.path.dirname(name)):
        raise ValueError(
            f"output may have {{host}}, {{rank}} and {{pid}} in the file's name, not in its "
            f"directory {folder!r}"
        )
    for field, sign in (("{host}", "%h"), ("{pid}", "%p"), ("{rank}", f"%q{{{variable}}}")):
        name = name.replace(field, sign)
    return name


def lacks_rank(name: str, program: Sequence[str]) -> bool:
    """Whether a name, as the tools write it, has the rank of a program that has none."""
    return "%q{RANK}" in name and "RANK" not in os.environ and not is_launched(program)


def _torchrun(launcher: list[str], words: list[str], tool: Iterable[str]) -> list[str]:
    """torchrun runs python; with --no-python it runs what it is given."""
    options: list[str] = []
    is_module = has_python = False
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word in ("-m", "--module"):
            is_module = True
        elif word in ("--no-python", "--no_python"):
            has_python = True
        else:
            options.append(word)
            if word not in _TORCHRUN_FLAGS and "=" not in word and at < len(words):
                options.append(words[at])
                at += 1
    program = words[at:]
    if not has_python:
        program = [sys.executable, "-u", *(["-m"] if is_module else []), *program]
    return [*launcher, *options, "--no-python", *tool, *program]


def _after_options(words: list[str], values: Callable[[str], int]) -> int:
    """Where the program begins; `values` says how many words follow an option."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        at += values(word)
    return at


def _srun_values(option: str) -> int:
    if option.startswith("--"):
        return "=" not in option and option not in _SRUN_FLAGS
    return len(option) == 2 and option[1] in _SRUN_LETTERS


def _mpi_values(option: str) -> int:
    return (option in _MPI_VALUES) + (option in _MPI_PAIRS)
