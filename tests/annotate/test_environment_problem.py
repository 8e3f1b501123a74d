# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A variable that cannot be read is told to the user once, at the first annotation."""

from __future__ import annotations

import pytest

from helpers.traced import run_plain, run_traced

CODE = """
import nvspan
print("imported", flush=True)
@nvspan.annotate
def work(): pass
d = nvspan.Domain("d")
import sys
print("nothing yet", file=sys.stderr)
for _ in range(3):
    {first}
    nvspan.mark("m", domain="other")
nvspan.disable(); nvspan.enable()
"""


@pytest.mark.parametrize("run", [run_plain, run_traced])
@pytest.mark.parametrize("first", ["work()", "nvspan.mark('x')", "d.push_range(message='x')",
                                   "with nvspan.annotate('x'): pass"])  # fmt: skip
@pytest.mark.parametrize(
    ("variable", "value"), [("NVSPAN_LEVEL", "mylib:high"), ("NVSPAN_DOMAINS", "+a,-")]
)
def test_it_is_said_once(run, first, variable, value):
    item = "mylib:high" if variable == "NVSPAN_LEVEL" else "+a,-"
    done = run(CODE.format(first=first), env={variable: value})
    assert done.stdout == "imported\n"
    lines = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
    assert lines[0] == "nothing yet"
    [said] = lines[1:]
    assert said.startswith("<string>:")
    assert said.endswith(f" NvspanWarning: {variable}: cannot read '{item}'; it is ignored")


def test_an_error_filter_does_not_stop_the_program():
    done = run_plain(
        "import nvspan, warnings\nwarnings.simplefilter('error')\nnvspan.mark('m')\nprint('ran')",
        env={"NVSPAN_LEVEL": "?"},
    )
    assert done.stdout == "ran\n"
    assert "NVSPAN_LEVEL: cannot read '?'" in done.stderr
