# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where recordings lie that are watched, and a watcher of them."""

from __future__ import annotations

import json
import os
import re
import stat

from nvspan import _reader
from nvspan.blackbox.syntax import Triggers, chosen
from nvspan.launch import CONFIG_VARIABLE
from nvspan.recorder import RECORD_VARIABLE

_FLAG = "nvspan.trigger"  # flag_name in src/reader/watch/bundle.cpp, with the same rules


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


def newest_bundle(folder: str) -> tuple[str, int]:
    """The newest bundle in a folder by its flag file, and when it was opened, in ns since 1970.

    ("", 0) where there is none, and where others than this user may write the flag file.
    """
    try:
        flag = os.open(os.path.join(folder, _FLAG), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "", 0
    with open(flag, "rb") as file:
        status = os.fstat(flag)
        if (
            not stat.S_ISREG(status.st_mode)
            or status.st_uid != os.geteuid()
            or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        ):
            return "", 0
        found = re.match(rb"(nvspan-trigger-[^ /]+) (\d+) ", file.read(256))
    if found is None:
        return "", 0
    return os.path.join(folder, os.fsdecode(found[1])), int(found[2])
