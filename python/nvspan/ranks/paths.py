# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which files are meant: paths, patterns, folders and URLs of fsspec; and a local file of each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_SUFFIX = ".nvspan"
_PIECE = 16 << 20  # bytes of a remote file that are held at once
_MAGIC = frozenset("*?[")
# Of fsspec's file systems that need one of their own.
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs",
             "az": "adlfs", "http": "aiohttp", "https": "aiohttp"}  # fmt: skip


def is_url(path: str) -> bool:
    """Whether fsspec is asked for the file: ``s3://...``, ``memory://...``."""
    return "://" in path


def is_pattern(path: str) -> bool:
    """Whether the path stands for those that are like it, and is none itself.

    Of a URL * alone: ? begins its query.
    """
    if is_url(path):
        return "*" in path
    return not _MAGIC.isdisjoint(path) and not os.path.exists(path)


def is_folder(path: str) -> bool:
    """Whether it is a local folder that holds recordings."""
    return os.path.isdir(path) and any(name.endswith(_SUFFIX) for name in os.listdir(path))


def expand(given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files that are meant, each once, sorted: the ``.nvspan`` files of a folder, what a
    pattern is like, and every other path as it is, whether it exists or not.

    Raises:
        ValueError: a pattern or folder stands for no file, or nothing is given.
        ModuleNotFoundError: a URL is given and fsspec is not installed, or what it needs for it.
    """
    paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    found: set[str] = set()
    for each in paths:
        path = os.fspath(each)
        if is_pattern(path):
            like = _remote_like(path) if is_url(path) else glob.glob(path, recursive=True)
        elif is_folder(path):
            like = glob.glob(os.path.join(glob.escape(path), f"*{_SUFFIX}"))
        else:
            like = [path]
        if not like:
            raise ValueError(f"no file is like {path!r}")
        found.update(like)
    if not found:
        raise ValueError("read_many() needs the path of a recording")
    return sorted(found)


def _fsspec() -> Any:
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "URLs need fsspec: pip install 'nvspan[remote]'", name=error.name
        ) from None
    return fsspec


def _lacks(url: str, error: ImportError) -> ModuleNotFoundError:
    """What to install for a file system of fsspec's that has a package of its own."""
    scheme = url.partition("://")[0]
    package = _PACKAGES.get(scheme)
    if package is None:
        return ModuleNotFoundError(f"{scheme}:// needs more than fsspec: {error}", name=error.name)
    return ModuleNotFoundError(
        f"{scheme}:// needs {package}: pip install 'nvspan[remote]' {package}", name=package
    )


def _remote_like(pattern: str) -> list[str]:
    fsspec = _fsspec()
    try:
        system, path = fsspec.core.url_to_fs(pattern)
    except ImportError as error:
        raise _lacks(pattern, error) from None
    return [system.unstrip_protocol(name) for name in system.glob(path)]


@contextmanager
def local(path: str) -> Iterator[str]:
    """The path of a local file with what is at `path`; a remote one is copied piece by piece.

    Raises:
        OSError: it cannot be read.
        ModuleNotFoundError: fsspec is not installed, or what it needs for these files.
    """
    if not is_url(path):
        yield path
        return
    import tempfile  # for remote files alone

    fsspec = _fsspec()
    try:
        source: Any = fsspec.open(path, "rb").open()
    except OSError:
        raise
    except ImportError as error:
        raise _lacks(path, error) from None
    except Exception as error:  # each file system has errors of its own
        raise OSError(0, str(error) or type(error).__name__, path) from error
    with source, tempfile.NamedTemporaryFile(suffix=_SUFFIX) as copy:
        while piece := source.read(_PIECE):
            copy.write(piece)
        copy.flush()
        yield copy.name
