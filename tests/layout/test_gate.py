# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What .ci/run says of tests that fail: planted ones, in a tree of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.tree import ROOT

pytestmark = [
    pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="a source distribution has no .ci"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason=".ci/run needs Python 3.11"),
    pytest.mark.skipif(sys.platform != "linux", reason=".ci/run needs Linux"),
]

PASSES = "def test_passes(): pass\n"
# `ran` counts how often it ran, over all processes.
COUNTS = """
def ran():
    with open("../runs", "a+") as file:
        file.write("x")
        file.seek(0)
        return len(file.read())
"""


class Planted:
    """A tree with .ci/run and stages of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path / "tree"
        (self.path / ".ci").mkdir(parents=True)
        (self.path / "tests").mkdir()
        for name in ("run", "run.py", "suite.py"):
            shutil.copy(ROOT / ".ci" / name, self.path / ".ci")
        shutil.copy(ROOT / "tests/conftest.py", self.path / "tests")
        settings = f"[pytest]\naddopts = -ra\npythonpath = {ROOT / 'tests'}\n"
        (self.path / "pytest.ini").write_text(settings)
        (self.path / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
        # A machine may have CPython by its version's name alone.
        self.tools = path / "tools"
        self.tools.mkdir()
        (self.tools / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (self.tools / "python3").chmod(0o755)
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=planted", "-c", "user.email=planted@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.path, check=True)

    def stage(self, name: str, test: str, workers: int = 0) -> None:
        """A stage that runs a file of tests."""
        (self.path / "tests" / f"test_{name}.py").write_text(test)
        pytest_line = f"{sys.executable} -m pytest -n {workers} -p no:nvspan tests/test_{name}.py"
        (self.path / ".ci" / f"{name}.sh").write_text(
            f"python3 .ci/suite.py pytest {sys.executable} {pytest_line}\n"
        )

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "planted")

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """The exit code of .ci/run, and the lines of its output."""
        ours = {name: value for name, value in os.environ.items() if "NVSPAN_CI" not in name}
        work = str(self.path.parent / "work")
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        environment = ours | {"NVSPAN_CI_WORK": work, "NVSPAN_TEST_LIMIT": "5", "PATH": path}
        done = subprocess.run(
            [self.path / ".ci/run", *arguments],
            env=environment,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    return Planted(tmp_path)


def test_a_flaky_test_is_named_and_passes(planted):
    planted.stage(
        "flaky", PASSES + COUNTS + "def test_flaky(): assert ran() == 2, 'the first time'\n"
    )
    planted.stage("other", PASSES)
    planted.commit()
    code, lines = planted.run("flaky", "other")
    assert code == 0
    assert "flaky: tests/test_flaky.py::test_flaky" in lines
    assert any("AssertionError: the first time" in line for line in lines)
    assert lines[-1] == "tests: 3 passed, 0 failed, 0 skipped"
    assert "every stage passed" in "\n".join(lines)


def test_a_test_that_fails_twice_is_red_and_stops_no_stage(planted):
    planted.stage("red", COUNTS + "def test_red(): assert ran() == 0\n")
    planted.stage("later", PASSES)
    planted.stage("latest", "import pytest\ndef test_skipped(): pytest.skip('no moon')\n")
    planted.commit()
    code, lines = planted.run("red", "later", "latest")
    assert code == 1
    assert [line for line in lines if line.startswith("red: ")] == [
        "red: red: tests/test_red.py::test_red"
    ]
    assert "flaky: none" in lines
    assert "     1 skipped: no moon" in lines
    assert (planted.path.parent / "work/runs").read_text() == "xx"
    assert lines[-1] == "tests: 1 passed, 1 failed, 1 skipped"
    passed = next((planted.path / ".git/ci-passed").iterdir()).read_text()
    assert sorted(passed.split()) == ["later", "latest"]


RACE = """
#include <thread>
int shared;
int main() {
  const auto count = [] { for (int i = 0; i < 100000; ++i) ++shared; };
  std::thread one(count), other(count);
  one.join();
  other.join();
}
"""


ENDED = "its worker crashed, or hung and was ended"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("import os\ndef test_ends(): ran(); os.abort()\n", ENDED),
        ("import time\ndef test_waits(): ran(); time.sleep(600)\n", ENDED),
        (
            "import subprocess\ndef test_race():\n    ran()\n"
            "    done = subprocess.run('../race', capture_output=True, text=True)\n"
            "    assert done.returncode == 0, done.stderr\n",
            "a sanitizer's report",
        ),
    ],
    ids=["crash", "hang", "race"],
)
def test_what_gets_no_second_run(planted, test, reason):
    if "race" in test:
        work = planted.path.parent / "work"
        work.mkdir()
        (work / "race.cpp").write_text(RACE)
        command = ["g++", "-fsanitize=thread", "-g", "-o", work / "race", work / "race.cpp"]
        if shutil.which("g++") is None or subprocess.run(command, check=False).returncode:
            pytest.skip("no compiler with ThreadSanitizer")
    planted.stage("bad", COUNTS + test, workers=1)
    planted.commit()
    code, lines = planted.run("bad")
    assert code == 1
    assert any(
        re.fullmatch(f"===== bad: tests/test_bad.py::test_\\w+: {reason} =====", line)
        for line in lines
    )
    assert (planted.path.parent / "work/runs").read_text() == "x"
    assert lines[-1] == "tests: 0 passed, 1 failed, 0 skipped"


CTESTS = """
add_test(flaky_test sh -c "echo x >>runs && test $(wc -l <runs) -eq 2")
add_test(red_test false)
add_test(crash_test sh -c "echo x >>crashes; kill -SEGV $$")
add_test(hang_test sleep 60)
"""


def test_failures_of_ctest(planted):
    # A shim of an environment manager may be on PATH without a ctest behind it.
    ctest = shutil.which("ctest") or "false"
    if subprocess.run([ctest, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("no ctest")
    build = planted.path.parent / "build"
    build.mkdir()
    (build / "CTestTestfile.cmake").write_text(CTESTS)
    (planted.path / ".ci/cpp.sh").write_text(
        "python3 .ci/suite.py ctest ../../build ctest --timeout 2 --output-on-failure\n"
    )
    planted.commit()
    code, lines = planted.run("cpp")
    assert code == 1
    assert "flaky: flaky_test" in lines
    assert [line for line in lines if line.startswith("red: ")] == [
        "red: cpp: red_test",
        "red: cpp: crash_test",
        "red: cpp: hang_test",
    ]
    assert "===== cpp: crash_test: a crash =====" in lines
    assert "===== cpp: hang_test: a hang =====" in lines
    assert (build / "crashes").read_text() == "x\n"
    assert lines[-1] == "tests: 1 passed, 3 failed, 0 skipped"


def test_resume_leaves_out_what_passed_on_this_tree(planted):
    planted.stage("one", PASSES)
    planted.stage("two", PASSES)
    planted.commit()
    assert planted.run("one")[0] == 0
    code, lines = planted.run("--resume", "one", "two")
    assert code == 0
    assert lines[0] == "passed on this tree before: one"
    assert lines[-1] == "tests: 1 passed, 0 failed, 0 skipped"
    planted.stage("two", PASSES * 2)
    planted.commit()
    code, lines = planted.run("--resume", "one", "two")
    assert code == 0
    assert lines[-1] == "tests: 2 passed, 0 failed, 0 skipped"


def entry(name: str, date: str) -> str:
    return f'[[test]]\nid = "{name}"\ndate = {date}\ntext = "timed out"\ncause = "a lost wake-up"\n'


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("".join(entry(f"t{i}", "2100-01-01") for i in range(11)), "has 11 entries, more than 10"),
        (entry("t", "2020-01-01"), "t is listed since 2020-01-01, more than 5 days before HEAD"),
        (entry("t", "2100-01-01").replace("text", "txt"), "an entry has no text"),
        (entry("t", "2100-01-01"), None),
    ],
)
def test_the_list_of_flaky_tests_is_short_and_new(planted, entries, problem):
    (planted.path / ".ci/one.sh").write_text("true\n")
    (planted.path / "tests/flaky.toml").write_text(entries)
    planted.commit()
    code, lines = planted.run("one")
    found = [line for line in lines if line.startswith("red: ")]
    assert (code, len(found)) == ((1, 1) if problem else (0, 0))
    assert problem is None or problem in found[0]
