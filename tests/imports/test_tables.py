# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan import: CSV and Parquet files with named columns, and our own exports, read back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import nvspan
from helpers.packages import needs
from helpers.reported import recording_of
from helpers.traced import needs_library
from nvspan.export import tables
from nvspan.imports import import_file


def imported(tmp_path: Path, text: str, **options: object) -> nvspan.Recording:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    import_file(tmp_path / "t.csv", tmp_path / "t.nvspan", **options)
    recording = nvspan.read(tmp_path / "t.nvspan")
    assert recording.problems == []
    return recording


def rows(recording: nvspan.Recording, *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in recording.ranges.rows()]


def test_ranges_with_the_fewest_columns(tmp_path):
    recording = imported(tmp_path, 'start,end,name\n1,9,a\n2,3,"b, c"\n5,,d\n\n')
    assert rows(recording, "start", "end", "name", "depth") == [
        (1, 9, "a", 0), (2, 3, "b, c", 1), (5, None, "d", 0),
    ]  # fmt: skip


def test_mapped_columns_units_and_places(tmp_path):
    recording = imported(
        tmp_path,
        "when,DUR,label,worker,node,tid\n"
        "0.000001,0.5,x,w1,n1,4\n1.25,1e-9,y,w2,n1,5\n-1,0.1,x,w1,n2,4\n",
        columns={"start": "when", "process_name": "worker", "process": "worker", "host": "node"},
        unit="s",
    )
    assert sorted(rows(recording, "start", "end", "name")) == [
        (-1_000_000_000, -900_000_000, "x"),
        (1000, 500_001_000, "x"),
        (1_250_000_000, 1_250_000_001, "y"),
    ]
    assert sorted((p["host"], p["command"]) for p in recording.processes) == [
        ("n1", ["w1"]), ("n1", ["w2"]), ("n2", ["w1"]),
    ]  # fmt: skip


def test_marks_and_samples(tmp_path):
    recording = imported(tmp_path, "time,name,domain\n5,a,d\n3,b,d\n")
    assert [(m["time"], m["name"], m["domain"]) for m in recording.marks.rows()] == [
        (3, "b", "d"), (5, "a", "d"),
    ]  # fmt: skip
    recording = imported(
        tmp_path, "timestamp,name,value,unit\n5,load,1.5,%\n6,load,2,%\n7,load,,%\n"
    )
    assert [(c["time"], c["name"], c["value"], c["unit"]) for c in recording.counters.rows()] == [
        (5, "load", 1.5, "%"), (6, "load", 2.0, "%"), (7, "load", None, "%"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n",
         "there is no column of times: ranges need start and end (or duration), marks and samples "
         "need time; there are a, b"),
        ("start,end\n1,x\n", "row 2: end is 'x', not a number"),
        ("start,end\n1,2\n,2\n", "row 3: start is empty"),
        ("start,end\n5,2\n", "row 2: the range ends before it begins, or never"),
        ("start,end\n1,2,3\n", "line 2: 3 fields, where the heading has 2"),
        ("start,end,kind\n1,2,odd\n", "row 2: kind is 'odd', not push_pop, start_end or device"),
        ("start,end,color\n1,2,red\n", "row 2: color is 'red', not an integer"),
        ("start,end\n1,9223372036854775808\n",
         "row 2: end is '9223372036854775808', beyond 64 bits"),
    ],
)  # fmt: skip
def test_damage_names_the_row(tmp_path, text, problem):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_file(tmp_path / "x.csv", tmp_path / "x.nvspan")
    assert str(raised.value) == f"{tmp_path / 'x.csv'}: {problem}"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_partial_takes_what_comes_before(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"start,end\n1,2\n3,4\nx,5\n6,7\n"))
    done = import_file(tmp_path / "x.csv.gz", tmp_path / "x.nvspan", partial=True)
    assert (done.ranges, done.damage) == (
        2, f"{tmp_path / 'x.csv.gz'}: row 4: start is 'x', not a number",
    )  # fmt: skip
    assert len(nvspan.read(tmp_path / "x.nvspan").ranges) == 2
    with pytest.raises(ValueError, match="there is no column 'odd' to map"):
        import_file(tmp_path / "x.csv.gz", tmp_path / "y.nvspan", columns={"odd": "start"})
    with pytest.raises(ValueError, match="there is no column 'no'; there are start, end"):
        import_file(tmp_path / "x.csv.gz", tmp_path / "y.nvspan", columns={"start": "no"})


@needs_library
@pytest.mark.parametrize("format", ["csv", pytest.param("parquet", marks=needs("pyarrow"))])
def test_our_own_exports_read_back(tmp_path, format):
    recording = nvspan.read(recording_of())
    path = tmp_path / f"x.{format}"
    if format == "csv":
        paths = tables.write_csv(recording, path)
    else:
        paths = tables.write_parquet(recording, path)
    import_file(path, tmp_path / "x.nvspan")
    back = nvspan.read(tmp_path / "x.nvspan")

    def essence(of: nvspan.Recording) -> list[tuple[object, ...]]:
        made = []
        for row in of.ranges.rows():
            kept = [row[name] or None for name in ("domain", "name", "category_name", "color")]
            end = row["end"] if row["end_reason"] == 0 else None
            scalar = row["payload_type"] if row["payload_type"] in range(1, 7) else 0
            value = row["payload_value"] if scalar else None
            made.append((row["start"], end, row["kind"], row["depth"], row["category"],
                         scalar, value, *kept))  # fmt: skip
        return sorted(made, key=repr)

    assert essence(back) == essence(recording)
    tids = sorted(t["tid"] for t in recording.threads.rows())
    assert {t["tid"] for t in back.threads.rows()} <= set(tids)
    if len(paths) > 1:
        import_file(paths[1], tmp_path / "m.nvspan")
        marks = nvspan.read(tmp_path / "m.nvspan").marks
        assert sorted(marks["time"]) == sorted(recording.marks["time"])
