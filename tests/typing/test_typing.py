# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept an example that uses every public name, and refuse wrong uses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan

EXAMPLE = Path(__file__).with_name("example.py")

WRONG = """
import nvspan
from nvspan import annotate, mark

@annotate("x")
def f(x: int) -> int:
    return x

f("text")  # error: the decorator kept the type
f()  # error
mark(5)  # error
annotate("x", kind="neither")  # error
nvspan.get_domain("d").mark(mesage="typo")  # error
nvspan.end_range("text")  # error
nvspan.no_such_name  # error
"""


def checker(*names: str) -> list[str]:
    """The command of the first of these checkers that is installed beside this Python."""
    for name in names:
        found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        if found:
            return [found]
    pytest.skip(f"none of {', '.join(names)} is installed")


def mypy(path: Path) -> subprocess.CompletedProcess[str]:
    command = checker("mypy")
    command += ["--strict", "--config-file=", f"--python-executable={sys.executable}", str(path)]
    command += ["--cache-dir", str(path.parent / ".mypy_cache") if path != EXAMPLE else "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)


def pyright(path: Path) -> subprocess.CompletedProcess[str]:
    command = checker("basedpyright", "pyright")
    command += [f"--pythonpath={sys.executable}", "--level=error", str(path)]
    # In the file's own folder: the checkout has settings of its own.
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)


def test_the_example_uses_every_public_name():
    text = EXAMPLE.read_text()
    assert [name for name in nvspan.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_the_example_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, check=False,
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [*tmp_path.iterdir()] == []


def test_mypy_accepts_the_example(tmp_path):
    path = tmp_path / "example.py"
    path.write_text(EXAMPLE.read_text())
    done = mypy(path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_accepts_the_example(tmp_path):
    path = tmp_path / "example.py"
    path.write_text(EXAMPLE.read_text())
    done = pyright(path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("check", [mypy, pyright])
def test_wrong_uses_are_found(check, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    output = check(path).stdout
    found = {int(line) for line in re.findall(r"wrong\.py:(\d+)(?::\d+)?.*error", output)}
    wanted = {n for n, line in enumerate(WRONG.splitlines(), 1) if "# error" in line}
    assert found == wanted, output
