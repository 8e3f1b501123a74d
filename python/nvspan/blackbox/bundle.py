# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles: the folder that they are in, the watcher that writes them, and what Python adds."""

from __future__ import annotations

import json
import os

from nvspan import _reader
from nvspan.blackbox.syntax import Triggers, chosen
from nvspan.launch import CONFIG_VARIABLE
from nvspan.recorder import RECORD_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def folder_of(template: str) -> str:
    """The folder of a recording's file name.

    Raises:
        ValueError: it is another one for each process.
    """
    folder = os.path.dirname(os.path.abspath(template))
    if "{" in folder:
        raise ValueError(
            f"the recordings must be in one directory, and {folder!r} is another for each process"
        )
    return folder


def folder_of_environment() -> str:
    """The folder into which the environment says that this process records.

    Raises:
        ValueError: nothing is recorded, or each process has a folder of its own.
    """
    config = os.environ.get(CONFIG_VARIABLE, "")
    if config:
        from urllib.parse import unquote

        parts = dict(part.partition("=")[::2] for part in config.split(";"))
        if parts.get("format") == "record":
            return folder_of(unquote(parts.get("file", "")) or "x")
        raise ValueError(f"{CONFIG_VARIABLE} asks for a trace, and triggers need a recording")
    record = os.environ.get(RECORD_VARIABLE, "")
    if not record:
        raise ValueError(f"nothing is recorded; set {RECORD_VARIABLE}=ring, for example")
    mode, _, file = record.partition(":")
    named = mode in ("armed", "ring") or mode.startswith("ring=")
    return folder_of((file or "x") if named else record)


def make_watcher(
    folder: str, triggers: Triggers, *, pid: int = 0, run: int = 0, says: bool = False
) -> _reader.Watcher:
    """A watcher that has not been started; of one process, or, with 0, of all in the folder.

    Its problems are lines on standard error if it `says` them, and wait for `follow` if not."""
    variables = chosen(triggers, os.environ)
    about = {"host": os.uname().nodename, "pid": os.getpid(), "environment": variables}
    return _reader.Watcher(
        os.fsencode(folder),
        run,
        pid,
        triggers.rules,
        triggers.signals,
        triggers.last,
        triggers.every,
        triggers.keep,
        os.fsencode(f"{json.dumps(about)}\n" if variables else ""),
        says,
    )


def follow(
    watcher: _reader.Watcher, say: Callable[[str], object], has_ended: Callable[[], bool]
) -> Iterator[str]:
    """Each bundle that a watcher writes, until it has ended. It waits without the GIL."""
    while True:
        bundle = os.fsdecode(watcher.next_bundle(3600.0))
        problems = watcher.problems()
        for problem in problems:
            say(problem.decode("utf-8", "backslashreplace"))
        if bundle:
            yield bundle
        elif not problems and has_ended():
            return


def add_where(bundle: str) -> str:
    """Writes the output of `nvspan where` into a bundle, unless another process has.

    It reads files of other programs: never in a program that is recorded. Returns what went wrong,
    or nothing; the recordings in the bundle have the same.
    """
    from nvspan.live import where

    folder = os.path.dirname(bundle)
    try:
        names = sorted(name for name in os.listdir(bundle) if name.endswith(".nvspan"))
        found = where([os.path.join(folder, name) for name in names])
        for name, text in (
            ("where.txt", f"{found}\n"),
            ("where.json", json.dumps(found.as_dict(), indent=1)),
        ):
            path = os.path.join(bundle, name)
            create = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(create, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
    except FileExistsError:
        pass
    except (OSError, ValueError) as error:
        return f"{bundle}: no where.txt: {error}"
    return ""
