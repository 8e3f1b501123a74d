# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""SQLite, Parquet and CSV of a recording, read back; and the tables of a real Nsight Systems."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
from contextlib import closing

import pytest

import nvspan
from helpers import nsys, perfetto_trace
from helpers.compile import build
from helpers.packages import needs
from helpers.recorded import record_command
from helpers.reported import PROGRAM, recording_of, run_nvspan
from helpers.traced import needs_library, python
from helpers.tree import ROOT
from nvspan.export import tables
from nvspan.nsight import sqlite

pytestmark = needs_library

# As nsys 2023.4 exports it.
NVTX_EVENTS = ["start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid",
               "endGlobalTid", "textId", "domainId", "uint64Value", "int64Value", "doubleValue",
               "uint32Value", "int32Value", "floatValue", "jsonTextId", "jsonText"]  # fmt: skip


@pytest.fixture
def database(tmp_path):
    def made(code=None):
        path = tmp_path / "out.sqlite"
        run_nvspan("export", recording_of() if code is None else recording_of(code),
                   "--format", "sqlite", "-o", path)  # fmt: skip
        return path

    return made


def test_the_database_has_the_columns_of_nsys(database):
    with closing(sqlite3.connect(database())) as connection:
        columns = [row[1] for row in connection.execute("pragma table_info(NVTX_EVENTS)")]
        assert columns == NVTX_EVENTS
        kinds = dict(connection.execute("select id, name from ENUM_NSYS_EVENT_TYPE"))
        counts = dict(
            connection.execute("select eventType, count(*) from NVTX_EVENTS group by eventType")
        )
    assert kinds[59] == "NvtxPushPopRange"
    assert counts == {33: 1, 34: 8, 39: 3, 59: 17, 60: 3, 75: 1}


def test_the_rows_are_what_the_program_did(database):
    recording = nvspan.read(recording_of())
    origin = recording.processes[0].start
    threads = list(recording.threads.rows())
    ids = [1 << 48 | row["pid"] << 24 | row["tid"] for row in threads]
    query = (
        "select start, end, eventType, coalesce(text, value), globalTid, endGlobalTid, domainId,"
        " int64Value, doubleValue, color from NVTX_EVENTS left join StringIds on textId = id"
        " where eventType in (59, 60) order by NVTX_EVENTS.rowid"
    )
    with closing(sqlite3.connect(database())) as connection:
        rows = connection.execute(query).fetchall()
        domain = dict(connection.execute(
            "select domainId, text from NVTX_EVENTS where eventType = 75"
        ))  # fmt: skip
    expected = []
    for row in recording.ranges.rows():
        color = row["color"]
        value = row["payload_value"]
        expected.append((
            row["start"] - origin, None if row["end"] is None else row["end"] - origin,
            (59, 60)[row["kind"]], row["name"], ids[row["thread"]],
            ids[row["end_thread"]] if row["end_thread"] != row["thread"] else None,
            row["domain"], value if row["payload_type"] == 2 else None,
            value if row["payload_type"] == 3 else None,
            color - (1 << 32) if color >> 31 else color,
        ))  # fmt: skip
    assert [(*row[:6], domain.get(row[6]), *row[7:]) for row in rows] == expected


