# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of tests, imported by each worker of a run from another one on.

pytest rewrites the assertions of a module that it imports and keeps the result. In a new checkout
all workers would rewrite the same modules at the same time, 4 s of each.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path

import pytest


def import_tests(config: pytest.Config) -> None:
    """Imports what a worker is about to collect; an error is left to the collection."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    root = config.rootpath
    folders = [Path(config.invocation_params.dir, argument) for argument in config.args]
    left_out = [root / name for name in config.getini("norecursedirs")]
    found = {
        file for folder in folders for file in folder.rglob("test_*.py")
        if not any(file.is_relative_to(away) and not folder.is_relative_to(away)
                   for away in left_out)
    }  # fmt: skip
    files = sorted(file for file in found if file.is_relative_to(root))
    first = int(worker["workerid"].removeprefix("gw")) * len(files) // worker["workercount"]
    sys.path.append(str(root))
    for file in files[first:] + files[:first]:
        name = ".".join(file.relative_to(root).with_suffix("").parts)
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)
    sys.path.remove(str(root))
