# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables in 80 columns without the package rich: what gives way, and that it is said."""

from __future__ import annotations

import shutil

import pytest

from helpers.recorded_loops import unpack
from helpers.reported import recording_of, run_nvspan
from helpers.terminal import on_a_terminal
from helpers.traced import needs_library
from nvspan.report.narrow import fitted
from nvspan.report.text import shortened

LONG = """
import os, threading, nvspan
def work():
    for i in range(3):
        with nvspan.annotate("transformer.encoder.layers.17.attention.self.query.projection",
                             domain="a_library_with_a_rather_long_name"):
            with nvspan.annotate("inner"): pass
threads = [threading.Thread(target=work, name=f"a worker with a long name {i}") for i in range(2)]
for thread in threads: thread.start(); thread.join()
"""


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    for name in ("blocks", "data"):
        unpack(name, folder / f"{name}.nvspan")
    return folder


@pytest.fixture(scope="module")
def without_rich(tmp_path_factory):
    """A folder to import from in which the package rich is none."""
    folder = tmp_path_factory.mktemp("without-rich")
    (folder / "rich.py").write_text("raise ImportError('hidden')\n")
    return str(folder)


def lines_of(without_rich: str, *words: object, columns: int = 80) -> list[str]:
    return on_a_terminal(*words, COLUMNS=str(columns), TERM="xterm", NO_COLOR="1",
                         PYTHONPATH=without_rich).splitlines()  # fmt: skip


def assert_narrow(lines: list[str], first: str, columns: int = 80) -> None:
    """The tables fit; sentences, which have no two blanks in a row, may be longer."""
    table = [line for line in lines if "  " in line.strip() and not line.startswith("(in ")]
    assert table, lines
    assert [line for line in table if len(line) > columns] == []
    assert any(line.startswith(first) or line.strip().startswith(first) for line in table)


@needs_library
@pytest.mark.parametrize("words", [["--flat"], ["--tree"], ["--by", "thread"], ["--by", "process"]])
def test_statistics_of_long_names(without_rich, words):
    lines = lines_of(without_rich, "stats", *words, recording_of(LONG))
    assert_narrow(lines, "calls")
    names = [line for line in lines if line.endswith("jection")]
    assert names
    assert all("..." in line for line in names)
    said = [line for line in lines if line.startswith("(in 80 columns: with")]
    assert len(said) == 1
    wide = run_nvspan("stats", *words, recording_of(LONG)).stdout
    assert "transformer.encoder.layers.17.attention.self.query.projection" in wide
    assert "..." not in wide


@pytest.mark.parametrize(
    ("words", "name"),
    [(["stats"], "data"), (["stats", "--gpu"], "data"), (["stats", "--tree"], "data"),
     (["steps"], "data"), (["steps", "--each"], "data"), (["modules"], "blocks"),
     (["stats"], "blocks"), (["stats", "--gpu"], "blocks"), (["steps", "--each"], "blocks")],
)  # fmt: skip
def test_tables_of_loops(without_rich, loops, words, name):
    lines = lines_of(without_rich, *words, loops / f"{name}.nvspan")
    assert_narrow(lines, "phase" if words[0] == "steps" else "calls")


def test_a_comparison(without_rich, loops, tmp_path):
    path = loops / "data.nvspan"
    again = shutil.copy(path, tmp_path / "data.nvspan")
    both = ("diff", "--repeats", path, again, "--", path, again)
    lines = lines_of(without_rich, *both)
    assert_narrow(lines, "calls B")
    assert "(in 80 columns: without confidence, calls A, with shortened names)" in lines
    wide = lines_of(without_rich, *both, columns=160)
    assert wide[0].split()[:2] == ["calls", "A"]
    assert not any(line.startswith("(in ") for line in wide)


def test_columns_go_in_their_order_and_names_last():
    headings = ["calls", "total", "std", "name"]
    rows = [["1", "2.000 ms", "3.000 us", "a.name.that.is.long.enough.to.be.cut"]]
    wide = fitted(headings, rows, ("name",), width=None)
    assert wide.splitlines()[1].endswith("to.be.cut")
    assert (
        fitted(headings, rows, ("name",), width=63, dispensable=("std", "total")).splitlines()
        == wide.splitlines()
    )
    lines = fitted(headings, rows, ("name",), width=40, dispensable=("std", "total")).splitlines()
    assert lines == [
        "calls     total  name",
        "    1  2.000 ms  a.name.tha....to.be.cut",
        "(in 40 columns: without std, with shortened names)",
    ]


def test_a_shortened_name_keeps_its_ends():
    assert shortened("short", 5) == "short"
    assert shortened("layers.17.attention", 12) == "layer...tion"
    assert len(shortened("x" * 100, 20)) == 20
