# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How nvspan._reader's functions and methods take what they are given."""

from __future__ import annotations

import gc
import inspect
import sys

import pytest

from nvspan import _reader


@pytest.fixture
def writer(tmp_path):
    with _reader.ExternalWriter(str(tmp_path / "given.nvspan")) as opened:
        yield opened


def test_arguments_by_place_and_by_name(writer):
    assert writer.process(10) == 0
    assert writer.process(pid=11, world_size=2) == 1
    assert writer.thread(0, 7) == 0
    assert writer.thread(1, name="main", tid=8) == 1
    assert writer.thread(name=None, tid=9, process=1) == 2


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((), {}),
        ((0,), {}),
        ((0, 7, None, 1), {}),
        ((0, 7), {"tid": 8}),
        ((0, 7), {"label": "x"}),
        (("0", 7), {}),
        ((0, 7.5), {}),
        ((-1, 7), {}),
        ((0,), {"name": "main"}),
    ],
)
def test_arguments_that_do_not_fit(writer, args, named):
    writer.process(10)
    with pytest.raises(TypeError, match="thread\\(\\): incompatible function arguments"):
        writer.thread(*args, **named)


def test_arguments_by_name_alone(writer):
    with pytest.raises(TypeError, match="incompatible"):
        writer.process(10, 9)
    assert writer.process(10, parent_pid=9) == 0


def test_names_where_all_are_given_by_place(writer):
    writer.close()
    with pytest.raises(TypeError, match="incompatible"):
        writer.close(now=True)
    with pytest.raises(TypeError, match="incompatible"):
        _reader.file_header(path="x")
    with pytest.raises(TypeError, match="incompatible"):
        _reader.file_header(3)


def test_a_method_of_another_object(writer):
    with pytest.raises(TypeError, match="incompatible"):
        _reader.ExternalWriter.close(3)
    with pytest.raises(TypeError, match="incompatible"):
        _reader.ExternalWriter.close()
    with pytest.raises(TypeError, match="incompatible"):
        _reader.RankSummary().merge(None)


def test_methods_are_bound_and_named(writer):
    close = writer.close
    assert inspect.ismethod(close)
    assert close.__name__ == "close"
    close()
    _reader.ExternalWriter.abort(writer)
    assert _reader.file_header.__name__ == "file_header"


def test_errors_of_the_call_come_through(writer):
    with pytest.raises(ValueError, match="process must be a number that process\\(\\) returned"):
        writer.thread(3, 7)
    summary = _reader.RankSummary()
    with pytest.raises(ValueError, match="cannot be merged with itself"):
        summary.merge(summary)


def test_what_is_given_is_let_go(writer):
    writer.process(10)
    name = "thread " + "x" * 10
    before = sys.getrefcount(name)
    for tid in range(100):
        writer.thread(0, tid, name=name)
        with pytest.raises(TypeError):
            writer.thread(0, name, tid)
    gc.collect()
    assert sys.getrefcount(name) == before
