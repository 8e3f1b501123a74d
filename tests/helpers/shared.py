# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What one worker of a test run makes and all of them use."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

VARIABLE = "NVSPAN_TESTS_SHARED"
Result = TypeVar("Result")


def begin(config: pytest.Config) -> None:
    """Makes the folder that the workers share, in the process that starts them."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="nvspan-tests-")
        os.environ[VARIABLE] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name`, which `make` fills in the first worker that asks."""
    import fcntl  # not on Windows, where no test asks for it

    folder = Path(os.environ[VARIABLE], name)
    with open(folder.with_name(f"{name}.lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
            make(unfinished)
            unfinished.rename(folder)
    return folder


def result(name: str, make: Callable[[], Result]) -> Result:
    """What `make` returns in the first worker that asks."""
    folder = once(name, lambda folder: (folder / "result").write_bytes(pickle.dumps(make())))
    return pickle.loads((folder / "result").read_bytes())
