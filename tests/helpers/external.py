# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of events that no callback brought."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import nvspan
from nvspan._reader import ExternalWriter

NOT_ENDED = -(2**63)


class File:
    """A recording with one process, thread and domain."""

    def __init__(self, path: Path, memory: int = 256_000_000) -> None:
        self.path = path
        self.writer = ExternalWriter(os.fsencode(path), memory)
        self.process = self.writer.process(7, host="box", command=["train", "--fast"])
        self.thread = self.writer.thread(self.process, 70, "main")
        self.domain = self.writer.domain(self.process, "app")

    def names(self, *texts: str | None) -> np.ndarray:
        return np.asarray(self.writer.strings(texts))

    def ranges(self, start, end, **fields) -> None:
        self.writer.ranges(self.thread, self.domain, start, end, **fields)

    def read(self) -> nvspan.Recording:
        self.writer.close()
        recording = nvspan.read(self.path)
        assert recording.problems == []
        return recording
