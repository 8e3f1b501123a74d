# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What commands print keeps to `helpers.voice`, and the first screens are as they are listed.

Run as a program, it writes the listings again: python tests/cli/test_screens.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

import pytest

from helpers import screens, voice
from helpers.tree import ROOT
from nvspan.cli import COMMANDS

pytest.importorskip("nvspan._reader", reason="built without the reader")

LISTINGS = Path(__file__).with_name("screens")
CORPUS = ROOT / "tests" / "corpus"
MAX_WIDTH = 100  # of help and of tables, in a terminal of so many columns

READS = (
    "explain", "explain --format markdown", "steps", "steps --each --top 3", "modules", "kernels",
    "kernels --by range", "kernels --by module", "stats", "stats --flat", "stats --by thread",
    "stats --gpu", "stats --lines", "stats --lines --functions", "stats --flat --format markdown",
    "stats --filter nothing-like-it", "stats --from 99s", "stats --compat nsys",
    "steps --step nothing-like-it", "kernels --within nothing-like-it",
)  # fmt: skip
LINES = (
    "", "--help", "recrod x.py", "--profil x.py", "stop", "stats", "stats --tre loop.nvspan",
    "stats --sort x loop.nvspan", "diff loop.nvspan", "diff --threshold x a b", "ranks --top x",
    "explain missing.nvspan", "export --format chrome loop.nvspan", "where missing.nvspan",
    "top --interval 0 .", "trigger missing", "attach 999999999", "record missing.py",
    "record --mode x x.py", "ncu --read missing.ncu-rep", "nsys --steps x x.py",
)  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """The current directory, with the recordings of the first screens."""
    before = os.getcwd(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(MAX_WIDTH)
    os.chdir(tmp_path_factory.mktemp("screens"))
    yield screens.first_screens()
    os.chdir(before[0])
    os.environ.pop("COLUMNS")
    if before[1] is not None:
        os.environ["COLUMNS"] = before[1]


def test_first_screens(directory):
    listed = {path.stem: path.read_text(encoding="utf-8") for path in LISTINGS.iterdir()}
    assert directory == listed


def test_first_screens_keep_to_the_rules(directory):
    assert {name: voice.of_screen(said) for name, said in directory.items()} == {
        name: [] for name in directory
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_help(directory, command):
    code, said = screens.run(command, "--help")
    assert code == 0
    assert voice.of_screen(said) == []
    assert [line for line in said.splitlines() if len(line) > MAX_WIDTH] == []


@pytest.mark.parametrize("words", READS)
def test_what_is_printed_of_recordings(directory, words):
    paths = [
        *CORPUS.glob("*.nvspan"),
        *map(Path, ("slow_loop.nvspan", "api.nvspan", "train.nvspan")),
    ]
    found = {}
    for path in paths:
        command, *options = words.split()
        _, said = screens.run(command, *options, path)
        if wrong := voice.of_screen(said.replace(str(path), path.name)):
            found[path.name] = [*wrong, said]
    assert found == {}


@pytest.mark.parametrize(
    "words",
    [
        "diff main-1.nvspan branch-1.nvspan", "diff main-1.nvspan main-2.nvspan -- branch-1.nvspan",
        "explain branch-1.nvspan --baseline main-1.nvspan", "explain job", "steps job", "stats job",
        "stats --many job --by rank", "diff --many job job", "ranks main-1.nvspan",
        "where slow_loop.nvspan",
    ],
)  # fmt: skip
def test_what_is_printed_of_several_recordings(directory, words):
    _, said = screens.run(*words.split())
    assert (voice.of_screen(said), "Traceback" in said) == ([], False), said


@pytest.mark.parametrize("words", LINES)
def test_command_lines_that_are_wrong(directory, words):
    _, said = screens.run(*words.split())
    assert voice.of_screen(said) == [], said


if __name__ == "__main__":
    os.environ["COLUMNS"] = str(MAX_WIDTH)
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        for name, text in screens.first_screens().items():
            (LISTINGS / f"{name}.txt").write_text(text, encoding="utf-8")
