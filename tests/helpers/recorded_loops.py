# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings of tests/data/loops, by their names there."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

from helpers.tree import ROOT

LOOPS = ROOT / "tests" / "data" / "loops"


def unpack(name: str, path: str | Path) -> Path:
    """Writes the recording to the path, over what is there."""
    Path(path).write_bytes(lzma.decompress((LOOPS / f"{name}.nvspan.xz").read_bytes()))
    return Path(path)


def unpack_ranks(folder: Path, name: str = "ranks") -> list[Path]:
    """The recordings of eight ranks, in their order; those of "job" have collectives."""
    with tarfile.open(LOOPS / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.glob(f"{name}-?.nvspan"))
