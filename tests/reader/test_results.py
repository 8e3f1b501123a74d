# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What C++ puts into the classes of nvspan._results is held against their annotations."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nvspan import _reader

# In place of the class: fields that C++ does not fill so.
PROGRAM = """
from __future__ import annotations
import sys
from nvspan import _results
from nvspan._result import Result

class FileHeader(Result):
    {}

others = [of for of in _results.RESULTS if of.__name__ != "FileHeader"]
_results.RESULTS = (*others, FileHeader) if FileHeader._types else others
from nvspan import _reader
try:
    print(_reader.file_header(sys.argv[1]))
except SystemError as error:
    print(error)
"""
FIELDS = "version: int; pid: int; run: int; closed: bool"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (FIELDS.replace("pid: int", "pid: str"), "FileHeader.pid cannot be of type int"),
        (FIELDS.replace("bool", "int"), "FileHeader.closed cannot be of type bool"),
        (FIELDS.replace("run: int", "run: float | None"), "FileHeader.run cannot be of type int"),
        (FIELDS.replace("run: int", "run: int | None"), "pid=7, run="),
        (FIELDS.replace("run: int; ", ""), "FileHeader.run is no field"),
        (f"{FIELDS}; more: float", "FileHeader.more cannot be of type NoneType"),
        (f"{FIELDS}; more: float | None", "closed=True, more=None)"),
        ("pass", "nvspan._results has no class FileHeader"),
    ],
    ids=["int", "bool", "float", "or None", "unknown", "missing", "not set", "no class"],
)
def test_a_value_that_does_not_fit_its_field_is_a_system_error(fields, said, tmp_path):
    path = os.fsencode(tmp_path / "x.nvspan")
    with _reader.ExternalWriter(path) as writer:
        writer.process(7)
    command = [sys.executable, "-c", PROGRAM.format(fields), path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said in done.stdout
