# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording as a trace in Chrome's format, which most viewers of timelines read."""

from __future__ import annotations

import os
from collections.abc import Callable

from nvspan import _reader
from nvspan.recording import Recording


def write(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> int:
    """Writes a list of trace events as JSON, as it goes along, and returns its size in bytes.

    Push ranges nest in their thread, those of all domains together; one that ends within another
    is an asynchronous event, as start/end ranges are. Device ranges are threads behind those of the
    CPU, with arrows. The format knows some thirty colors: a range has the nearest, and its own in
    its arguments.

    Raises:
        OSError: it cannot be written.
    """
    return _reader.write_chrome(recording._reader.handle(), os.fsencode(path), progress)
