# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Export to Perfetto's trace format."""

from __future__ import annotations

import os
from collections.abc import Callable

from nvspan import _reader
from nvspan.recording import Recording
from nvspan.recording.source import is_library


def write(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> int:
    """Streams a trace of TrackEvent packets into a file, and returns its size in bytes.

    A thread has a lane for each NVTX domain, and one for its samples: the functions of its stack,
    and below the innermost one the line, without those of the standard library. Start/end ranges,
    which may overlap, are in lanes of their process; counters are tracks.

    Raises:
        OSError: the file cannot be written.
    """
    handle = recording._reader.handle()
    hidden = [number for number, file in _reader.sampled_files(handle) if is_library(file)]
    return _reader.write_perfetto(handle, os.fsencode(path), progress, hidden)
