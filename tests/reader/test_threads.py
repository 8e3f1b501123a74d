# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One `Recording`, its tables and parts of it, read by many threads at once."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path

import pytest

import nvspan
from helpers.length import length
from helpers.reported import recording_of
from nvspan.export import perfetto, tables
from nvspan.report import page
from nvspan.report.page.data import timeline
from nvspan.report.summary import Summary, call_tree

CORPUS = sorted((Path(__file__).parent.parent / "corpus").glob("*.nvspan"))
# Payloads of which texts and lists become strings of the recording when they are asked for.
PAYLOADS = """
import threading
import nvspan

def work(n):
    for i in range(100):
        with nvspan.annotate("step", payload={"step": i, "text": f"{n}.{i}", "list": [n, i]}):
            nvspan.mark("tick", payload={"at": f"mark {n}.{i}", "mixed": i if i % 2 else "odd"})

threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
TABLES = ("ranges", "marks", "counters", "threads", "domains", "losses")
GROUPS = ("name", "thread", "process", "category", "payload", "device", "stream", "payload.step")
THREADS = length(8, 4)
ROUNDS = 1


def _column(table, name):
    """The values of a column; texts and not their numbers, which depend on who asked first."""
    try:
        return table.text(name)
    except TypeError:
        return [repr(value) for value in table[name]]


def _tables(recording):
    made = {}
    for name in TABLES:
        table = getattr(recording, name)
        made[name] = {c: (_column(table, c), table.nulls(c)) for c in table.names}
        made[f"rows of {name}"] = [repr(row) for row in table.rows()]
        made[f"len of {name}"] = len(table)
        for capsule in (*table.__arrow_c_array__(), table.__arrow_c_schema__()):
            assert "arrow" in repr(capsule)
        table.__arrow_c_stream__()
        repr(table)
    return made


def _payloads(recording):
    return [
        (recording.payload(row, name), recording.payload_fields(row, name))
        for name in ("ranges", "marks")
        for row in range(min(len(getattr(recording, name)), 200))
    ]


def _stats(recording):
    made = {}
    for by in GROUPS:
        stats = recording.stats(by)
        made[by] = repr([sorted(map(repr, stats.rows)), stats.losses, stats.lost, stats.marks])
    return made


def _exports(folder):
    def write(recording):
        where = folder / f"{threading.get_ident()}"
        where.mkdir(exist_ok=True)
        perfetto.write(recording, where / "a.pftrace")
        files = tables.write_csv(recording, where / "a.csv")
        return [Path(file).read_bytes() for file in [where / "a.pftrace", *files]]

    return write


def _readings(folder):
    return {
        "tables": _tables,
        "payloads": _payloads,
        "stats": _stats,
        "exports": _exports(folder),
        "calls": lambda recording: list(map(repr, recording.calls())),
        "events": lambda recording: recording.events,
        "processes": lambda recording: recording.processes,
        "orphan_ends": lambda recording: recording.orphan_ends,
        "unix_offset": lambda recording: recording.unix_offset,
        "repr": repr,
        "summary": lambda recording: repr(Summary(recording).rows),
        "tree": lambda recording: repr(call_tree(recording)),
        "exact": lambda recording: repr(nvspan._reader.exact(recording._reader.handle())),
        "timeline": lambda recording: repr(timeline(recording, Summary(recording))),
        # What they say of problems depends on what was read before.
        "page": lambda recording: page.html(recording).startswith("<!"),
        "notebook": lambda recording: recording._repr_html_().endswith("</iframe>"),
    }


def _parts(recording):
    """The whole, and two parts of it that share its tables."""
    first, last = recording.processes[0].start, recording.processes[0].end
    return [
        recording,
        recording.filter(match=["*e*"], min_duration=1),
        recording.filter(start=first, stop=(first + last) // 2).filter(threads=[0, 1]),
    ]


@pytest.fixture
def switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("path", [*CORPUS, None], ids=lambda path: path.stem if path else "new")
def test_every_reading_gives_each_thread_what_one_alone_gets(path, tmp_path, switching_often):
    if path is None:
        path = recording_of(PAYLOADS)
    readings = _readings(tmp_path)
    expected = [
        {name: reading(part) for name, reading in readings.items()}
        for part in _parts(nvspan.read(path))
    ]
    alone = nvspan.read(path)
    loaded = list(alone.strings)
    _tables(alone)
    for seed in range(ROUNDS):
        recording = nvspan.read(path)
        parts = _parts(recording)
        wrong = []
        begin = threading.Barrier(THREADS)

        def read(number, seed=seed, parts=parts, wrong=wrong, begin=begin):
            # every reading by half of the threads
            every = [(i, name) for i in range(len(parts)) for name in readings]
            work = every[number % 2 :: 2]
            random.Random(1000 * seed + number).shuffle(work)
            begin.wait()
            for i, name in work:
                try:
                    if readings[name](parts[i]) != expected[i][name]:
                        wrong.append((i, name))
                except Exception as error:
                    wrong.append((i, name, repr(error)))

        threads = [threading.Thread(target=read, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert recording.strings[: len(loaded)] == loaded
        assert sorted(recording.strings) == sorted(set(recording.strings))
        assert set(alone.strings) <= set(recording.strings)
        assert recording.problems == alone.problems


def test_columns_that_several_threads_ask_for_first_are_made_once():
    path = recording_of(PAYLOADS.replace("range(100)", "range(2000)"))
    for _ in range(length(10, 3)):
        recording = nvspan.read(path)
        parts = [recording, recording.filter(min_duration=1)]
        begin = threading.Barrier(THREADS)
        made = []

        def read(number, parts=parts, begin=begin, made=made):
            part = parts[number % 2]
            begin.wait()
            for table in (part.ranges, part.marks):
                for name in reversed(table.names) if number % 4 < 2 else table.names:
                    column = part._reader.column(table._name, name)
                    made.append((number % 2, table._name, name, memoryview(column), column.is_text))

        threads = [threading.Thread(target=read, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == THREADS * sum(
            len(table.names) for table in (recording.ranges, recording.marks)
        )
        texts = recording.strings
        seen = {}
        for part, table, name, column, is_text in made:
            first = seen.setdefault((part, table, name), column)
            assert len(first) == len(column)
            assert len(column) == 0 or first == column
            if is_text:
                assert all(-1 <= number < len(texts) for number in column)
        steps = [recording.ranges["payload.step"], recording.ranges.text("payload.text")]
        assert sorted(int(text.partition(".")[2]) for text in steps[1]) == sorted(steps[0])
