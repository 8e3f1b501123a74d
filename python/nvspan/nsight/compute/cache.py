# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept from one run to the next: dry recordings, and how long runs of ncu took."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_MOST_FOLDERS = 20
_MOST_FILES = 4000
_LEFT_OUT = {"__pycache__", "node_modules", "site-packages", "build"}


def cache_folder() -> str:
    """NVSPAN_CACHE, or nvspan/ in the user's folder for caches."""
    named = os.environ.get("NVSPAN_CACHE")
    if named:
        return os.path.abspath(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "nvspan")


def _python_files(folder: str) -> Iterator[str]:
    """The Python files below a folder, the first few thousand."""
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            f for f in folders
            if f[0] != "." and f not in _LEFT_OUT
            and not os.path.exists(os.path.join(root, f, "pyvenv.cfg"))
        )  # fmt: skip
        for name in sorted(files):
            if name.endswith((".py", ".so")):
                yield os.path.join(root, name)
                count += 1
                if count >= _MOST_FILES:
                    return


def key_of(command: Sequence[str], more: Sequence[object] = ()) -> str:
    """Names a command line, the folder that it runs in, and the times of the files that it may
    read: those that it names, and the Python files around them and in the folder."""
    files = [os.path.realpath(word) for word in command[1:] if os.path.isfile(word)]
    seen = set(files)
    for folder in dict.fromkeys([os.getcwd(), *map(os.path.dirname, files)]):
        seen.update(_python_files(folder))
    times = []
    for path in sorted(seen):
        try:
            status = os.stat(path)
        except OSError:
            continue
        times.append((path, status.st_mtime_ns, status.st_size))
    told = json.dumps([list(command), os.getcwd(), times, [str(part) for part in more]])
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def new_folder(*parts: str) -> str:
    """An empty folder in the cache; the oldest ones beside it go.

    Raises:
        OSError: it cannot be made.
    """
    folder = os.path.join(cache_folder(), *parts)
    shutil.rmtree(folder, ignore_errors=True)
    around = os.path.dirname(folder)
    os.makedirs(around, mode=0o700, exist_ok=True)
    others = sorted((e for e in os.scandir(around) if e.is_dir()), key=_age, reverse=True)
    for entry in others[_MOST_FOLDERS - 1 :]:
        shutil.rmtree(entry.path, ignore_errors=True)
    os.makedirs(folder, mode=0o700)
    return folder


def _age(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def load(path: str) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save(path: str, content: dict[str, Any]) -> None:
    """Writes the file in one move; a cache that cannot be written is none."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=os.path.dirname(path), delete=False
        ) as file:
            json.dump(content, file)
        os.replace(file.name, path)
    except OSError:
        pass


def existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.isfile(path)]
