# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How a run of the suite treats tests that hang, and those that need the machine for themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INI = f"""
[pytest]
pythonpath = {TESTS}
markers =
    timing: as in the suite
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def run(folder, code, *options, **variables):
    """pytest, as the suite has it, of one file of tests."""
    (folder / "pytest.ini").write_text(INI)
    (folder / "test_planted.py").write_text(code)
    shutil.copy(TESTS / "conftest.py", folder)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options], cwd=folder,
        env={**environment, **variables}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


HANGS = """
import ctypes, subprocess
def test_waits_for_a_child():
    subprocess.run(["sleep", "1234"])
def test_waits_with_the_gil_held():
    ctypes.PyDLL(None).sleep(1234)
def test_passes(): pass
"""


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", ["test_waits_for_a_child", "test_waits_with_the_gil_held"])
def test_a_test_that_hangs_is_ended_with_all_stacks(tmp_path, name, workers):
    if workers:
        pytest.importorskip("xdist")
    options = ["-k", f"{name} or passes", *(["-n", "2"] if workers else [])]
    done = run(tmp_path, HANGS, *options, NVSPAN_TEST_LIMIT="0.5")
    assert f"test_planted.py::{name} takes longer than 0.5 s" in done.stderr
    assert f'test_planted.py", line {4 if "child" in name else 6} in {name}' in done.stderr
    if "child" in name:
        (process,) = [line for line in done.stderr.splitlines() if line.endswith(": sleep 1234")]
        assert "hrtimer_nanosleep" in done.stderr or "system call" in done.stderr
        child = Path("/proc", process.split()[1].strip(":"), "cmdline")
        assert not child.exists() or child.read_bytes() == b""
    assert done.returncode != 0
    if workers:
        assert f"crashed while running 'test_planted.py::{name}'" in done.stdout
        assert "1 failed, 1 passed" in done.stdout


TURNS = """
import os, pathlib, time, pytest
def met(name):
    pathlib.Path(name + os.environ["PYTEST_XDIST_WORKER"]).touch()
    end = time.monotonic() + 60
    while len(list(pathlib.Path().glob(name + "gw*"))) < 2:
        assert time.monotonic() < end
def alone():
    path = pathlib.Path("alone")
    path.touch(exist_ok=False)
    time.sleep(0.05)
    path.unlink()
@pytest.mark.timing
def test_first_alone(): alone()
def test_with_the_other_worker(): met("one"); assert not os.path.exists("alone")
@pytest.mark.timing
def test_second_alone(): alone()
def test_with_the_other_worker_again(): met("two"); assert not os.path.exists("alone")
"""


def test_tests_marked_timing_run_last_and_alone(tmp_path):
    """Each worker runs all four; the others run beside each other, or would wait in vain."""
    pytest.importorskip("xdist")
    done = run(tmp_path, TURNS, "-n", "2", "--dist", "each", "-v")
    assert "8 passed" in done.stdout, done.stdout
    for worker in ("gw0", "gw1"):
        order = [line for line in done.stdout.splitlines() if f"[{worker}] [" in line]
        assert ["alone" in line for line in order] == [False, False, True, True], done.stdout


def test_without_workers_they_run_last(tmp_path):
    code = "import pytest\n@pytest.mark.timing\ndef test_a(): pass\ndef test_b(): pass\n"
    done = run(tmp_path, code, "-v")
    lines = [line for line in done.stdout.splitlines() if "PASSED" in line]
    assert ["test_b" in line for line in lines] == [True, False], done.stdout


def test_workers_for_a_suite_that_waits(request, monkeypatch):
    pytest.importorskip("xdist")
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    monkeypatch.setattr(request.config.option, "numprocesses", "auto")
    ask = request.config.hook.pytest_xdist_auto_num_workers
    cores = len(os.sched_getaffinity(0))
    assert ask(config=request.config) == min(3 * cores, cores + 4)
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "77")
    assert ask(config=request.config) == 77


def test_what_a_plain_run_leaves_out_runs_in_lint():
    project = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = re.findall(r"^norecursedirs = .*", project, re.MULTILINE)
    left_out = re.findall(r'"(tests/\w+)"', line)
    assert left_out == ["tests/layout", "tests/typing"]
    lint = (TESTS.parent / ".ci" / "lint.sh").read_text(encoding="utf-8")
    (linted,) = re.findall("^run_tests .*", lint, re.MULTILINE)
    assert set(left_out) < set(linted.split())
