# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of a built source distribution and wheel: NVSPAN_DIST names their folder."""

from __future__ import annotations

import email
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from helpers.tree import ROOT

DIST = os.environ.get("NVSPAN_DIST")
if not DIST:
    pytest.skip("NVSPAN_DIST names no folder of built packages", allow_module_level=True)


def only(pattern):
    (path,) = Path(DIST).glob(pattern)
    return path


@pytest.fixture(scope="module")
def wheel():
    with zipfile.ZipFile(only("*.whl")) as archive:
        yield archive


@pytest.fixture(scope="module")
def sdist_names():
    with tarfile.open(only("*.tar.gz")) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def metadata(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    sources = {
        f"nvspan/{path.relative_to(ROOT / 'python' / 'nvspan').as_posix()}"
        for path in (ROOT / "python" / "nvspan").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    binaries = names - sources
    assert sources <= names
    expected = {"nvspan/_core"}
    if sys.platform == "linux":
        expected |= {"nvspan/_lines", "nvspan/_reader", "nvspan/libnvspan_inject"}
    assert {name.partition(".")[0] for name in binaries} == expected
    assert len(binaries) == len(expected)
    assert "nvspan/py.typed" in names
    assert "nvspan/_core.pyi" in names


def test_the_wheel_needs_nothing_at_run_time(wheel):
    requires = metadata(wheel).get_all("Requires-Dist") or []
    assert [name for name in requires if "extra ==" not in name] == []
    assert metadata(wheel)["Requires-Python"] == ">=3.10"
    assert {"dev", "docs", "test"} <= set(metadata(wheel).get_all("Provides-Extra"))


def test_the_wheel_carries_licence_and_command(wheel):
    assert any(name.endswith("/LICENSE") for name in wheel.namelist())
    (scripts,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert "nvspan = nvspan.cli:main" in wheel.read(scripts).decode().replace("=", " = ").replace(
        "  =  ", " = "
    )


def test_the_wheel_is_for_this_interpreter(wheel):
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"-{tag}-{tag}" in Path(wheel.filename).name


def test_the_sdist_builds_and_tests_itself(sdist_names):
    kept = {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md",
            "cmake/build_backend.py", "cmake/find_headers.py", "python/nvspan/__init__.py",
            "src/bindings/CMakeLists.txt", "src/bindings/module/module.cpp",
            "src/inject/callbacks/exports.map", "tests/conftest.py",
            "examples/train_loop.py", "docs/index.md", "benchmarks/bench_annotate.py"}  # fmt: skip
    assert kept - sdist_names == set()


def test_the_sdist_leaves_built_files_out(sdist_names):
    unwanted = [name for name in sdist_names
                if name.endswith((".so", ".pyc", ".whl", ".o")) or "__pycache__" in name
                or name.startswith((".venv", "docs/_build", "dist/", "build/"))]  # fmt: skip
    assert unwanted == []
