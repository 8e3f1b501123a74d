# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun and mpirun start: programs of these names that start real processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers import ranks
from helpers.traced import needs_library

pytestmark = needs_library


@pytest.mark.parametrize("name", ranks.LAUNCHERS)
def test_each_rank_has_a_report(name: str, tmp_path: Path) -> None:
    ranks.make_launcher(tmp_path, name)
    ranks.check(ranks.report_of_each(tmp_path, [name, "-n", "2", sys.executable], 2))
