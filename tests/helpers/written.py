# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of ranges with given times: a thread of torch's, and a GPU."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from pathlib import Path

import nvspan
from nvspan import _reader

Call = tuple[int, int, str]  # start, end, name


def put(writer: _reader.ExternalWriter, thread: int, domain: int, calls: Sequence[Call], **fields):
    """Nested ranges of a thread, each a call; `fields` as for ``ExternalWriter.ranges``."""
    for start, end, name in calls:
        writer.ranges(
            thread,
            domain,
            array("q", [start]),
            array("q", [end]),
            name=writer.strings([name]),
            **fields,
        )


def written(
    path: Path,
    forward: Sequence[Call],
    backward: Sequence[Call] = (),
    device: Sequence[Call] = (),
    domain_name: str = "torch",
) -> nvspan.Recording:
    """Nested ranges, ranges of the backward pass, and device ranges whose launch is not known."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread = writer.thread(process, 1)
        domain = writer.domain(process, domain_name)
        writer.category(domain, 5, "backward")
        put(writer, thread, domain, forward)
        put(writer, thread, domain, backward, kind="start_end", category=5)
        for start, end, name in device:
            writer.device_ranges(process, domain, array("q", [start]), array("q", [end]), device=0,
                                 stream=7, name=writer.strings([name]))  # fmt: skip
    return nvspan.read(path)
