# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A level given twice with different values for one domain: the first wins, one warning says so."""

from __future__ import annotations

import pytest
from helpers.events import plain
from helpers.traced import run_plain, run_traced


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_two_levels_of_one_category_keep_the_first_and_warn_once(run):
    code = (
        "import nvspan, warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always')\n"
        " for level in (2, 3, 4, 2):\n"
        "  with nvspan.annotate('a', domain='d', category='c', level=level) as a: pass\n"
        "print(len(caught), {w.category.__name__ for w in caught})"
    )
    done = run(code)
    assert done.stdout == "1 {'NvspanWarning'}\n"
    pairs = ["push [d] 'a' category=1:c depth=0", "pop [d] 'a' depth=0"]
    assert plain(done.events) == (pairs * 4 if run is run_traced else [])


def test_levels_of_different_categories_and_domains_do_not_meet():
    code = (
        "import nvspan, warnings\nwarnings.simplefilter('error')\n"
        "nvspan.annotate('a', domain='d', category='c', level=1)\n"
        "nvspan.annotate('a', domain='d', category='e', level=2)\n"
        "nvspan.annotate('a', domain='f', category='c', level=3)\n"
        "nvspan.annotate('a', domain='d', category='c', level=1)\nprint('fine')"
    )
    assert run_plain(code).stdout == "fine\n"
