# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The table of .ci/dev.py, which tests belong to an edited path, names what is there."""

from __future__ import annotations

import importlib.util

import pytest

from helpers.tree import ROOT

SCRIPT = ROOT / ".ci" / "dev.py"
if not SCRIPT.exists():
    pytest.skip("a source distribution has no .ci", allow_module_level=True)


@pytest.fixture(scope="module")
def dev():
    spec = importlib.util.spec_from_file_location("dev", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_line_names_sources_and_tests_that_exist(dev):
    starts = {start: [*ROOT.glob(f"{start}*")] for start in dev.TESTS}
    assert [start for start, found in starts.items() if not found] == []
    patterns = {pattern: [*ROOT.glob(pattern)] for tests in dev.TESTS.values() for pattern in tests}
    assert [pattern for pattern, found in patterns.items() if not found] == []


def test_an_edit_is_tested_by_its_own_tests(dev):
    assert dev.tests_of(["tests/api/test_surface.py"]) == [
        "tests/api/test_surface.py",
        "tests/layout",
    ]
    assert dev.tests_of(["src/cuda/driver/driver.cpp"]) == ["tests/device", "tests/layout"]
    assert dev.tests_of(["CHANGELOG.md"]) == ["tests/layout"]
