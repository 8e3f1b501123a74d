# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The C function that a line is in: named where it is surely that one, else not at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

import nvspan
from helpers.traced import clean_environment
from nvspan.recording.lines import with_c_function

pytest.importorskip("nvspan._lines")
pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="calls are not known there")

PROGRAM = """
import json, random, time, zlib
def repeat(function):
    end = time.perf_counter() + 0.7
    while time.perf_counter() < end:
        function()
numbers = [random.random() for _ in range(200_000)]
text = json.dumps(list(range(200_000)))
data = bytes(range(256)) * 4000
def a_builtin():
    sorted(numbers)
def a_method():
    numbers.copy().sort()
def of_a_module():
    time.sleep(0.05)
def with_names():
    zlib.compress(data, level=1)
def unpacked(*arguments):
    zlib.compress(*arguments)
def of_the_library():
    json.loads(text)
def a_type():
    list(map(float, numbers))
def bound():
    compressed(data)
def nested():
    len(zlib.compress(bytes(data)))
def in_a_with():
    with open(__file__) as file:
        for line in file:
            return time.sleep(0.05)
def in_a_loop():
    for one in (time.sleep,):
        one(0.05)
def generated():
    yield time.sleep(0.05)
def in_a_handler():
    try:
        raise ValueError
    except ValueError:
        time.sleep(0.05)
def wraps(seconds):
    time.sleep(seconds)
def wrapped():
    wraps(0.05)
class Called:
    def __call__(self):
        for _ in range(100_000): pass
called = Called()
def an_object():
    called()
def python(numbers):
    total = 0
    for number in numbers: total += 1
    return total
compressed = zlib.compress
for each in (a_builtin, a_method, of_a_module, with_names, lambda: unpacked(data, 1),
             of_the_library, a_type, bound, nested, in_a_with, in_a_loop, lambda: next(generated()),
             in_a_handler, wrapped, an_object):
    repeat(each)
sorted = python
def rebound():
    sorted(numbers)
repeat(rebound)
"""

EXPECTED = {
    "a_builtin": "sorted",
    "a_method": "list.sort",
    "of_a_module": "time.sleep",
    "with_names": "zlib.compress",
    "unpacked": "zlib.compress",
    "of_the_library": "_json.Scanner",
    "a_type": "list",
    "bound": "zlib.compress",
    "nested": "zlib.compress",
    "in_a_with": "time.sleep",
    "in_a_loop": "time.sleep",
    "generated": "time.sleep",
    "in_a_handler": None,  # what only an exception leads to is not known
    "wraps": "time.sleep",
    "Called.__call__": None,
    "python": None,
}


def recorded(tmp_path, source, *options):
    program = tmp_path / "program.py"
    program.write_text(source)
    path = tmp_path / "run.nvspan"
    subprocess.run(
        [sys.executable, "-m", "nvspan", "record", "--no-report", "--lines", "1000", "-o",
         str(path), *options, str(program)],
        env=clean_environment(), capture_output=True, timeout=240, check=True,
    )  # fmt: skip
    return nvspan.read(path)


def test_each_kind_of_call(tmp_path):
    """The line with the most time of each function."""
    found = {}
    for row in recorded(tmp_path, PROGRAM).lines().rows:
        if row.samples >= 50:
            found.setdefault(row.function, row.c_function)
    found.pop("<module>", None)
    if sys.version_info < (3, 11):
        found["Called.__call__"] = found.pop("__call__")
    assert found == EXPECTED


SHORT = """
import time
numbers = [1, 2]
end = time.perf_counter() + 2
while time.perf_counter() < end:
    for _ in range(1000):
        len(numbers)
        abs(-3)
        numbers.index(2)
        sum(numbers)
"""


def test_calls_that_are_too_short_have_no_name_or_the_right_one(tmp_path):
    lines = recorded(tmp_path, SHORT).lines()
    right = {4: "time.perf_counter", 5: "time.perf_counter", 6: "range", 7: "len", 8: "abs",
             9: "list.index", 10: "sum"}  # fmt: skip
    for row in lines.rows:
        if row.file is not None and row.file.endswith("program.py"):
            assert row.c_function in (None, right.get(row.line)), row


@pytest.mark.parametrize(
    ("text", "c_function", "shown"),
    [
        ("sorted(rows)", "sorted", "sorted(rows)"),
        ("rows.sort()", "list.sort", "rows.sort()"),
        ("resort(rows)", "list.sort", "resort(rows)  in list.sort()"),
        ("self.scan_once(s, idx)", "_json.Scanner", "self.scan_once(s, idx)  in _json.Scanner()"),
        ("np.dot(a, b)", "numpy._ArrayFunctionDispatcher", "np.dot(a, b)"),
        ("", "time.sleep", "in time.sleep()"),
        ("total += 1", None, "total += 1"),
    ],
)
def test_it_is_shown_where_the_text_does_not_name_it(text, c_function, shown):
    assert with_c_function(text, c_function) == shown
