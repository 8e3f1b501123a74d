# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Finds nsys and ncu, and the reports that a run wrote."""

from __future__ import annotations

import glob
import os
import re
import shutil

from nvspan._doctor.tools import captured, paths_of

COMPUTE_SUFFIX = ".ncu-rep"  # of Nsight Compute's reports


def find_tool(command: str, named: str | None = None) -> str | None:
    """The program nsys or ncu: `named`, or the first on PATH or where its installer puts it. The
    variable NVSPAN_NCU names an ncu before these."""
    if named is None and command == "ncu":
        named = os.environ.get("NVSPAN_NCU") or None
    if named is not None:
        return shutil.which(named)
    found = paths_of(command)
    return found[0] if found else None


def sets_of(ncu: str) -> list[str]:
    """The names of the sets of sections that an ncu has; none where it does not list them."""
    listed = captured(ncu, "--list-sets").stdout
    return re.findall(r"^([a-z]\w*) ", listed, re.MULTILINE)


class Reports:
    """Finds the reports that a run writes; their name may have fields such as %p."""

    def __init__(self, name: str, suffix: str) -> None:
        base = name.removesuffix(suffix)
        any_text = re.sub(r"%q\{[^}]*\}|%[hpni]", "\0", base)
        # A report for each captured range has its number after the name.
        self._pattern = glob.escape(any_text).replace("\0", "*") + "*" + suffix
        self._before = self._states()

    def _states(self) -> dict[str, tuple[int, int]]:
        found = {}
        for path in glob.glob(self._pattern):
            status = os.stat(path)
            found[path] = (status.st_mtime_ns, status.st_ino)
        return found

    def written_reports(self) -> list[str]:
        """The reports that are new or changed since this object was created."""
        states = self._states()
        return sorted(path for path in states if states[path] != self._before.get(path))
