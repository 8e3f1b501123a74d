# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Texts that are printed, and pages, keep to `helpers.voice`; each exception has its reason.

What commands make of these texts is in tests/cli/test_screens.py.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from helpers import voice
from helpers.pages import PAGES
from helpers.tree import ROOT, cpp_files

PACKAGE = ROOT / "python" / "nvspan"
MODULES = sorted(PACKAGE.rglob("*.py"))
LITERAL = re.compile(r"""'(?:[^'\\\n]|\\.)'|"((?:[^"\\\n]|\\.)*)\"""")

NO_PROSE = {
    "cli/ncu.py": "the lines of its usage",
    "loops/vocabulary.py": "names that other programs give to ranges",
    "notebook.py": "the lines of its usage",
    "nsight/sqlite.py": "SQL",
    "report/viewer_start.py": "SQL",
}
MORE_DIGITS = {
    ("_doctor/process.py", "g"): "a limit, as it was given",
    ("answers/headline.py", ".1f"): "requests at once, of which there are few",
    ("answers/modules.py", ".1f"): "calls in each step, of which there are few",
    ("answers/requests.py", ".1f"): "requests that wait, of which there are few",
    ("answers/steps.py", ".1f"): "requests at once, of which there are few",
    ("answers/words.py", ".1f"): "a factor below 100",
    ("doctor.py", "g"): "a limit, as it was given",
    ("live/control.py", "g"): "a time, as it was given",
    ("live/top/matrix.py", ".1f"): "a rate below 100",
    ("nsight/results/tables.py", ",.4g"): "a metric, in the precision of ncu",
    ("recording/time_text.py", ".6f"): "a place in the recording, which --from takes",
    ("recording/time_text.py", ".{}f"): "three digits: the function that makes them",
    ("recording/time_text.py", "{}.{}f"): "two digits: the function that makes them",
    ("recording/time_text.py", ".1f"): "tenths of a second, below two minutes",
    ("recording/time_text.py", "g"): "a threshold, or a payload, as it was given",
    ("report/page/data.py", ".7g"): "numbers of the page's drawings",
    ("report/summary.py", "g"): "a payload, as it was given",
    ("testing.py", ".3f"): "a time next to a limit that it may exceed by little",
    ("testing.py", "g"): "a limit, as it was given",
    ("watch/prometheus.py", "g"): "a label of a metric",
}
MEASURED = {
    "docs/performance-figures.md": "measurements, which are compared to the last digit",
    "docs/recording-format.md": "a format: numbers are codes and sizes, sentences have lists",
}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_the_rules_find_what_they_are_about():
    assert doctest.testmod(voice).failed == 0
    assert list(voice.long_sentences("word " * voice.MAX_WORDS)) == []
    assert len(list(voice.long_sentences("word " * (voice.MAX_WORDS + 1)))) == 1
    wrong = ["91 %", "5.25%", "0 older events", "1204 events", "1.234 times"]
    assert [text for text in wrong if not list(voice.figures(text))] == []
    right = "step 2 of 20 steps took 5.70 ms (92%, 2.5%), 1 rank 0.1 times, 1,204 events in 60 s"
    assert list(voice.figures(right)) == []


@pytest.mark.parametrize("rule", [voice.words, voice.long_sentences])
def test_texts_of_the_package(rule):
    found = [
        f"{name(path)}:{line}: {problem}"
        for path in MODULES
        for line, text in voice.literals(path)
        for problem in rule(text)
        if name(path) not in NO_PROSE
    ]
    assert found == []


def test_figures_of_the_package_have_three_digits():
    found = {(name(path), form) for path in MODULES for _, form in voice.float_formats(path)}
    assert found == set(MORE_DIGITS)


def test_texts_of_the_compiled_parts():
    found = []
    for path in cpp_files():
        code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        texts = [text for text in LITERAL.findall(code) if " " in text.strip()]
        found += [f"{path.name}: {problem}" for text in texts for problem in voice.words(text)]
    assert found == []


@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    rules = [voice.words] if page in MEASURED else [voice.words, voice.figures,
                                                   voice.long_sentences]  # fmt: skip
    found = [
        f"{page}:{line}: {problem}"
        for line, text in voice.prose(PAGES[page])
        for rule in rules
        for problem in rule(text)
    ]
    assert found == []
