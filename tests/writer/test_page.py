# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What docs/external.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nvspan

PAGE = Path(__file__).parents[2] / "docs" / "external.md"


def test_the_first_example(tmp_path, monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    exec(compile(blocks[0], str(PAGE), "exec"), {})
    recording = nvspan.read("simulation.nvspan")
    calls = {row["name"]: row["calls"] for row in recording.stats().rows}
    assert calls == {"decode": 1, "execute": 1_000_000}
    assert recording.marks.text("name") == ["cache miss"]
