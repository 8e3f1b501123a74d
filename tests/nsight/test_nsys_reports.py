# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems as recordings: what they hold, and the tables that nsys printed."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import nvspan
from helpers import nsys
from helpers.nsys import DATA, renumbered, unpacked
from helpers.script import script
from nvspan.nsight import sqlite
from nvspan.nsight.nsys import compat

GPU_TABLES = ("nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_gpu_proj_trace", "nvtx_kern_sum")
CASES = {
    "2022.4.2": ("nvtx_sum",),
    "2023.4.4": ("nvtx_sum",),
    "2025.3.2-nodes": GPU_TABLES,
    "2025.3.2-whole": GPU_TABLES,
}
FILES = [f"{case}.sqlite.xz" for case in CASES]


def printed(case: str, table: str) -> list[dict[str, str]]:
    """The rows that nsys printed."""
    with tarfile.open(DATA / "tables.tar.xz") as archive:
        found = archive.extractfile(f"./{case}.{table}.csv")
        assert found is not None
        return list(csv.DictReader(io.StringIO(found.read().decode())))


def as_printed(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


@pytest.mark.parametrize(
    ("case", "file", "table"),
    [(case, f"{case}.sqlite.xz", table) for case, tables in CASES.items() for table in tables],
)
def test_tables_are_those_that_nsys_printed(
    case: str, file: str, table: str, tmp_path: Path
) -> None:
    recording = nvspan.read(unpacked(file, tmp_path))
    columns, rows_of, _ = compat.REPORTS[table]
    rows, theirs = as_printed(rows_of(recording)), printed(case, table)
    if table == "nvtx_gpu_proj_trace":
        rows = renumbered(rows, theirs)
    assert rows == theirs
    assert list(theirs[0]) == list(columns)
    assert recording.processes[0].tool.startswith(f"Nsight Systems {case[:8]}")
    assert recording.problems == []


@pytest.mark.parametrize("version", ["2022.4.2", "2023.4.4"])
def test_every_field_of_ranges_and_marks(version: str, tmp_path: Path) -> None:
    path = unpacked(version, tmp_path)
    recording = nvspan.read(path)
    with closing(sqlite3.connect(path)) as connection:
        events = connection.execute(
            "select start, end, eventType, coalesce(text, value), domainId, category, color,"
            " uint64Value, int64Value, doubleValue, globalTid, endGlobalTid from NVTX_EVENTS"
            " left join StringIds on id = textId order by start"
        ).fetchall()
        (last,) = connection.execute("select duration from ANALYSIS_DETAILS").fetchone()
    domains = {event[4]: event[3] for event in events if event[2] == 75}
    categories = {(event[4], event[5]): event[3] for event in events if event[2] == 33}
    threads = {event[10] & 0xFFFFFF: event[3] for event in events if event[2] == 39}

    def payload(event: tuple[Any, ...]) -> Any:
        if event[7] is not None:
            return event[7] & (1 << 64) - 1
        return event[8] if event[8] is not None else event[9]

    def common(event: tuple[Any, ...]) -> tuple[Any, ...]:
        category = event[5] or 0
        color = None if event[6] is None else event[6] & 0xFFFFFFFF
        return (event[3], domains.get(event[4]), category, categories.get((event[4], category)),
                color, payload(event), event[10] & 0xFFFFFF)  # fmt: skip

    expected_ranges = sorted(
        (event[0], None if event[1] == last else event[1], event[2] == 60,
         (event[11] or event[10]) & 0xFFFFFF, *common(event))
        for event in events if event[2] in (59, 60)
    )  # fmt: skip
    tids = recording.threads["tid"]
    found = []
    for row in recording.ranges.rows():
        ended = row["end_reason"] == 0
        found.append((
            row["start"], row["end"] if ended else None, row["kind"] == 1,
            tids[row["end_thread"]], row["name"], row["domain"], row["category"],
            row["category_name"], row["color"], value_of(row), tids[row["thread"]],
        ))  # fmt: skip
    assert sorted(found, key=lambda row: row[0]) == expected_ranges
    marks = [
        (row["time"], row["name"], row["domain"], row["category"], row["category_name"],
         row["color"], value_of(row), tids[row["thread"]])
        for row in recording.marks.rows()
    ]  # fmt: skip
    assert sorted(marks) == sorted((e[0], *common(e)) for e in events if e[2] == 34)
    assert dict(zip(tids, recording.threads.text("name"), strict=True)) == threads


@pytest.mark.parametrize("file", FILES)
def test_blocks_of_any_size_give_the_same_recording(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked(file, tmp_path)
    whole = everything(nvspan.read(path))
    monkeypatch.setattr("nvspan.nsight.nsys.tables._BLOCK", 3)
    os.utime(path)
    assert everything(nvspan.read(path)) == whole


def test_events_of_text_files_are_those_of_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked("2023.4.4", tmp_path)
    sent = everything(nvspan.read(path))
    types = {"NvtxCategory": 64, "NvtxMark": 65, "NvtxPushPopRange": 70, "NvtxStartEndRange": 71}
    with nsys.edited(path) as connection:
        for name, number in types.items():
            of_text = name.replace("Nvtx", "Nvtxt")
            ids = connection.execute(
                "select id from ENUM_NSYS_EVENT_TYPE where name in (?, ?) order by id",
                (name, of_text),
            ).fetchall()
            assert ids[1] == (number,)
            connection.execute("update NVTX_EVENTS set eventType = ? where eventType = ?",
                               (number, *ids[0]))  # fmt: skip
    assert everything(nvspan.read(path)) == sent
    assert len(sent["ranges"]) > 20


def test_names_may_come_after_what_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked("2023.4.4", tmp_path)
    first = everything(nvspan.read(path))
    with nsys.edited(path) as connection:
        connection.execute("create table moved as select * from NVTX_EVENTS order by"
                           " eventType in (33, 39, 75), eventType = 75")  # fmt: skip
        connection.execute("delete from NVTX_EVENTS")
        connection.execute("insert into NVTX_EVENTS select * from moved")
    monkeypatch.setattr("nvspan.nsight.nsys.tables._BLOCK", 5)
    last = everything(nvspan.read(path))
    # Domains and threads are in the order in which they are met.
    for table in ("ranges", "marks"):
        assert by_time(last[table]) == by_time(first[table])
    assert sorted(last["threads"]) == sorted(first["threads"])


@pytest.mark.parametrize("file", FILES[2:])
def test_work_is_launched_within_a_range(file: str, tmp_path: Path) -> None:
    recording = nvspan.read(unpacked(file, tmp_path))
    rows = list(recording.ranges.rows())
    calls = {row["payload"]: row for row in rows if row["domain"] == "CUDA API"}
    with closing(sqlite3.connect(unpacked(file, tmp_path))) as connection:
        work = connection.execute(
            "select start, correlationId from CUPTI_ACTIVITY_KIND_KERNEL"
            " union all select start, correlationId from CUPTI_ACTIVITY_KIND_MEMCPY"
        ).fetchall()
    expected = {}
    for start, correlation in work:
        call = calls[correlation]
        around = [
            row for row in rows
            if row["kind"] == 0 and row["thread"] == call["thread"]
            and row["start"] <= call["start"] and (row["end"] is None or call["start"] < row["end"])
        ]  # fmt: skip
        within = max(((row["start"], row["depth"], row["name"]) for row in around), default=[None])
        expected[start] = within[-1]
    found = {
        row["start"]: None if row["launcher"] is None else rows[row["launcher"]]["name"]
        for row in rows
        if row["category_name"] in ("kernel", "copy")
    }
    assert found == expected
    assert {"forward", "copy in", "replay"} <= set(found.values())


def everything(recording: nvspan.Recording) -> dict[str, Any]:
    """All that the recording has."""
    threads = recording.threads
    return {
        "ranges": list(recording.ranges.rows()), "marks": list(recording.marks.rows()),
        "threads": list(zip(threads["tid"].tolist(), threads.text("name"), strict=True)),
        "problems": recording.problems,
    }  # fmt: skip


def by_time(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows without the numbers that they refer to others by."""
    left_out = ("thread", "end_thread", "range_id", "parent", "launcher")
    return sorted(
        (row.get("start", row.get("time")), repr({k: row[k] for k in row if k not in left_out}))
        for row in rows
    )


def value_of(row: dict[str, Any]) -> Any:
    """A payload as the number that it is."""
    forms = {1: "Q", 2: "q", 3: "d", 4: "I", 5: "i", 6: "f"}
    if row["payload_type"] not in forms:
        return None
    bits = struct.pack("<Q", row["payload"])
    return struct.unpack_from("<" + forms[row["payload_type"]], bits)[0]


def test_a_report_is_exported_by_the_nsys_that_is_there(tmp_path: Path) -> None:
    done = nsys.profile((DATA / "every_kind.py").read_text(), tmp_path)
    report = tmp_path / "report.nsys-rep"
    done.database.rename(tmp_path / "kept")
    of_report = nvspan.read(report)
    beside = tmp_path / "report.sqlite"
    exported = beside.stat().st_mtime_ns
    assert list(nvspan.read(report).marks.rows()) == list(of_report.marks.rows())
    assert beside.stat().st_mtime_ns == exported
    of_database = nvspan.read((tmp_path / "kept").rename(tmp_path / "other.sqlite"))
    for table in ("ranges", "marks"):
        rows = [list(getattr(of, table).rows()) for of in (of_report, of_database)]
        assert rows[0] == rows[1]
        assert rows[0] != []
    names = {row.name for row in of_report.stats().rows}
    assert {"step", "load", "across threads", "größe ☃", "never ended"} <= names
    assert repr(of_report) == f"<nvspan Recording of {report}>"


EXPORTS = """#!/bin/sh
for word; do case $word in --output=*) cp "$EXPORTED" "${word#--output=}"; esac; done
"""


@pytest.mark.parametrize("beside", ["nothing", "a file"])
def test_the_export_stays_beside_the_report(
    beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPORTED", str(unpacked("2023.4.4", tmp_path)))
    tool = script(tmp_path / "nsys", EXPORTS)
    monkeypatch.setattr("nvspan.nsight.nsys.read.find_tool", lambda command: tool)
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "run.nsys-rep").write_bytes(b"a report")
    if beside == "a file":
        (folder / "run.sqlite").write_text("of somebody")
    assert len(nvspan.read(folder / "run.nsys-rep").ranges) > 0
    found = {path.name: path.read_bytes()[:5] for path in folder.iterdir()}
    assert found == {
        "run.nsys-rep": b"a rep",
        "run.sqlite": b"SQLit" if beside == "nothing" else b"of so",
    }


def test_a_report_that_nothing_exports_says_what_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "run.nsys-rep"
    report.write_bytes(b"no report")
    monkeypatch.setattr("nvspan.nsight.nsys.read.find_tool", lambda command: None)
    with pytest.raises(ValueError, match=r"needs Nsight Systems \(nsys\), or export it where"):
        nvspan.read(report)
    failing = "#!/bin/sh\necho the file is of a newer version >&2\nexit 1\n"
    tool = script(tmp_path / "nsys", failing)
    monkeypatch.setattr("nvspan.nsight.nsys.read.find_tool", lambda command: tool)
    with pytest.raises(ValueError, match=r"does not export it: the file is of a newer version"):
        nvspan.read(report)
    with pytest.raises(FileNotFoundError):
        nvspan.read(tmp_path / "none.nsys-rep")


def test_a_report_that_changes_is_read_again(tmp_path: Path) -> None:
    path = unpacked("2023.4.4", tmp_path)
    count = len(nvspan.read(path).ranges)
    assert len(nvspan.read(path).ranges) == count
    with nsys.edited(path) as connection:
        connection.execute("delete from NVTX_EVENTS where eventType = 60")
    assert len(nvspan.read(path).ranges) == count - 3
    assert [path.name for path in tmp_path.iterdir()] == ["2023.4.4.sqlite"]


def test_a_database_with_a_log_beside_it_is_read_whole(tmp_path: Path) -> None:
    path = unpacked("2023.4.4", tmp_path)
    whole = nvspan.read(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma wal_autocheckpoint = 0")
        connection.execute("delete from NVTX_EVENTS where eventType = 60")
        connection.commit()
        assert Path(f"{path}-wal").stat().st_size > 0
        assert len(nvspan.read(path).ranges) == len(whole.ranges) - 3


@pytest.mark.parametrize("size", [0, 50, 100, 4096, 8192, 20000])
def test_a_database_that_was_cut_is_refused(size: int, tmp_path: Path) -> None:
    path = unpacked("2023.4.4", tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"2023.*sqlite.*(cut|damaged|database|recording|export)"):
        nvspan.read(path)


def test_a_report_of_nsight_compute_has_no_timeline(tmp_path: Path) -> None:
    report = str(DATA / "nested.ncu-rep")
    with pytest.raises(ValueError, match=r"nested.ncu-rep' is a report of Nsight Compute"):
        nvspan.read(report)
    with pytest.raises(FileNotFoundError):
        nvspan.read(tmp_path / "none.ncu-rep")


def test_an_export_of_ours_beside_a_report_is_not_taken_for_that_of_nsys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = unpacked("2023.4.4", tmp_path)
    report = tmp_path / "run.nsys-rep"
    report.write_bytes(b"a report")
    beside = database.rename(tmp_path / "run.sqlite")
    os.utime(beside)
    count = len(nvspan.read(report).ranges)  # what nsys put beside it is taken
    sqlite.write(nvspan.read(beside), str(tmp_path / "ours"))
    os.replace(tmp_path / "ours", beside)
    report.write_bytes(b"another report")
    os.utime(beside)
    monkeypatch.setattr("nvspan.nsight.nsys.read.find_tool", lambda command: None)
    with pytest.raises(ValueError, match="needs Nsight Systems"):
        nvspan.read(report)
    assert count > 0


def test_the_sqlite_export_of_a_report_leaves_that_of_nsys_alone(tmp_path: Path) -> None:
    beside = unpacked("2023.4.4", tmp_path).rename(tmp_path / "run.sqlite")
    (tmp_path / "run.nsys-rep").write_bytes(b"a report")
    os.utime(beside)
    before = beside.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "export", "--format", "sqlite", "run.nsys-rep"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "run.nvspan.sqlite\n"
    assert beside.read_bytes() == before
    with closing(sqlite3.connect(tmp_path / "run.nvspan.sqlite")) as connection:
        assert connection.execute("select count(*) from NVTX_EVENTS").fetchone() > (0,)


def test_damage_anywhere_is_refused_or_read(tmp_path: Path) -> None:
    path = unpacked("2023.4.4", tmp_path)
    whole = path.read_bytes()
    refused = 0
    for at in range(100, len(whole), 613):
        bytes_ = bytearray(whole)
        bytes_[at] ^= 0xFF
        bytes_[(at * 7) % len(whole)] ^= 0x55
        path.write_bytes(bytes_)
        try:
            nvspan.read(path).stats()
        except (ValueError, OSError):
            refused += 1
    assert refused > 0


def test_other_databases_are_no_reports(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with nsys.edited(path) as connection:
        connection.execute("create table t (a)")
    with pytest.raises(ValueError, match="no export of Nsight Systems"):
        nvspan.read(path)
    nvspan_file = shutil.copy(unpacked("2023.4.4", tmp_path), tmp_path / "x.sqlite")
    with nsys.edited(nvspan_file) as connection:
        connection.execute("create table NVSPAN_LOSSES (a)")
    with pytest.raises(ValueError, match="nvspan exported it"):
        nvspan.read(nvspan_file)


def run(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


OWN = {"", "train", "io"}  # domains


def test_the_commands_take_reports(tmp_path: Path) -> None:
    path = unpacked("2025.3.2-nodes", tmp_path)
    lines = run("stats", path, "--format", "csv").splitlines()
    names = {(row["domain"], row["name"]) for row in csv.DictReader(lines)}
    assert ("train", "forward") in names
    assert {domain for domain, _ in names} == OWN
    lines = run("stats", path, "--cuda", "--format", "csv").splitlines()
    names = {(row["domain"], row["name"]) for row in csv.DictReader(lines)}
    assert ("CUDA", "[CUDA memcpy Host-to-Device]") in names
    assert ("CUDA API", "cudaGraphLaunch_v10000") in names
    table = run("stats", path, "--gpu", "--top", "3").splitlines()
    assert table[0].split()[:3] == ["calls", "GPU", "ops"]
    assert [line.split()[-1] for line in table[1:4]] == ["ascii", "train:step", "train:forward"]
    printed_rows = csv.DictReader(
        run("stats", path, "--gpu", "--compat", "nsys", "--format", "csv").splitlines()
    )
    assert list(printed_rows) == printed("2025.3.2-nodes", "nvtx_gpu_proj_sum")
    page = tmp_path / "page.html"
    run("report", path, "-o", page)
    assert "train:forward" in page.read_text() or "forward" in page.read_text()
    run("export", path, "--format", "perfetto", "-o", tmp_path / "x.pftrace")
    assert (tmp_path / "x.pftrace").stat().st_size > 10_000
    other = unpacked("2025.3.2-whole", tmp_path)
    for words, domains in (([], OWN), (["--cuda"], {*OWN, "CUDA", "CUDA API"})):
        lines = run("diff", path, other, "--format", "csv", *words).splitlines()
        assert {row["domain"] for row in csv.DictReader(lines)} == domains
