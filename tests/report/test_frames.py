# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a recording as data frames, and as a notebook shows them."""

from __future__ import annotations

import pytest

import nvspan
from helpers.packages import needs
from helpers.reported import recording_of
from helpers.traced import needs_library
from nvspan.answers.compare import compare, compare_steps
from nvspan.recording.time_text import duration

pytestmark = needs_library

PROGRAM = """
import time, nvspan
for i in range(40):
    with nvspan.annotate("step", payload=i):
        with nvspan.annotate("forward", domain="torch"): time.sleep(0.0005)
        with nvspan.annotate("model", domain="torch"):
            with nvspan.annotate("model.layer", domain="torch"): pass
        with nvspan.annotate("model.layer", domain="torch", category="backward"): pass
nvspan.mark("<b>&amp;", domain="x")
nvspan.mark(b"\\xff" if False else "tick")
"""


def tables():
    recording = nvspan.read(recording_of(PROGRAM))
    return {
        "stats": recording.stats(),
        "steps": recording.steps(phases=["torch:forward"]),
        "modules": recording.modules(),
        "projection": recording.projection(),
        "diff": compare(recording, recording),
        "diff of steps": compare_steps(recording, recording),
        "ranges": recording.ranges,
        "threads": recording.threads,
        "losses": recording.losses,
    }


def records(table):
    return table._records()


def same(found, expected):
    return (
        found == expected
        or (found is None and expected is None)
        or (isinstance(found, float) and found != found and expected is None)
    )


@needs("pyarrow")
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_each_table_is_a_data_frame(kind):
    pytest.importorskip(kind)
    for name, table in tables().items():
        expected = records(table)
        if kind == "pandas":
            frame = table.to_pandas()
            rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        elif kind == "polars":
            rows = table.to_polars().to_dicts()
        else:
            rows = table.to_arrow().to_pylist()
        assert len(rows) == len(expected), name
        for row, record in zip(rows, expected, strict=True):
            assert set(record) <= set(row)
            assert all(same(row[key], value) for key, value in record.items()), (name, row, record)


@needs("pyarrow")
def test_the_names_of_columns_are_those_of_the_rows():
    found = tables()
    assert "cpu.torch:forward" in found["steps"].to_arrow().column_names
    assert {"before.mean", "after.mean", "change"} <= set(found["diff"].to_arrow().column_names)
    assert found["ranges"].to_arrow().column_names == found["ranges"].names


def test_a_notebook_shows_each_as_a_table():
    found = tables()
    shown = {name: table._repr_html_() for name, table in found.items()}
    begin = '<div style="overflow-x: auto"><table style="white-space: nowrap"><thead><tr><th>'
    assert all(html.startswith(begin) for html in shown.values())
    assert all(html.count("<tr>") == 1 + min(len(records(found[name])), 30)
               for name, html in shown.items())  # fmt: skip
    stats = found["stats"].rows[0]
    assert f"<td>{stats.name}</td><td>push/pop</td><td>40</td>" in shown["stats"]
    assert f"<td>{duration(stats.total)}</td>" in shown["stats"]
    assert "<td>torch:model.layer (backward)</td>" in shown["stats"]
    assert "<div>... and 10 more</div>" in shown["steps"]
    assert "<td>0</td><td>warm-up</td>" in shown["steps"] or "<td>typical</td>" in shown["steps"]
    assert "<td>unsure</td>" in shown["diff"]


def test_names_do_not_become_html():
    recording = nvspan.read(recording_of(PROGRAM))
    assert "&lt;b&gt;&amp;amp;" in recording.marks._repr_html_()
    assert "<b>" not in recording.marks._repr_html_()
