# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One file of many: read in a worker, with what is wrong with it in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nvspan.ranks import paths
from nvspan.recording import Recording, read


@contextmanager
def opened(path: str) -> Iterator[tuple[Recording, list[str]]]:
    """The recording at a path, or of fsspec, and sentences about what is damaged in it.

    Raises:
        ValueError: it is no recording.
        OSError: it cannot be read.
    """
    with paths.local(path) as name:
        try:
            recording = read(name)
        except ValueError as error:  # which names the file
            raise ValueError(str(error).replace(name, path)) from None
        # The file's own name is in the sentence; a copy's tells nobody anything.
        problems = [line.replace(name, path).removeprefix(f"{path}: ")
                    for line in recording.problems]  # fmt: skip
        yield recording, problems
        del recording


def reason(error: Exception, path: str) -> str:
    """Why a file cannot be read, without its path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error) or type(error).__name__).removeprefix(f"{path}: ")
