# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Output files: name a recording after its program, claim the name, remove the run that has it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from glob import escape, glob

from nvspan import recorder
from nvspan.ranks import beside

_OVERWRITE = "add --force to overwrite it, or -o NAME"
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def program_name(program: Sequence[str]) -> str | None:
    """The name of a program for its files, from its words on the command line; None: it has none.

    >>> program_name(["run/train.py", "--fast"]), program_name(["-m", "app.main"])
    ('train', 'app.main')
    >>> program_name(["--", "torchrun", "train.py"]), program_name(["-c", "pass"])
    ('train', None)
    """
    words = list(program)
    is_command = words[:1] == ["--"]
    words = words[is_command:]
    if not words or words[0] == "-" or words[0].startswith("-c"):
        return None
    target = words[0]
    if target.startswith("-m"):
        return target[2:] or (words[1] if len(words) > 1 else None)
    if is_command:
        target = next((word for word in words if word.endswith(".py")), target)
    name = os.path.basename(os.path.abspath(target)).removesuffix(".py")
    return name.translate({ord("{"): "_", ord("}"): "_"}) or None


def default_output(program: Sequence[str], *, force: bool) -> str:
    """The name for a recording of `program` in the current directory, as a template.

    The program itself gets its name, or with "-1", "-2", ... after it where that is taken; its
    child processes have their ids in it. With `force` the run that has the name is removed.

    Raises:
        OutputExistsError: as `claim_output` with `force`.
    """
    name = program_name(program)
    if name is None:
        return "nvspan-{pid}.nvspan"
    if any(variable in os.environ for variable in _RANKS):
        return f"{name}-{{pid}}.nvspan"
    if force:
        claim_output(f"{name}.nvspan", force=True)
    return f"{name}{{child={os.getpid()}}}.nvspan"


class OutputExistsError(Exception):
    """Why a recording cannot be written: a sentence."""


def claim_output(template: str, *, force: bool) -> None:
    """Makes sure that `template`, the name of a recording, will name files of one run alone.

    With `force` the recordings of the run that has the name are removed, those of all its
    processes. Names with a process's number, and those that ranks share, are always free.

    Raises:
        OutputExistsError: the directory cannot be made, or there is something of that name.
    """
    folder = os.path.dirname(template)
    if folder and "{" not in folder:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise OutputExistsError(f"cannot write {template!r}: {error.strerror}") from None
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), None)
    if "{pid}" in template or (rank is not None and "{rank}" not in template):
        return
    host = re.escape(os.uname().nodename)
    texts = {"{host}": host, "{rank}": r"\d+" if rank is None else re.escape(rank)}
    parts = re.split(r"(\{host\}|\{rank\})", template)
    like = re.compile("".join(texts[part] if part in texts else re.escape(part) for part in parts))
    for path in sorted(glob("".join("*" if part in texts else escape(part) for part in parts))):
        if not like.fullmatch(path):
            continue
        if not force and os.path.isfile(path) and recorder.run_of(path) is None:
            raise OutputExistsError(f"{path} exists and is not a recording; add -o NAME")
        if not force:
            raise OutputExistsError(f"{path} already exists; {_OVERWRITE}")
        _remove_run(path, template)


def _remove_run(path: str, template: str) -> None:
    try:
        run = recorder.run_of(path)
        if run is None and not os.path.lexists(path):
            return  # gone with another file of its run
        if run is None:
            raise OutputExistsError(f"{path} is not a recording; --force overwrites only those")
        of_run = recorder.recording_files(template, run) if run else []
        for file in {os.path.abspath(path), *of_run}:
            os.unlink(file)
            beside.remove(file)
    except FileNotFoundError:
        return  # gone with another file of its run
    except OSError as error:
        raise OutputExistsError(f"cannot write over {path!r}: {error.strerror}") from None
