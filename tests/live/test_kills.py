# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A process that is killed at any instruction, or never rests, shows no stack that never was."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.live import running
from helpers.traced import needs_library

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "nested.cpp"
KILLS = int(os.environ.get("NVSPAN_TEST_KILLS", "30"))


def check(threads) -> int:
    """Names say which range they lie in: (level, number of the one around it, own number)."""
    shown = 0
    for thread in threads:
        outer = 0
        for level, (domain, name) in enumerate(thread.ranges):
            assert domain == ("even", "odd")[level % 2], thread.ranges
            found, around, own = map(int, name.split(":"))
            assert (found, around) == (level, outer), thread.ranges
            outer = own
            shown += 1
        assert thread.changing or thread.depth == len(thread.ranges), thread.ranges
        assert thread.depth <= 6
    return shown


@pytest.mark.parametrize("seed", range(KILLS))
def test_the_last_state_of_a_killed_process_is_whole(tmp_path, seed):
    chance = random.Random(seed)
    mode = ("armed", "full", "ring=1", "stats")[seed % 4]
    with running(tmp_path, [str(build(PROGRAM))], mode, until=seed % 3 != 0) as run:
        time.sleep(chance.uniform(0, 0.02))
        run.end()
        if run.file.exists() and run.file.stat().st_size:
            look = nvspan.where(run.file, samples=1)
            for process in look.processes:
                assert process.state == "killed"
                check(process.threads)


@pytest.mark.parametrize("mode", ["armed", "full", "stats"])
def test_a_process_that_never_rests_is_seen_whole(tmp_path, mode):
    with running(tmp_path, [str(build(PROGRAM))], mode) as run:
        shown = 0
        for _ in range(200):
            for process in nvspan.where(run.file, samples=1).processes:
                shown += check(process.threads)
        assert shown > 100