def nsys_table(tools, path):
    done = subprocess.run(
        [str(tools / "nsys"), "stats", "-q", "-r", "nvtx_sum", "--format", "csv", str(path)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return list(csv.DictReader(io.StringIO(done.stdout)))


def our_table(path):
    shown = run_nvspan("stats", "--compat", "nsys", "--format", "csv", path).stdout
    return list(csv.DictReader(io.StringIO(shown)))


@pytest.mark.nsys
def test_nsys_reads_our_database_and_finds_our_numbers(database):
    tools = nsys.find()
    theirs = nsys_table(tools, database(PROGRAM))
    ours = our_table(recording_of(PROGRAM))
    assert [list(row) for row in ours] == [list(row) for row in theirs]
    key = lambda row: row["Range"]  # noqa: E731
    for mine, other in zip(sorted(ours, key=key), sorted(theirs, key=key), strict=True):
        spread = float(mine.pop("StdDev (ns)")), float(other.pop("StdDev (ns)"))
        assert spread[0] == pytest.approx(spread[1], abs=0.11, rel=1e-6)
        assert mine == other


@pytest.mark.nsys
def test_the_same_program_under_nsys_gives_the_same_table(tmp_path):
    tools = nsys.find()
    nsys.profile(PROGRAM, tmp_path)
    theirs = nsys_table(tools, tmp_path / "report.sqlite")
    ours = our_table(recording_of(PROGRAM))
    columns = ("Range", "Style", "Instances")
    assert sorted(tuple(row[c] for c in columns) for row in ours) == sorted(
        tuple(row[c] for c in columns) for row in theirs
    )
    # The sleep of 0.2 ms is in both; the rest is the machine's noise.
    for row in [*ours, *theirs]:
        if row["Range"] == "inner":
            assert float(row["Min (ns)"]) >= 200_000


@pytest.mark.nsys
def test_the_same_program_under_nsys_gives_the_same_rows(tmp_path, database):
    theirs = nsys.profile(PROGRAM, tmp_path).lines
    ours = nsys.rows(database(PROGRAM))

    def essence(lines):
        return sorted(line for line in lines if line.split()[0] != "thread")

    def without_threads(lines):
        # nsys and we number threads by their first row, which starts differ about; nsys now and
        # then has none of a thread that only ends a range.
        found = []
        for line in essence(lines):
            own = line.rpartition(" ")[2]
            found.append(" ".join(
                ("ended_by=itself" if w == f"ended_by={own}" else "ended_by=another")
                if w.startswith("ended_by=") else w
                for w in line.split() if not re.fullmatch(r"t\d+", w)
            ))  # fmt: skip
        return sorted(found)

    assert without_threads(ours) == without_threads(theirs)


@needs("perfetto", "pyarrow")
@pytest.mark.parametrize("name", ["every_core_call", "every_extension_call"])
def test_every_call_of_nvtx_can_be_exported(name, tmp_path):
    source = ROOT / "tests" / "programs" / f"{name}.cpp"
    program = build(source, f"-I{source.parent / 'stubs'}")
    made = record_command([str(program)], folder=tmp_path)
    ranges, marks = made.recording.ranges, made.recording.marks
    for form in ("perfetto", "sqlite", "csv", "parquet"):
        run_nvspan("export", *made.files, "--format", form, "-o", tmp_path / f"out.{form}")
    trace = perfetto_trace.read(tmp_path / "out.perfetto")
    assert len(trace.slices) == len(ranges)
    assert len(trace.instants) == len(marks)
    samples = [row for row in made.recording.counters.rows() if row["value"] is not None]
    assert sorted(
        (path[-1].split(":")[-1], time, value) for path, time, value in trace.counters
    ) == (sorted((row["name"], row["time"], row["value"]) for row in samples))
    with closing(sqlite3.connect(tmp_path / "out.sqlite")) as connection:
        rows = connection.execute(
            "select eventType, uint64Value, int64Value, doubleValue, uint32Value, int32Value,"
            " floatValue, jsonText from NVTX_EVENTS where eventType in (34, 59, 60)"
            " order by rowid"
        ).fetchall()
    assert len(rows) == len(ranges) + len(marks)
    expected = [*ranges.rows(), *marks.rows()]
    for at, (row, want) in enumerate(zip(rows, expected, strict=True)):
        kind = want["payload_type"]
        filled = [i for i, value in enumerate(row[1:], 1) if value is not None]
        assert filled == ([kind] if kind and want["payload_value"] == want["payload_value"] else [])
        if kind == 7:
            table, index = ("ranges", at) if at < len(ranges) else ("marks", at - len(ranges))
            pieces = made.recording.payload(index, table)
            fields = made.recording.payload_fields(index, table)
            if fields is not None:
                assert json.loads(row[7]) == fields
                continue
            assert [piece["hex"] for piece in json.loads(row[7])] == [p[2].hex() for p in pieces]
        elif kind == 1:
            assert row[1] % 2**64 == want["payload"]
        elif filled:  # SQLite has no NaN
            assert row[kind] == pytest.approx(want["payload_value"], nan_ok=True)
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(ranges)


def test_an_export_replaces_the_file_when_it_is_whole(tmp_path):
    path = tmp_path / "out.sqlite"
    path.write_text("old")
    run_nvspan("export", recording_of(), "--format", "sqlite", "-o", path)
    assert path.read_bytes()[:6] == b"SQLite"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.sqlite"]
    below_a_file = path / "out.sqlite"
    done = run_nvspan("export", recording_of(), "--format", "sqlite", "-o", below_a_file, check=1)
    assert done.stderr.count("\n") == 1


def test_csv_has_every_row(tmp_path):
    out = tmp_path / "out.csv"
    done = run_nvspan("export", recording_of(), "--format", "csv", "-o", out)
    assert done.stdout.splitlines() == [str(out), str(tmp_path / "out.marks.csv")]
    recording = nvspan.read(recording_of())
    with open(out, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = list(recording.ranges.rows())
    assert len(rows) == len(expected)
    for row, want in zip(rows, expected, strict=True):
        assert row["name"] == want["name"]
        assert row["domain"] == (want["domain"] or "")
        assert row["start"] == str(want["start"])
        assert row["end"] == ("" if want["end"] is None else str(want["end"]))
        assert row["kind"] == ("push_pop", "start_end")[want["kind"]]
    assert {row["pid"] for row in rows} == {str(recording.processes[0].pid)}
    with open(tmp_path / "out.marks.csv", encoding="utf-8", newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["tick"] * 8


TEXTS = """
import math
import nvspan
names = ["plain", "a,b", 'say "x"', "two\\nlines", "carriage\\rreturn", "", " space ", "é 😀",
         "tab\\t", "'", "bad \\udcff\\udce2 bytes", '"']
for name in names:
    with nvspan.annotate(name, domain=name or "empty", category=name or None):
        pass
values = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e15, 1e16, 1.5e16, 123456789012345680.0, 1e-4, 1e-5,
          1.25e-7, 5e-324, 1.7976931348623157e308, 1e100, 2.5, 1234.5678, math.inf, -math.inf,
          math.nan, 0.30000000000000004, 100.0, 9007199254740993.0, 12345678.9]
for value in values:
    nvspan.mark("value", payload=value)
for value in (0, 1, -1, 2**63 - 1, -(2**63)):
    nvspan.mark("whole", payload=value, color=value & 0xFFFFFFFF)
"""


def written_by_python(table, recording, words):
    """The table as Python's csv module writes it; with "\\r\\n" it quotes either of these."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*table.names, "pid", "tid"])
    threads = list(recording.threads.rows())
    for row in table.rows():
        of = threads[row["thread"]]
        cells = [words[key][value] if key in words else "" if value is None else value
                 for key, value in row.items()]  # fmt: skip
        writer.writerow([*cells, of["pid"], of["tid"]])
    return out.getvalue().replace("\r\n", "\n").encode("utf-8", "backslashreplace")


@pytest.mark.parametrize("code", [TEXTS, PROGRAM], ids=["texts", "program"])
def test_csv_is_what_python_would_write(code, tmp_path):
    recording = nvspan.read(recording_of(code))
    assert len(recording.ranges) > 0
    made = tables.write_csv(recording, tmp_path / "out.csv")
    words = {"kind": tables.KINDS, "end_reason": tables.END_REASONS,
             "payload_type": tables.PAYLOADS}  # fmt: skip
    for name, path in zip(("ranges", "marks"), made, strict=True):
        expected = written_by_python(getattr(recording, name), recording, words)
        assert (tmp_path / path).read_bytes() == expected


# A batch is 65,536 rows, a statement some dozens of them.
@pytest.mark.parametrize("count", [1, 2, 399, 65_536, 65_537])
def test_the_database_has_each_row_once(count, tmp_path):
    recording = nvspan.read(recording_of(
        f"import nvspan\nr = nvspan.annotate('r')\nfor i in range({count}):\n  with r: pass\n"
    ))  # fmt: skip
    sqlite.write(recording, tmp_path / "out.sqlite")
    with closing(sqlite3.connect(tmp_path / "out.sqlite")) as connection:
        rows = connection.execute(
            "select * from NVTX_EVENTS where eventType = 59 order by rowid"
        ).fetchall()
    name = recording.strings.index("r")
    (tid,) = {row[7] for row in rows}
    origin = recording.processes[0].start
    assert rows == [
        (start - origin, end - origin, 59, None, None, 255, None, tid, None, name, 0, *[None] * 8)
        for start, end in zip(recording.ranges["start"], recording.ranges["end"], strict=True)
    ]


@needs("pyarrow")
def test_parquet_has_every_row_in_the_order_of_time(tmp_path):
    import pyarrow
    from pyarrow import parquet

    out = tmp_path / "out.parquet"
    run_nvspan("export", recording_of(), "--format", "parquet", "-o", out)
    table = parquet.read_table(out)
    expected = pyarrow.table(nvspan.read(recording_of()).ranges)
    assert table.drop_columns(["pid", "tid", "rank"]).to_pylist() == expected.to_pylist()
    keys = list(zip(*(table.column(c).to_pylist() for c in ("process", "thread", "start")),
                    strict=True))  # fmt: skip
    assert keys == sorted(keys)
    group = parquet.ParquetFile(out).metadata.row_group(0)
    names = [table.schema.names[column.column_index] for column in group.sorting_columns]
    assert names == ["process", "thread", "start"]
    assert parquet.read_table(tmp_path / "out.marks.parquet").num_rows == 8


def test_without_pyarrow_it_says_how_to_get_it(tmp_path):
    block = (
        "import sys; sys.modules['pyarrow'] = None; from nvspan.cli import main; main(sys.argv[1:])"
    )
    parquet = ("--format", "parquet", "-o", tmp_path / "x.parquet")
    done = python("-c", block, "export", recording_of(), *parquet)
    assert done.returncode == 1
    assert done.stderr == ("nvspan export: parquet needs pyarrow: pip install 'nvspan[parquet]'\n")
