# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun under `nvspan nsys`: a report for each rank that it starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers import ranks
from helpers.traced import needs_library

pytest.importorskip("torch", reason="torch is not installed")
pytestmark = needs_library


def test_each_rank_has_a_report(tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone",
                "--nproc-per-node", "2"]  # fmt: skip
    ranks.check(ranks.report_of_each(tmp_path, launcher, 2))
