# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The pages about Nsight: each command and each piece of Python in them is run, in their order."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from helpers import device, ncu, nsys
from helpers.traced import clean_environment, needs_library
from helpers.tree import ROOT
from nvspan.nsight.results import module_reader

pytestmark = needs_library

DATA = ROOT / "tests" / "data" / "nsight"
TRAIN = """
import nvspan

with nvspan.span("load", domain="data"):
    pass
for number in range(5):
    with nvspan.step(number), nvspan.annotate("forward", domain="torch"):
        for i in range(5):
            with nvspan.annotate(f"layers.{i}", domain="torch"):
                with nvspan.annotate(f"layers.{i}.attention", domain="torch"):
                    pass
                with nvspan.annotate(f"layers.{i}.mlp", domain="torch"):
                    pass
"""


def blocks(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```(python|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(command, folder, **options):
    prefix = os.environ.get("NVSPAN_NSYS")
    # nsys keeps locks and sockets there, and finds other runs' in a folder that they share.
    with tempfile.TemporaryDirectory(prefix="n", dir="/tmp", ignore_cleanup_errors=True) as temp:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=180, check=False,
            env=clean_environment({
                "NVSPAN_NSYS": prefix, "TMPDIR": temp, "NVSPAN_CACHE": os.path.join(temp, "cache"),
                "NVSPAN_NCU": os.environ.get("NVSPAN_NCU"),
            }), **options,
        )  # fmt: skip


def prepared(line):
    """A command as it can run here: without a GPU `nvspan ncu` prints its line."""
    if line.startswith("nvspan ncu") and not (device.REAL or "--dry-run" in line):
        line = line.replace("nvspan ncu", "nvspan ncu --dry-run", 1)
    if ".ncu-rep" in line and module_reader.module() is None:
        ncu.find()
    return line.replace("nvspan", f"{sys.executable} -m nvspan", 1)


def measures_torch():
    """Whether functions with torch can be profiled here."""
    return device.REAL and importlib.util.find_spec("torch") is not None


PAGES = ["nsight-compute.md", "no-ranges-were-profiled.md", "nsight-systems.md"]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows(page, tmp_path):
    if "nvspan nsys -o" in "".join(text for _, text in blocks(page)):
        nsys.find()
    (tmp_path / "train.py").write_text(TRAIN)
    for name, report in (("before", "graph"), ("after", "nodes")):
        shutil.copy(DATA / f"{report}.ncu-rep", tmp_path / f"{name}.ncu-rep")
    shown = []
    for language, text in blocks(page):
        if language == "python" and "import torch" in text and not measures_torch():
            continue
        if language == "python":
            if ".ncu-rep" in text and module_reader.module() is None:
                ncu.find()
            done = run([sys.executable, "-c", text], tmp_path)
            assert done.returncode == 0, done.stderr
            said = re.findall(r"^print\(.*  # (.*)$", text, re.MULTILINE)
            assert not said or done.stdout.splitlines() == said
            shown.append(done.stdout)
            continue
        for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            done = run(prepared(line), tmp_path, shell=True)
            assert done.returncode == 0, done.stderr
            shown.append(done.stdout)
    assert shown


def test_the_names_of_the_page_are_found(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    command = [sys.executable, "-m", "nvspan", "record", "--no-report", "-o", "run.nvspan"]
    run([*command, "train.py"], tmp_path)
    (names,) = [text for _, text in blocks("nsight-compute.md") if "range_filters(" in text]
    assert run([sys.executable, "-c", names], tmp_path).stdout.splitlines() == [
        "--nvtx-include torch@layers.3.attention/",
        *(f"--nvtx-include torch@layers.{i}.mlp/" for i in range(5)),
        "--nvtx-include data@load",
        "--nvtx-include torch@forward/*/layers.3",
    ]
