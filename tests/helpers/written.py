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
        for start, end, name in forward:
            writer.ranges(thread, domain, array("q", [start]), array("q", [end]),
                          name=writer.strings([name]))  # fmt: skip
        for start, end, name in backward:
            writer.ranges(thread, domain, array("q", [start]), array("q", [end]), kind="start_end",
                          name=writer.strings([name]), category=5)  # fmt: skip
        for start, end, name in device:
            writer.device_ranges(process, domain, array("q", [start]), array("q", [end]), device=0,
                                 stream=7, name=writer.strings([name]))  # fmt: skip
    return nvspan.read(path)
