# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Traces that are made to fill memory or to take for ever: how far they get, and what is said."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.traced import python
from nvspan._reader import TraceImport
from nvspan.imports import import_file

MB = 1_000_000
EVENT = b'{"ph":"X","ts":1,"dur":2,"name":"a"}'
# Prints what came of a file, and the MB of memory that it took; it may take 60 s of CPU time, which
# is many times what it needs, and far from what it would need if time grew as the square of size.
IMPORT = """
import resource, sys
from nvspan.imports import import_file

def most():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
before = most()
try:
    print("ranges:", import_file("t.json.gz", "t.nvspan").ranges)
except ValueError as error:
    print(error)
print(most() - before >> 10)
"""


def put(folder: Path, *parts: tuple[bytes, int]) -> None:
    """A gzip file of texts, each so often: a member for each MB, packed once."""
    with open(folder / "t.json.gz", "wb") as file:
        for text, count in parts:
            whole, rest = divmod(count * len(text), MB)
            each = gzip.compress(text * (MB // len(text)), 6) if whole else b""
            file.write(each * whole)
            file.write(gzip.compress(text * (rest // len(text)), 6))


def imported(folder: Path) -> tuple[str, int]:
    """What came of the file, and the memory that it took."""
    done = python("-c", IMPORT, cwd=folder, check=True)
    said, memory = done.stdout.splitlines()
    return said, int(memory)


TOO_LARGE = "t.json.gz: it unpacks to more than 200 times its size"
TOO_LONG = "t.json.gz: byte {}: an event or a value of more than 16 MB"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param([(b"[", 1), (b" ", 400 * MB)], TOO_LARGE, id="blanks"),
        pytest.param([(b"[", 1), (b" ", 90 * MB), (EVENT, 1), (b"]", 1)], "ranges: 1",
                     id="fewer blanks"),
        pytest.param([(b"[", 1), (b",", 400 * MB)], TOO_LARGE, id="commas"),
        pytest.param([(b'[{"ph":"X","ts":1,"name":"', 1), (b"x", 500 * MB)], TOO_LONG.format(1),
                     id="a name"),
        pytest.param([(b'[{"ph":"X","ts":1,"name":"', 1), (b"\\u0041", 15 * MB // 6), (b'"}]', 1)],
                     "ranges: 1", id="a name of escapes"),
        pytest.param([(b'[{"ph":"X","ts":', 1), (b" ", 500 * MB)], TOO_LONG.format(1),
                     id="blanks in an event"),
        pytest.param([(b'[{"ph":"X","ts":', 1), (b"1", 500 * MB)], TOO_LONG.format(1),
                     id="a number"),
        pytest.param([(b'[{"ph":"X","ts":1,"args":{"a":', 1), (b"[", 500 * MB)],
                     TOO_LONG.format(1), id="nested lists"),
        pytest.param([(b'{"', 1), (b"k", 500 * MB)], TOO_LONG.format(1), id="a key"),
        pytest.param([(b'{"deviceProperties":', 1), (b"[", 500 * MB)], TOO_LONG.format(1),
                     id="a list of devices"),
        pytest.param([(b'{"notes":"', 1), (b"\\\"", 45 * MB), (b'","traceEvents":[', 1),
                      (EVENT, 1), (b"]}", 1)], "ranges: 1", id="a text that nobody needs"),
        pytest.param([(b'{"notes":[', 1), (b'{"a":"]"},', 9 * MB), (b'1],"traceEvents":[', 1),
                      (EVENT, 1), (b"]}", 1)], "ranges: 1", id="a list that nobody needs"),
    ],
)  # fmt: skip
def test_what_is_too_much_is_said_and_keeps_memory_flat(tmp_path, parts, said):
    put(tmp_path, *parts)
    found, memory = imported(tmp_path)
    assert found == said
    assert memory < 150
    assert sorted(path.name for path in tmp_path.iterdir()) == (
        ["t.json.gz", "t.nvspan"] if said.startswith("ranges") else ["t.json.gz"]
    )


# Some hundred times as long, if each piece were read with all those before it.
@pytest.mark.parametrize(
    ("begin", "fill", "end"),
    [(b"[", b" ", EVENT + b"]"), (b"[", b",\n", EVENT + b"]"),
     (b'{"notes": "', b"x", b'", "traceEvents": [' + EVENT + b"]}"),
     (b'{"notes": [', b"5,", b'5], "traceEvents": [' + EVENT + b"]}")],
)  # fmt: skip
def test_pieces_are_read_once(tmp_path, begin, fill, end):
    trace = TraceImport(os.fsencode(tmp_path / "x.nvspan"))
    trace.feed(begin)
    for _ in range(30_000):
        trace.feed(fill * 100)
    trace.feed(end)
    assert trace.finish(False)["ranges"] == 1


def test_numbers_of_any_size(tmp_path):
    endless = "1e999999999"
    texts = [
        f'{{"ph":"X","ts":1,"dur":2,"name":"a","args":{{"x":{endless},"y":-{endless},'
        f'"z":{"9" * 5000}}}}}',
        f'{{"ph":"X","ts":2,"dur":2,"name":"b","tid":{endless},"pid":-{endless}}}',
        f'{{"ph":"C","ts":3,"name":"c","args":{{"value":{endless},"n":"{endless}"}}}}',
        f'{{"ph":"b","ts":4,"name":"d","id":{endless}}}',
        f'{{"ph":"e","ts":5,"name":"d","id":{endless}}}',
    ]
    head = (
        f'"baseTimeNanoseconds": {endless}, "distributedInfo": {{"rank": {endless}, '
        f'"world_size": {"9" * 30}}}, "deviceProperties": [{{"id": {endless}, "name": "x"}}]'
    )
    (tmp_path / "t.json").write_text(f'{{{head}, "traceEvents": [{",".join(texts)}]}}')
    done = import_file(tmp_path / "t.json", tmp_path / "t.nvspan")
    assert (done.ranges, done.samples, done.damage) == (3, 1, None)
    assert done.left_out == {"counter value that is no number": 1}
    recording = nvspan.read(tmp_path / "t.nvspan")
    assert recording.problems == []
    ranges = [(row["name"], row["start"], row["end"]) for row in recording.ranges.rows()]
    assert sorted(ranges) == [
        ("a", 1000, 3000), ("b", 2000, 4000), ("d", 4000, 5000),
    ]  # fmt: skip
    assert recording.payload_fields(0) == {
        "x": "inf", "y": "-inf", "z": "9" * 5000,
    }  # fmt: skip
    assert [(row["name"], row["value"]) for row in recording.counters.rows()] == [
        ("c", float("inf")),
    ]
    assert [(process.rank, process.world_size) for process in recording.processes] == [
        (None, None), (None, None),
    ]  # fmt: skip
    rows = json.loads(run_nvspan("stats", "--format", "json", tmp_path / "t.json").stdout)["rows"]
    assert sorted(row["name"] for row in rows) == ["a", "b", "d"]
    for words in (["report"], ["export"], ["export", "--format", "csv"], ["stats", "--by",
                  "payload.x"]):  # fmt: skip
        run_nvspan(*words, tmp_path / "t.json", cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"ph":"X","ts":1e999999999}]', "byte 16: ts is no time in microseconds"),
        ('[{"ph":"X","ts":1,"dur":1e999999999}]', "byte 24: dur is no duration in microseconds"),
        ('[{"ph":"X","ts":-1e999999999}]', "byte 16: ts is no time in microseconds"),
        ('[{"ph":"X","ts":' + "9" * 5000 + "}]", "byte 16: ts is no time in microseconds"),
        ('[{"ph":"X","ts":1,"args":{"a":', "byte 30: the file ends within an event or an object"),
    ],
)
def test_times_that_are_too_large_are_named(tmp_path, text, problem):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_file(tmp_path / "t.json", tmp_path / "t.nvspan")
    assert str(raised.value) == f"{tmp_path / 't.json'}: {problem}"
