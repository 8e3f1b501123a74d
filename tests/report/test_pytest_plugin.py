# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, in sessions of their own; and the ranges of a program that still runs."""

from __future__ import annotations

import pytest

import nvspan
from helpers.traced import needs_library, python
from nvspan.testing import LiveRecording

pytestmark = needs_library

TESTS = """
import threading, time
import pytest
import nvspan

def train(steps):
    for _ in range(steps):
        with nvspan.annotate("fwd", domain="train"):
            time.sleep(0.001)

def test_calls(recording):
    assert recording.range("fwd").calls == 0
    train(3)
    assert recording.range("fwd").calls == 3
    assert recording.range("fwd", domain="train").min_ms >= 1
    assert recording.range("fwd", domain="other").calls == 0

def test_of_its_own(recording):
    train(1)
    thread = threading.Thread(target=train, args=(1,))
    thread.start(); thread.join()
    assert recording.range("fwd").calls == 2
    assert recording.ranges == ["fwd"]

@pytest.mark.nvspan("fwd", calls=2, max_ms=500)
def test_budget_kept():
    train(2)

@pytest.mark.nvspan("fwd", calls=1, max_ms=0.5)
def test_budget_exceeded():
    train(2)

@pytest.mark.nvspan("fwd", calls=9)
def test_that_fails_by_itself():
    assert False, "its own failure"
"""
# An editable install of nvspan itself is imported before pytest could rewrite it.
EDITABLE = (
    "ignore:Module already imported so cannot be rewritten; _editable:"
    "pytest.PytestAssertRewriteWarning"
)
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


def run_pytest(folder, *arguments):
    (folder / "test_it.py").write_text(TESTS)
    strict = ("-W", "error", "-W", EDITABLE, "--rootdir", folder)
    return python(*PYTEST, *strict, *arguments, "test_it.py", cwd=folder)


@pytest.mark.parametrize("whole", [False, True], ids=["each", "session"])
def test_the_fixture_and_the_budgets(tmp_path, whole):
    done = run_pytest(tmp_path, *(["--nvspan"] if whole else []))
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: range 'fwd': 2 calls, not 1; max_ms is " in done.stdout
    assert "its own failure" in done.stdout
    assert ("= nvspan =" in done.stdout) == whole


def test_a_session_is_shown_and_kept(tmp_path):
    done = run_pytest(tmp_path, "--nvspan", "--nvspan-output", "kept.nvspan", "--nvspan-top", "2")
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "= nvspan =" in line)
    assert lines[at + 1].split()[-1] == "name"
    assert "more" in done.stdout
    assert lines[-1].startswith("2 failed, 3 passed")
    rows = {(r.domain, r.name): r for r in nvspan.read(tmp_path / "kept.nvspan").stats().rows}
    assert rows["train", "fwd"].calls == 9
    tests = {name for domain, name in rows if domain == "pytest"}
    assert tests == {f"test_it.py::{name}" for name in (
        "test_calls", "test_of_its_own", "test_budget_kept", "test_budget_exceeded",
        "test_that_fails_by_itself",
    )}  # fmt: skip


def test_the_plugin_costs_nothing_that_is_not_asked_for(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n    assert 'nvspan.recording' in sys.modules\n"
        "    assert not [m for m in sys.modules if m.startswith(('nvspan.report', 'nvspan.cli'))]\n"
        "    import nvspan\n    assert not nvspan.is_active()\n"
    )
    done = python(*PYTEST, "test_it.py", cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_a_program_asks_while_it_runs():
    with LiveRecording() as recording:
        with nvspan.annotate("outer"), nvspan.annotate("inner"):
            pass
        assert recording.range("inner").calls == 1
        with nvspan.annotate("inner"):
            assert (recording.range("inner").calls, recording.range("inner").unclosed) == (1, 1)
        assert recording.range("inner").calls == 2
        recording.range("inner").check(calls=2, max_ms=1000)
        with pytest.raises(AssertionError, match=r"range 'inner': 2 calls, not 7"):
            recording.range("inner").check(calls=7)
        with pytest.raises(TypeError, match="a range has no lines_ms"):
            recording.range("inner").check(lines_ms=1)
        with nvspan.annotate("inner", domain="lib"):
            pass
        with pytest.raises(ValueError, match="several ranges"):
            recording.range("inner")
        assert recording.range("inner", domain="lib").calls == 1
    assert not nvspan.is_active()


def test_nothing_recorded_is_no_calls():
    with LiveRecording() as recording:
        assert recording.range("anything").calls == 0
        assert recording.ranges == []


def test_pytest_under_nvspan_has_no_warning_of_the_import_before_it(tmp_path):
    """An installed plugin is marked for rewriting as conftest.py does it here."""
    (tmp_path / "conftest.py").write_text(
        "import pytest\npytest.register_assert_rewrite('nvspan')\n"
    )
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    strict = ("-W", "error", "-W", EDITABLE, "--rootdir", tmp_path)
    done = python("-m", "nvspan", *PYTEST, *strict, "test_it.py", cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
