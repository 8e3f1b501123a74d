# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are called like reports of Nsight and are none, and tables that are damaged."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing

import pytest

import nvspan
from helpers import ncu
from helpers.ncu import DATA
from helpers.nsys import unpacked
from helpers.reported import nvspan_done
from helpers.script import script
from nvspan.nsight import NcuResult
from nvspan.nsight.nsys.tables import Database
from nvspan.nsight.results import csv_reader

# Fails as nsys does, or writes a database that is none.
NSYS = """#!/bin/sh
for word; do case $word in --output=*) output=${word#--output=};; esac; done
[ -z "$EXPORTED" ] || exec cp "$EXPORTED" "$output"
echo "Failed to open the report" >&2
exit 1
"""


def put(path, what):
    """A file that is no report."""
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a folder":
        path.mkdir()
    elif what == "a device":
        path.symlink_to("/dev/zero")
    elif what == "nothing":
        path.write_bytes(b"")
    elif what == "a recording":
        path.write_bytes((DATA.parents[1] / "corpus" / "calls.nvspan").read_bytes())
    elif what == "a part":
        path.write_bytes((DATA / "nested.ncu-rep").read_bytes()[:3000])
    else:
        path.write_bytes(random.Random(1).randbytes(100_000))


NO_FILES = {"a pipe": "not a regular file", "a device": "not a regular file",
            "a folder": "Is a directory"}  # fmt: skip
