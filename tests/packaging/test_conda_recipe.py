# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The conda recipe says what pyproject.toml says; no builder of conda packages is at hand."""

from __future__ import annotations

import re
import sys

import pytest

from helpers.tree import ROOT

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with CPython 3.11")
RECIPE = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def settings():
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def listed(section):
    """The items of a list of requirements."""
    (block,) = re.findall(rf"^  {section}:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    return [line.removeprefix("    - ") for line in block.splitlines()]


def test_name_version_licence_and_summary(settings):
    project = settings["project"]
    assert re.findall(r'^  version: "(.*)"$', RECIPE, re.MULTILINE) == [project["version"]]
    assert re.findall(r"^  name: (.*)$", RECIPE, re.MULTILINE) == [project["name"]]
    assert re.findall(r"^  license: (.*)$", RECIPE, re.MULTILINE) == [project["license"]]
    assert re.findall(r'^  summary: "(.*)"$', RECIPE, re.MULTILINE) == [project["description"]]


def test_requirements(settings):
    wanted = [re.sub(r"([a-z0-9])([<>])", r"\1 \2", each, count=1)
              for each in settings["build-system"]["requires"]]  # fmt: skip
    assert listed("host") == ["python", "pip", *wanted, "cuda-nvtx-dev >=13.0,<14"]
    cmake = settings["tool"]["scikit-build"]["cmake"]["version"]
    assert listed("build")[2:] == [f"cmake {cmake}", "ninja"]
    assert listed("run") == [f"python {settings['project']['requires-python']}"]


def test_options_and_files_exist():
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    options = re.findall(r"-C cmake\.define\.(\w+)=", RECIPE)
    assert options == ["NVSPAN_NVTX", "NVSPAN_CUDA_TOOLKIT"]
    assert [name for name in options if f"set({name} " not in build] == []
    files = re.findall(r"^        - (\S+)$", RECIPE, re.MULTILINE)
    assert files == ["examples/slow_loop.py"]
    assert [name for name in files if not (ROOT / name).is_file()] == []
