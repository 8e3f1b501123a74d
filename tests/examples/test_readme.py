# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The README's example prints what the README says that it prints."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import nvspan
from helpers.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks():
    (section,) = re.findall(r"<!-- example -->\n(.*?)\n## ", README, re.DOTALL)
    program, output = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
    return program, output


def normalised(trace):
    """A trace without what differs from run to run: times, durations, numbers, paths."""
    lines = []
    for line in trace.splitlines():
        line = re.sub(r"NVTX connected: \S*/nvspan/.*|NVTX connected: nvspan/.*", "connected", line)
        before, sign, after = re.fullmatch(r"(.*?)([·╭╰│◆].*?) (\w.*)", line).groups()
        attributes = " ".join(after.split())  # columns are as wide as the program needs
        lines.append((bool(re.search(r" [mµn]?s ", before)), sign, attributes))
    return lines


@pytest.mark.skipif(not nvspan._core.have_nvtx, reason="built without NVTX")
def test_the_example_prints_what_the_readme_says(tmp_path):
    program, output = blocks()
    script = tmp_path / "example.py"
    script.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "nvspan", "trace", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == ""
    assert normalised(done.stderr) == normalised(output)


def test_the_example_has_ten_lines():
    program, _ = blocks()
    assert len([line for line in program.splitlines() if line]) <= 10


@pytest.mark.parametrize("name", ["run", "test"])
def test_a_command_is_one_line(name):
    pattern = rf"<!-- command: {name} -->\n```\w+\n(.*?)\n```"
    (command,) = re.findall(pattern, README, re.DOTALL)
    assert "\n" not in command