WHATS = [*NO_FILES, "nothing", "a recording", "a part", "noise"]


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("more", [[], ["--kernels"]], ids=["ranges", "kernels"])
def test_what_is_no_report_of_ncu(more, what, tmp_path):
    put(tmp_path / "x.ncu-rep", what)
    tool = ncu.recorded(tmp_path)
    done = nvspan_done("ncu", "--read", "x.ncu-rep", *more, cwd=tmp_path, NVSPAN_NCU=tool)
    why = NO_FILES.get(what)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nvspan ncu: " + (
        f"cannot read 'x.ncu-rep': {why}\n"
        if why
        else "ncu cannot read 'x.ncu-rep': Failed to load the report\n"
    )
    assert not os.path.exists(f"{tool}.calls") or not why


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("exported", ["", "noise"])
def test_what_is_no_report_of_nsys(what, exported, tmp_path):
    put(tmp_path / "x.nsys-rep", what)
    put(tmp_path / "noise", "noise")
    script(tmp_path / "nsys", NSYS)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}",
                 "EXPORTED": exported and str(tmp_path / exported)}  # fmt: skip
    done = nvspan_done("stats", "x.nsys-rep", cwd=tmp_path, **variables)
    why = NO_FILES.get(what)
    if not why:
        why = "SQLite cannot read it: file is not a database" if exported else (
            f"{tmp_path}/nsys does not export it: Failed to open the report; take the nsys that "
            "made it, or export it where there is one: nsys export --type=sqlite x.nsys-rep"
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"nvspan stats: cannot read 'x.nsys-rep': {why}\n"


@pytest.mark.parametrize("name", ["nodes.raw", "threads.raw", "sync.raw", "nodes.details"])
def test_a_table_with_any_damage_is_read_or_refused(name):
    whole = (DATA / f"{name}.csv").read_text()
    chance = random.Random(name)
    found = set()
    for _ in range(300):
        text = list(whole)
        for _ in range(chance.choice((1, 3, 30))):
            at = chance.randrange(len(text))
            text[at] = chance.choice(('"', ",", "\n", "\0", ":", "", "1e999", "9" * 5000, "nan",
                                      "\ud800", "==", text[at] * 3))  # fmt: skip
        try:
            result = NcuResult(csv_reader.parse("".join(text), "x.ncu-rep"))
        except ValueError as error:
            found.add(str(error).partition(":")[0])
            continue
        found.add(len(result))
        for shown in (str(result), result._repr_html_(), repr(result)):
            assert isinstance(shown, str)
        result.table(kernels=True, metrics=result.metric_names()[:20])
    assert {each for each in found if isinstance(each, str)} <= {"what ncu prints is no table"}
    assert any(isinstance(each, int) for each in found)


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_pipe_in_the_place_of_a_log_is_waited_for_by_nobody(suffix, tmp_path):
    path = unpacked("2023.4.4", tmp_path)
    whole = list(nvspan.read(path).ranges.rows())
    os.mkfifo(f"{path}{suffix}")
    os.utime(path, ns=(1, 1))  # it is read again
    assert list(nvspan.read(path).ranges.rows()) == whole


def test_no_statement_of_a_database_is_run(tmp_path):
    """SQLite itself copies one of UTF-16: the names of tables and columns, and the values."""
    path = tmp_path / "x?mode=rwc#%41.sqlite"
    columns = 'n integer check (n < 5), "c,d" text default (randomblob(1000))'
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma encoding='UTF-16'")
        connection.execute(f'create table "a""b; --" ({columns})')
        connection.execute('insert into "a""b; --" values (3, ?)', ("größe",))
        connection.commit()
    found = Database(str(path))
    assert found.names() == {'a"b; --': ["n", "c,d"]}
    assert found.rows('a"b; --', ["n"], ["c,d"]) == [([3], ["größe"])]
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


ROW = '"ID","Process ID","Kernel Name","thread Domain:Push/Pop_Range:PL_Type","gpu__time.sum"\n'


def test_a_number_that_is_none_is_left_out():
    text = ROW + '"","","","","ns"\n"1e999","-1e999","k","","nan"\n"0","7","l","","1e999"\n'
    assert [
        (found.number, found.process, found.name, found.metrics)
        for found in csv_reader.parse(text, "x")
    ] == [(0, None, "k", {"gpu__time.sum": "nan"}), (0, 7, "l", {"gpu__time.sum": float("inf")})]


@pytest.mark.parametrize("name", [":" * 65_000, ":ASCII" * 10_000, "a:none:none", "x:ASCII:x",
                                  ":RGB:0xff:ASCII:a" * 4000])  # fmt: skip
def test_names_of_colons_are_found(name):
    cell = f'1  "app:{name}:none:none:RGB:0xff:ASCII:{name}" '
    assert list(csv_reader._texts(cell, has_number=False)) == [("app", name)]
    cell = f'1  "app:{name}:none:none:none:none:none:none" '
    assert list(csv_reader._texts(cell, has_number=False)) == [("app", name)]
    list(csv_reader._texts(f'1  "app:{name}', has_number=False))


def test_names_of_a_report_do_not_become_html_or_escapes(tmp_path):
    name = "<script>alert(1)</script>\x1b[31m&amp;\u202e"
    cell = f'1  ""app:{name}:none:none:RGB:0xff:ASCII:{name}"" '
    text = ROW + f'"","","","","ns"\n"0","7","{name}","{cell}","5"\n'
    result = NcuResult(csv_reader.parse(text, "x.ncu-rep"))
    assert [(row["domain"], row["name"]) for row in result.ranges()] == [("app", name)]
    shown = result._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "&amp;amp;" in shown
    assert "<script" not in shown
    assert "\x1b" not in shown + str(result)


def test_a_report_that_the_tables_of_nvspan_take_is_named_in_them(tmp_path):
    put(tmp_path / "x.ncu-rep", "a part")
    with pytest.raises(
        ValueError, match=r"'.*x\.ncu-rep' is a report of Nsight Compute, which has"
    ):
        nvspan.read(tmp_path / "x.ncu-rep")
    os.unlink(tmp_path / "x.ncu-rep")
    put(tmp_path / "x.ncu-rep", "a pipe")
    with pytest.raises(OSError, match="not a regular file"):
        nvspan.read(tmp_path / "x.ncu-rep")
