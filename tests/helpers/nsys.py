# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs under a real Nsight Systems and reads its SQLite export.

nsys is found through NVSPAN_NSYS, an installation prefix with bin/nsys in it, or on PATH.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers.tree import ROOT

DATA = ROOT / "tests" / "data" / "nsight"
KINDS = {33: "category", 34: "mark", 39: "thread", 59: "range", 60: "span", 75: "domain"}
ATTEMPTS = 3  # nsys 2023.4 loses its own agent now and then ("End of file"), and leaves no report
PAYLOADS = ("uint64", "int64", "double", "uint32", "int32", "float")


@dataclass
class Report:
    """What nsys kept of a program: NVTX_EVENTS as lines of text, and the program's output."""

    lines: list[str]
    stdout: str
    status: int
    database: Path


def unpacked(name: str, folder: Path) -> Path:
    """A database of tests/data, as nsys exported it."""
    name = name.removesuffix(".sqlite.xz")
    target = folder / f"{name}.sqlite"
    target.write_bytes(lzma.decompress((DATA / f"{name}.sqlite.xz").read_bytes()))
    return target


@contextlib.contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    """A database, to be changed."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def renumbered(rows: list[dict[str, str]], like: list[dict[str, str]]) -> list[dict[str, str]]:
    """With nsys's ids of ranges, which are its rows, for ours: those of the same place are one."""
    ids = {ours["RangeId"]: theirs["RangeId"] for ours, theirs in zip(rows, like, strict=True)}
    assert len(ids) == len(set(ids.values())) == len(rows)
    return [
        {
            **row,
            "RangeId": ids[row["RangeId"]],
            "ParentId": ids.get(row["ParentId"], row["ParentId"]),
            "RangeStack": ":".join(ids.get(id, id) for id in row["RangeStack"].split(":")),
        }
        for row in rows
    ]


def find() -> Path:
    """The folder of nsys's executables; skips the test where there is none."""
    prefix = os.environ.get("NVSPAN_NSYS")
    if prefix:
        folder = Path(prefix) / "bin"
        if not (folder / "nsys").exists():
            pytest.fail(f"NVSPAN_NSYS={prefix} holds no bin/nsys")
        return folder
    found = shutil.which("nsys")
    if found is None:
        pytest.skip("Nsight Systems is absent: NVSPAN_NSYS is unset and nsys is not on PATH")
    return Path(found).parent


def profile(code: str, folder: Path, *options: str, trace: str = "nvtx") -> Report:
    """Runs `code` under nsys and returns its NVTX events in the order of start.

    `options` are of `nsys profile`, in the form --name=value; `trace` is what it is to trace.
    """
    tools = find()
    script, name = folder / "program.py", folder / "report"
    script.write_text(code)
    wrapper = tools / "nsys-profile-report"
    output = folder / "stdout"
    program = [sys.executable, "-c", _RUN, str(script), str(output)]
    if wrapper.exists():
        traced = [] if trace == "nvtx" else [f"--trace={trace}"]
        command = [str(wrapper), "-o", str(name), "--sqlite", *traced, *options, "--", *program]
    else:
        command = [str(tools / "nsys"), "profile", "-t", trace, "-s", "none", "--cpuctxsw=none"]
        command += ["-f", "true", "-o", str(name), *options, *program]
    database = name.with_suffix(".sqlite")
    for _ in range(ATTEMPTS):
        done = _run(command)
        if wrapper.exists():
            if database.exists():
                break
        elif name.with_suffix(".nsys-rep").exists():
            export = [str(tools / "nsys"), "export", "-t", "sqlite", "-f", "true"]
            export += ["--include-blobs=true", "-o", str(database)]
            export.append(str(name.with_suffix(".nsys-rep")))
            subprocess.run(export, check=True, capture_output=True)
            break
    said = [line for line in (done.stdout + done.stderr).splitlines() if line[-1:] != "%"]
    assert database.exists(), "nsys left no report:\n" + "\n".join(said[-40:])
    return Report(rows(database), output.read_text(), done.returncode, database)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs nsys in a folder of its own for temporary files, where it keeps locks and sockets.

    Runs side by side that share one find each other's agents there, and lose their own. Paths of
    sockets must be short.
    """
    with tempfile.TemporaryDirectory(prefix="n", dir="/tmp", ignore_cleanup_errors=True) as folder:
        return subprocess.run(
            command,
            env={**os.environ, "TMPDIR": folder},
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )


# The program's output goes to a file: nsys writes to the same stdout.
_RUN = """
import os, runpy, sys
script, output = sys.argv[1:3]
sys.stdout = open(output, "w")
sys.argv = [script]
runpy.run_path(script, run_name="__main__")
"""


def rows(database: Path) -> list[str]:
    """Every row of NVTX_EVENTS as text; an export without that table has none."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return _rows(connection)


def _rows(connection: sqlite3.Connection) -> list[str]:
    connection.row_factory = sqlite3.Row
    tables = {name for (name,) in connection.execute("select name from sqlite_master")}
    if "NVTX_EVENTS" not in tables:
        return []
    query = (
        "select NVTX_EVENTS.*, coalesce(text, value) as shown from NVTX_EVENTS"
        " left join StringIds on textId = StringIds.id order by start, end desc, NVTX_EVENTS.rowid"
    )
    events = connection.execute(query).fetchall()
    domains = {row["domainId"]: row["shown"] for row in events if row["eventType"] == 75}
    threads: dict[int, int] = {}
    for row in events:
        if row["globalTid"] is not None:
            threads.setdefault(row["globalTid"], len(threads))
    return [_text(row, events, domains, threads) for row in events]


def _text(
    row: sqlite3.Row, events: list[sqlite3.Row], domains: dict[int, str], threads: dict[int, int]
) -> str:
    kind = KINDS.get(row["eventType"], str(row["eventType"]))
    if kind == "domain":
        return f"domain {row['shown']}"
    words = [kind, f"[{domains.get(row['domainId'], '')}]", repr(row["shown"])]
    if row["category"]:
        words.append(f"category={row['category']}")
    if row["color"] is not None:
        words.append(f"color={row['color'] & 0xFFFFFFFF:08X}")
    values = {name: row[f"{name}Value"] for name in PAYLOADS}
    words += [f"payload={name}:{value}" for name, value in values.items() if value is not None]
    if kind == "range":
        words.append(f"depth={_depth(row, events)}")
    if kind == "span":
        words.append(f"ended_by=t{threads.get(row['endGlobalTid'] or row['globalTid'])}")
    if row["globalTid"] is not None:
        words.append(f"t{threads[row['globalTid']]}")
    return " ".join(words)


def _depth(row: sqlite3.Row, events: list[sqlite3.Row]) -> int:
    """How many push/pop ranges of the same thread and domain hold this one."""
    return sum(
        other["eventType"] == 59
        and other["globalTid"] == row["globalTid"]
        and other["domainId"] == row["domainId"]
        and other["start"] < row["start"]
        and other["end"] >= row["end"]
        for other in events
    )
