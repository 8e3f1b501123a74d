# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every block of console and Python in README.md and docs is run, or says why not.

What a page shows of a command's output is compared: lines are the same but for numbers, widths and
folders, `...` stands for any text or lines. Markers above a block, which readers do not see:
`<!-- not run: REASON -->`, `<!-- exact -->` (to the letter), `<!-- some lines -->` (shown lines are
among those printed), `<!-- exit: 1 -->`, `<!-- needs: IPython -->` (run where that is),
`<!-- cell -->` above a block of text that is lines of a notebook, and `<!-- output -->` above one
that shows the output of the block before. A block of Python whose first line is `# NAME.py` is that
file.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import pages
from helpers.traced import clean_environment, needs_library

RUN_PAGE = Path(__file__).with_name("run_page.py")
MARKERS = ("not run", "exact", "some lines", "exit", "output", "command", "needs", "cell")


def run(page, folder):
    done = subprocess.run(
        [sys.executable, str(RUN_PAGE), page], cwd=folder, capture_output=True, text=True,
        timeout=300, check=False, env=environment(folder),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def environment(folder):
    made = {name: os.environ.get(name) for name in ("NVSPAN_NSYS", "NVSPAN_NCU")}
    made |= {"COLUMNS": "200", "PYTHONUNBUFFERED": "1",
             "TEST_GPU": os.environ.get("NVSPAN_TEST_GPU")}  # fmt: skip
    return clean_environment(made)


def runs(page):
    return any(block.language in pages.RUN and block.skipped is None
               for block in pages.blocks(pages.PAGES[page]))  # fmt: skip


def name(page):
    """With "torch" in it where that is needed, so that `-k torch` chooses these pages."""
    found = any("torch" in block.needs for block in pages.blocks(pages.PAGES[page]))
    return f"{page} with torch" if found and "torch" not in page else page


@needs_library
@pytest.mark.parametrize("page", [page for page in pages.PAGES if runs(page)], ids=name)
def test_page(page, tmp_path):
    run(page, tmp_path)


@pytest.mark.parametrize("page", pages.PAGES)
def test_no_block_is_in_another_language(page):
    """Else a block of bash or sh would escape the tests above."""
    languages = {block.language for block in pages.blocks(pages.PAGES[page])}
    names = {name for name in languages if not name.startswith("{")}
    assert names <= {"console", "python", "text", "diff", ""}


@pytest.mark.parametrize("page", pages.PAGES)
def test_markers(page):
    for block in pages.blocks(pages.PAGES[page]):
        for marker in block.markers:
            assert marker.split(":")[0] in MARKERS, f"{page}:{block.line}: {marker}"
        reason = block.marked("not run")
        assert reason is None or len(reason) > 5, f"{page}:{block.line}: no reason"


@pytest.mark.parametrize("page", pages.PAGES)
def test_python_that_is_not_run_compiles(page):
    for block in pages.blocks(pages.PAGES[page]):
        if block.language == "python":
            ast.parse(block.text, f"{page}:{block.line}")


def test_a_difference_is_found():
    shown = "calls  total  name\n    3  7.892 ms  epoch\n...\nend\n"
    printed = "calls total name\n 12  1.0 us  epoch\nmore\nend\n"
    assert pages.difference(shown, printed) is None
    assert "epoch" in pages.difference(shown, printed.replace("epoch", "step"))
    assert "and not shown: more" in pages.difference("end\n", "end\nmore\n")
    assert "printed next: more" in pages.difference("end\n", "more\nend\n")
    assert pages.difference("end\n", "more\nend\n", some=True) is None
    assert pages.difference("a 1\n", "a 2\n", exact=True) is not None


def test_markers_and_output_belong_to_their_block(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- some lines -->\n```console\n$ a 'b\nc' \\\n d\n1\n$ e\n```\n\nwords\n\n"
        "<!-- output -->\n```text\n2\n```\n```python\n# f.py\npass\n```\n"
    )
    first, text, last = pages.blocks(page)
    assert (first.markers, first.line, text.line, last.file) == (["some lines"], 2, 13, "f.py")
    assert [(one.line, one.shown) for one in pages.commands(first)] == [
        ("a 'b\nc' \\\n d", "1\n"),
        ("e", "2\n"),
    ]
    assert last.markers == []
    assert re.fullmatch("# f.py\npass\n", last.text)
