# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that nvtx 0.2.17 takes, though they are none: colors, paths as messages, categories and
counters do what they do there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.events import lines
from helpers.traced import run_plain, run_traced

# Each value in each call that has this argument, and what comes of it.
CALLS = """
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

def annotated(*args, **fields):
    with nvtx.annotate(*args, **fields): return "fine"

d = nvtx.get_domain("d")
CALLS = {{
    "annotate": annotated,
    "decorated": lambda *args, **fields: nvtx.annotate(*args, **fields)(lambda: "fine")(),
    "mark": nvtx.mark,
    "push_range": lambda *args, **fields: (nvtx.push_range(*args, **fields), nvtx.pop_range())[0],
    "start_range": lambda *args, **fields: nvtx.end_range(nvtx.start_range(*args, **fields)),
    "attributes": lambda *args, **fields: d.mark(d.get_event_attributes(*args, **fields)),
}}
for fields in {fields}:
    for name, call in CALLS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try: found = call(**fields)
            except Exception as error: found = kinds(error)
        print(name, fields, found, [str(each.message)[:{warned}] for each in caught])
"""
KINDS = """
def kinds(error):
    kinds = (OverflowError, TypeError, ValueError)
    return next(kind.__name__ for kind in kinds if isinstance(error, kind))
"""
# Before CPython 3.11 a fraction has no __int__: nvtx takes it without a tool only.
FRACTION = "Fraction(7, 2)" if hasattr(Fraction, "__int__") else "Decimal('3.5')"
COLORS = ["tab:blue", "", "C0", "no such color", "#12345"]


def seen(module, run, fields, warned=0):
    code = f"import {module} as nvtx\n" + KINDS + CALLS.format(fields=fields, warned=warned)
    return run(code, env={"PYTHONWARNINGS": ""})


@pytest.mark.parametrize("fields", [
    str([{"message": "m", "color": color} for color in COLORS]),
    "[dict(message=Path('a/b'))]",
    f"[dict(message='m', category=c) for c in (1.5, 2.0, Decimal(3), {FRACTION}, True)]",
], ids=["colors", "path", "categories"])  # fmt: skip
def test_what_works_without_a_tool_works_as_under_nvtx(fields):
    ours, theirs = (seen(module, run_plain, fields).stdout for module in ("nvspan", "nvtx"))
    assert ours == theirs
    assert "[]" in ours
    assert "Error" not in ours


def test_categories_that_are_no_ints_are_sent_as_under_nvtx():
    fields = f"[dict(message='m', category=c) for c in (1.5, 2.0, Decimal(3), {FRACTION}, " \
             "True, -1.5, 1e10, float('nan'), [1])]"  # fmt: skip
    done = [seen(module, run_traced, fields) for module in ("nvspan", "nvtx")]
    sent = [lines(each.events) for each in done]
    assert sent[0] == sent[1]
    assert [line for line in sent[0] if line.startswith("mark [] ")] == [
        f"mark [] 'm' color=000000FF category={number}" for number in (1, 2, 3, 3, 1)
    ]
    assert done[0].stdout == done[1].stdout
    assert done[0].stdout.count("OverflowError") == 12


def test_an_unknown_color_is_blue_under_a_tool_and_one_warning_says_so():
    done = seen("nvspan", run_traced, str([{"message": "m", "color": c} for c in COLORS]), 25)
    assert {line.split(" color=")[1][:8] for line in lines(done.events) if "color" in line} == {
        "000000FF"
    }
    assert [line for line in done.stdout.splitlines() if not line.endswith("[]")] == [
        "annotate {'message': 'm', 'color': 'tab:blue'} fine [\"color 'tab:blue' is not k\"]"
    ]


def test_a_path_is_its_text_under_a_tool():
    fields = "[dict(message=Path('a/b'))]"
    done = seen("nvspan", run_traced, fields)
    assert [line for line in lines(done.events) if not line.startswith(("pop", "end"))] == [
        "push [] 'a/b' color=000000FF depth=0", "push [] 'a/b' color=000000FF depth=0",
        "mark [] 'a/b' color=000000FF", "push [] 'a/b' color=000000FF depth=0",
        "start #1 [] 'a/b' color=000000FF", "mark [d] 'a/b' color=000000FF",
    ]  # fmt: skip
    assert run_plain(
        "import nvspan, pathlib\n"
        "print(nvspan.get_domain('d').get_registered_string(pathlib.Path('a')).string)"
    ).stdout == "a\n"  # fmt: skip


COUNTERS = """
for words, names in (((), {}), (("n",), {}), (("n", float, 5), {}), (("n", float), {"unit": 4})):
    try: d.get_counter(*words, **names)
    except Exception as error:
        print(type(error).__name__, str(error).partition(" ")[0], "unit" in str(error))
"""


@pytest.mark.parametrize("run", [run_plain, run_traced])
def test_a_wrong_call_of_get_counter_raises_as_under_nvtx(run):
    code = "as nvtx\nd = nvtx.get_domain('d')\n" + COUNTERS
    ours, theirs = (run(f"import {module} {code}").stdout for module in ("nvspan", "nvtx"))
    assert ours == theirs
    assert ours.splitlines()[0] == "TypeError get_counter() False"
    assert len(ours.splitlines()) == 4
