# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where recordings lie that are watched, and a watcher of them."""

from __future__ import annotations

import json
import os

from nvspan import _reader
from nvspan.blackbox.syntax import Triggers, chosen
from nvspan.launch import CONFIG_VARIABLE
from nvspan.recorder import RECORD_VARIABLE


def folder_of(template: str) -> str:
    """The folder of a recording's file name.

    Raises:
        ValueError: it is another one for each process.
    """
    folder = os.path.dirname(os.path.abspath(template))
    if "{" in folder:
        raise ValueError(
            f"the recordings must lie in one folder, and {folder!r} is another for each process"
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


def make_watcher(folder: str, triggers: Triggers, pid: int = 0, run: int = 0) -> _reader.Watcher:
    """A watcher that has not been started; of one process, or, with 0, of all in the folder."""
    variables = chosen(triggers, os.environ)
    about = ""
    if variables:
        about = json.dumps({"host": os.uname().nodename, "pid": os.getpid(),
                            "environment": variables}) + "\n"  # fmt: skip
    return _reader.Watcher(
        os.fsencode(folder), run, pid, triggers.rules, triggers.signals, triggers.last,
        triggers.every, triggers.keep, os.fsencode(about),
    )  # fmt: skip
