# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Write events of other sources into a recording, or into a tool's own format.

For events that already have times: of a simulator, a log, a device with its own trace buffer. A
:class:`Session` takes them in :class:`Stream` s, one by one or in arrays, and writes a recording
that every command of nvspan reads. With a backend, a library with NVTX's writer interface (NVTXW),
the same calls write a tool's report instead.

>>> from nvspan.writer import Session
>>> with Session("simulation", output="simulation.nvspan") as session:       # doctest: +SKIP
...     with session.create_stream("core 0", domain="sim") as stream:
...         stream.write_pushpop(1_000, 2_500, message="decode")
...         stream.write_ranges(starts, ends, message="execute")   # NumPy columns
"""

from __future__ import annotations

from nvspan._runtime.enums import PredefinedScope
from nvspan.writer.backend import Backend, load_backend
from nvspan.writer.domain import Counter, Domain, RegisteredString, Schema, Scope
from nvspan.writer.options import StreamInterleaving, StreamOrdering, StreamSkid, WriterError
from nvspan.writer.session import Session
from nvspan.writer.stream import Stream

__all__ = [
    "Backend",
    "Counter",
    "Domain",
    "PredefinedScope",
    "RegisteredString",
    "Schema",
    "Scope",
    "Session",
    "Stream",
    "StreamInterleaving",
    "StreamOrdering",
    "StreamSkid",
    "WriterError",
    "load_backend",
]
