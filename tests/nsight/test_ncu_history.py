# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of runs of ncu, and the estimate of the next one."""

from __future__ import annotations

import pytest

from helpers.tree import ROOT
from nvspan.nsight.compute import cache, history

SAID = ROOT / "tests" / "data" / "nsight" / "said"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NVSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("name", "passes"), [("missing_metrics", 38), ("app_range", 8), ("typo", None)]
)
def test_passes(name, passes):
    assert history.passes_of((SAID / f"{name}.txt").read_text().splitlines()) == passes


def test_an_estimate_of_what_has_run_before():
    assert history.estimate("standard kernel", "train.py", 6) is None
    assert history.told("standard kernel") == ""
    history.remember("standard kernel", "train.py", seconds=60.0, results=24, passes=20)
    assert history.told("standard kernel") == "last run 60 s for 24 results, 20 passes"
    assert history.estimate("standard kernel", "train.py", 6) == (
        "20 passes of 24 launches take about 60 s, if it launches what it did the last time"
    )
    history.remember("standard kernel", "other.py", seconds=8.0, results=4, passes=20)
    assert history.estimate("standard kernel", "train.py", 6) == (
        "20 passes of 24 launches take about 48 s, if it launches what it did the last time"
    )
    assert history.estimate("standard kernel", "new.py", 6) == (
        "20 passes of each launch in 6 calls took 2 s a launch in the last run"
    )
    assert history.estimate("quick kernel", "train.py", 6) is None


def test_a_few_hundred_runs_are_kept():
    for number in range(250):
        history.remember("quick", f"{number}.py", seconds=1.0, results=1, passes=1)
    told = cache.load(history._path())
    assert len(told["programs"]) == 200
    assert history.last("quick") == {"seconds": 1.0, "results": 1, "passes": 1}


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"measured": 3}'])
def test_a_file_that_says_nothing(content, folder):
    folder.mkdir()
    (folder / "ncu-runs.json").write_text(content)
    assert history.last("quick") is None
    history.remember("quick", "a.py", seconds=1.0, results=1, passes=1)
    assert history.last("quick") is not None


def test_a_cache_that_cannot_be_written(folder, monkeypatch):
    (folder.parent / "file").write_text("")
    monkeypatch.setenv("NVSPAN_CACHE", str(folder.parent / "file" / "below"))
    history.remember("quick", "a.py", seconds=1.0, results=1, passes=1)
    assert history.last("quick") is None
