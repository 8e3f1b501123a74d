# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles of the black box, as tests find them."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.live import wait_until


def reasons(bundle: Path | str) -> list[dict[str, str]]:
    """Why a bundle was written, the first reason first; none while it is being written."""
    try:
        return [json.loads(line) for line in (Path(bundle) / "why.jsonl").read_text().splitlines()]
    except (OSError, ValueError):
        return []


def bundles(folder: Path) -> list[Path]:
    """The bundles in a folder of recordings, the oldest first."""
    found = [path for path in folder.glob("nvspan-trigger-*") if path.is_dir()]
    return sorted(found, key=lambda path: path.stat().st_ctime_ns)


def bundle_of(folder: Path, kind: str) -> Path:
    """The first bundle that was written for this kind of reason."""
    found: list[Path] = []

    def is_there() -> bool:
        found[:] = [
            path for path in bundles(folder) if any(why["kind"] == kind for why in reasons(path))
        ]
        return bool(found)

    wait_until(is_there, f"no bundle for {kind}: {[reasons(b) for b in bundles(folder)]}")
    return found[0]


def why(bundle: Path, kind: str) -> str:
    """The sentence of the first reason of this kind."""
    return next(each["why"] for each in reasons(bundle) if each["kind"] == kind)
