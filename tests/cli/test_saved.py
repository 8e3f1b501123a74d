# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The last lines of `nvspan record`: the files that it wrote, and the next command."""

from __future__ import annotations

import pytest

from nvspan.cli.program.saved import saved_lines


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Makes files of 1,000 bytes in the current directory."""
    monkeypatch.chdir(tmp_path)

    def make(*names):
        for name in names:
            (tmp_path / name).write_bytes(bytes(1000))
        return [str(tmp_path / name) for name in names]

    return make


def test_few_files_have_a_line_each(files):
    assert saved_lines(files("run.nvspan"), 614, "explain") == [
        "saved  run.nvspan  1 kB, 614 samples",
        "next   nvspan explain run.nvspan",
    ]
    assert saved_lines(files("run.nvspan", "run-7.nvspan"), 614, "explain") == [
        "saved  run.nvspan  1 kB",
        "saved  run-7.nvspan  1 kB",
        "next   nvspan explain run.nvspan run-7.nvspan",
    ]


def test_many_files_are_one_pattern(files):
    paths = files("run.nvspan", *(f"run-{pid}.nvspan" for pid in range(4710, 4726)))
    files("running.txt")
    assert saved_lines(paths, 4210, "explain") == [
        "saved  run*.nvspan  17 files, 17 kB, 4,210 samples",
        "next   nvspan explain run*.nvspan",
    ]


def test_a_pattern_takes_no_file_of_another_run(files):
    files("run-2.nvspan")
    paths = files("run-1.nvspan", "run-3.nvspan", "run-41.nvspan", "run.nvspan")
    assert saved_lines(paths, 0, "stats --lines") == [
        "saved  run{-1,-3,-41,}.nvspan  4 files, 4 kB",
        "next   nvspan stats --lines run{-1,-3,-41,}.nvspan",
    ]


def test_a_pattern_that_cannot_be_short_says_what_else_it_takes(files):
    names = [f"run-{pid}.nvspan" for pid in range(100_000, 100_100)]
    files("run-1000.nvspan")
    assert saved_lines(files(*names), 0, "explain") == [
        "saved  run-1000*.nvspan  100 files, 100 kB; the pattern takes 1 file of other runs too",
        "next   nvspan explain FILES",
    ]


def test_names_that_a_shell_reads_otherwise_have_a_line_each(files):
    names = [f"my run {number}.nvspan" for number in range(4)]
    assert saved_lines(files(*names), 0, "explain") == [
        *(f"saved  {name}  1 kB" for name in names),
        "next   nvspan explain FILES",
    ]
