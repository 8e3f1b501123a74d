# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Files that commands are given: named twice, or in a directory that is not there yet."""

from __future__ import annotations

import json

import pytest

import nvspan
from helpers.reported import run_nvspan
from nvspan.writer import Session


@pytest.fixture
def folder(tmp_path):
    with (
        Session("one", output=str(tmp_path / "one.nvspan")) as session,
        session.create_stream("core 0", domain="app") as stream,
    ):
        stream.write_pushpop(1_000, 3_000, message="decode")
    (tmp_path / "link.nvspan").symlink_to("one.nvspan")
    return tmp_path


def test_a_file_that_is_named_twice_is_read_once(folder):
    words = ["stats", "--format", "json", "one.nvspan"]
    one = run_nvspan(*words, cwd=folder)
    assert one.stderr == ""
    twice = run_nvspan(*words, "./one.nvspan", "link.nvspan", cwd=folder)
    assert json.loads(twice.stdout) == json.loads(one.stdout)
    assert twice.stderr.splitlines() == [
        "nvspan: ./one.nvspan is named more than once and is read once",
        "nvspan: link.nvspan is named more than once and is read once",
    ]
    (row,) = nvspan.read(folder, folder / "one.nvspan").stats().rows
    assert (row.name, row.calls) == ("decode", 1)


@pytest.mark.parametrize(
    "words",
    [
        ["export", "one.nvspan", "-o", "new/out/one.pftrace"],
        ["export", "--format", "csv", "one.nvspan", "-o", "new/out/one.csv"],
        ["report", "one.nvspan", "-o", "new/out/one.html"],
        ["trace", "-o", "new/out/one.jsonl", "-c", "pass"],
    ],
)
def test_the_directory_of_an_output_is_made(folder, words):
    run_nvspan(*words, cwd=folder)
    assert list((folder / "new" / "out").iterdir()) != []
