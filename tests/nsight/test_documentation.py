# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The pages about Nsight: each command and each piece of Python in them is run, in their order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

import pytest

from helpers import nsys
from helpers.traced import clean_environment, needs_library
from helpers.tree import ROOT

pytestmark = needs_library

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
            env=clean_environment({"NVSPAN_NSYS": prefix, "TMPDIR": temp}), **options,
        )  # fmt: skip


@pytest.mark.parametrize("page", ["nsight-compute.md", "nsight-systems.md"])
def test_what_a_page_shows(page, tmp_path):
    if "nvspan nsys -o" in "".join(text for _, text in blocks(page)):
        nsys.find()
    (tmp_path / "train.py").write_text(TRAIN)
    shown = []
    for language, text in blocks(page):
        if language == "python":
            done = run([sys.executable, "-c", text], tmp_path)
            assert done.returncode == 0, done.stderr
            said = re.findall(r"^print\(.*  # (.*)$", text, re.MULTILINE)
            assert not said or done.stdout.splitlines() == said
            shown.append(done.stdout)
            continue
        for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            done = run(
                line.replace("nvspan", f"{sys.executable} -m nvspan", 1), tmp_path, shell=True
            )
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
