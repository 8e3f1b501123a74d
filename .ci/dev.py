#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Work on nvspan: `.ci/dev.py setup` once, then `.ci/dev.py test` after each edit.

    setup               make .venv, with everything that tests and linters need, and an editable
                        install whose build folder is kept
    test [PYTEST ...]   build what changed, then run the tests of what differs from the branch that
                        NVSPAN_BASE names (main); with arguments, run pytest with those

A Python edit needs no build: .venv imports python/nvspan. C++ is built each source alone,
without optimisation across sources, through ccache where it is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
BUILD = ROOT / "build" / "editable"
STAMP = BUILD / "installed"

# What an edit can break, by the start of the edited path: the first line that matches counts.
# A path of tests stands for itself.
TESTS = {
    "python/nvspan/torch/": ["tests/pytorch"],
    "python/nvspan/report/": ["tests/report"],
    "python/nvspan/export/": ["tests/report"],
    "python/nvspan/nsight/": ["tests/report"],
    "python/nvspan/cli/metrics": ["tests/watch"],
    "python/nvspan/watch/": ["tests/watch"],
    "python/nvspan/cli/": ["tests/cli", "tests/report"],
    "python/nvspan/device": ["tests/device"],
    "python/nvspan/_device/": ["tests/device"],
    "python/nvspan/_compat/": ["tests/api", "tests/compat"],
    "python/nvspan/_doctor/": ["tests/cli/test_doctor.py"],
    "python/nvspan/live/": ["tests/live"],
    "python/nvspan/ranks/": ["tests/ranks"],
    "python/nvspan/recorder": ["tests/record"],
    "python/nvspan/recording/": ["tests/reader", "tests/report"],
    "python/nvspan/profiler": ["tests/profile"],
    "python/": ["tests/api", "tests/decorate"],
    "src/bindings/torch/": ["tests/pytorch"],
    "src/bindings/device/": ["tests/device"],
    "src/bindings/payload/": ["tests/payload"],
    "src/bindings/profile/": ["tests/profile"],
    "src/bindings/reader/": ["tests/reader", "tests/report"],
    "src/cuda/": ["tests/device"],
    "src/inject/": ["tests/inject", "tests/record"],
    "src/record/live/": ["tests/live"],
    "src/reader/live/": ["tests/live"],
    "src/record/": ["tests/inject", "tests/reader", "tests/record", "tests/report"],
    "src/reader/": ["tests/inject", "tests/reader", "tests/record", "tests/report"],
    "src/trace/": ["tests/inject", "tests/reader", "tests/record", "tests/report"],
    "src/": ["tests/api", "tests/decorate"],
    "docs/": ["tests/layout", "tests/docs"],
    "README.md": ["tests/docs"],
    "examples/": ["tests/examples", "tests/docs"],
    "cmake/": ["tests/packaging"],
}  # fmt: skip


def tests_of(changed: list[str]) -> list[str]:
    """The test files and folders to run for the changed paths, always with the house rules."""
    wanted = {"tests/layout"}
    for path in changed:
        if re.fullmatch(r"tests/.*test_\w+\.py", path):
            wanted.add(path)
        elif path.startswith("tests/"):
            wanted.update(["tests/api", "tests/decorate"])
        else:
            wanted.update(
                next((tests for start, tests in TESTS.items() if path.startswith(start)), [])
            )
    return sorted({found.relative_to(ROOT).as_posix() for pattern in wanted
                   for found in ROOT.glob(pattern)})  # fmt: skip


def run(*command: object, **environment: str) -> int:
    return subprocess.call([str(word) for word in command], cwd=ROOT, env=os.environ | environment)


def checked(*command: object, **environment: str) -> None:
    code = run(*command, **environment)
    if code:
        sys.exit(code)


def changed_paths() -> list[str]:
    def lines(*command: str) -> list[str]:
        done = subprocess.run(
            ["git", *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()

    base = lines("merge-base", "HEAD", os.environ.get("NVSPAN_BASE", "main")) or ["HEAD"]
    return [*lines("diff", "--name-only", "--diff-filter=d", *base),
            *lines("ls-files", "--others", "--exclude-standard")]  # fmt: skip


def modules() -> str:
    """The Python files: an editable install knows those that were there when it was made."""
    return "\n".join(sorted(str(path) for path in (ROOT / "python").rglob("*.py*")
                            if "__pycache__" not in path.parts))  # fmt: skip


def sources_changed() -> bool:
    built = STAMP.stat().st_mtime
    inputs = [ROOT / "CMakeLists.txt", *(ROOT / "src").rglob("*")]
    return any(path.stat().st_mtime > built for path in inputs)


def environment() -> dict[str, str]:
    scripts = str(PYTHON.parent) + os.pathsep + os.environ.get("PATH", "")
    cached = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(ROOT),
              "CCACHE_NOHASHDIR": "1", "CCACHE_SLOPPINESS": "time_macros"}  # fmt: skip
    return {"PATH": scripts, **(cached if shutil.which("ccache") else {})}


def install(*extras: str) -> None:
    settings = [f"build-dir={BUILD.relative_to(ROOT)}", "cmake.define.NVSPAN_IPO=OFF",
                "cmake.define.NVSPAN_UNITY=OFF", "cmake.define.NVSPAN_WERROR=ON",
                "install.strip=false"]  # fmt: skip
    options = [word for setting in settings for word in ("-C", setting)]
    checked(PYTHON, "-m", "pip", "install", "-q", "--no-build-isolation", *extras, *options,
            **environment())  # fmt: skip
    STAMP.write_text(modules(), encoding="utf-8")


def setup() -> None:
    if not PYTHON.exists():
        checked(sys.executable, "-m", "venv", VENV)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = re.findall(r"^requires = \[(.*)\]", project, re.MULTILINE)
    requirements = re.findall('"(.*?)"', line)
    headers = ["nvidia-nvtx>=13.5,<14"] if sys.platform == "linux" else []
    checked(PYTHON, "-m", "pip", "install", "-q", *requirements, *headers, "cmake>=3.20", "ninja")
    install("-e", ".[dev,test-all]")
    print(f"ready: {PYTHON.relative_to(ROOT)}; next: .ci/dev.py test")


def test(arguments: list[str]) -> int:
    if not STAMP.exists():
        sys.exit(".ci/dev.py setup comes first")
    if STAMP.read_text(encoding="utf-8") != modules():
        install("--no-deps", "-e", ".")
    elif sources_changed():
        code = "import sysconfig; print(sysconfig.get_path('platlib'))"
        folder = subprocess.check_output([PYTHON, "-c", code], text=True).strip()
        checked("cmake", "--build", BUILD, **environment())
        checked("cmake", "--install", BUILD, "--prefix", folder, **environment())
        STAMP.touch()
    chosen = arguments or [*tests_of(changed_paths()), "-n", "auto"]
    print("pytest", *chosen, flush=True)
    return run(PYTHON, "-m", "pytest", "-q", *chosen)


if __name__ == "__main__":
    if sys.argv[1:] == ["setup"]:
        setup()
    elif sys.argv[1:2] == ["test"]:
        sys.exit(test(sys.argv[2:]))
    else:
        sys.exit(__doc__)
