# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Categories: ids that names get, ids that the program chooses, and which of them may meet."""

from __future__ import annotations

from helpers.events import plain, registrations
from helpers.traced import run_plain, run_traced

STRICT = "import warnings; warnings.simplefilter('error')\nimport nvspan as nvtx\n"


def traced(code):
    return run_traced(STRICT + code)


def named(done):
    return registrations(done.events, "name_category", "domain", "category", "name")


NUMBERS = "for number in 1, 2, 3, 2**31, 2**32 - 1: nvtx.mark('number', category=number)\n"
NAMES = "for name in 'one', 'two', 'one', 'three': nvtx.mark('name', category=name)\n"
OF_NUMBERS = [f"mark [] 'number' category={n}" for n in (1, 2, 3, 2**31, 2**32 - 1)]
OF_NAMES = [
    "mark [] 'name' category=#1:one", "mark [] 'name' category=#2:two",
    "mark [] 'name' category=#1:one", "mark [] 'name' category=#3:three",
]  # fmt: skip


def test_numbers_of_the_program_and_names_never_meet_whichever_comes_first():
    first, last = traced(NUMBERS + NAMES), traced(NAMES + NUMBERS)
    assert plain(first.events) == OF_NUMBERS + OF_NAMES
    assert plain(last.events) == OF_NAMES + OF_NUMBERS
    names = [(None, 10**9 + n, name) for n, name in enumerate(("one", "two", "three"), 1)]
    assert named(first) == named(last) == names


def test_a_name_takes_no_number_of_the_same_range_that_the_program_used():
    done = traced("nvtx.mark('m', category=1_000_000_001)\nnvtx.mark('m', category='c')")
    assert plain(done.events) == ["mark [] 'm' category=#1", "mark [] 'm' category=#2:c"]


def test_every_call_that_takes_a_name():
    done = traced(
        "d = nvtx.get_domain('d')\n"
        "with nvtx.annotate('a', category='c', domain='d'): pass\n"
        "with d.annotate('a', category=b'c'): pass\n"
        "nvtx.push_range('p', category='c', domain='d'); nvtx.pop_range('d')\n"
        "nvtx.end_range(nvtx.start_range('s', category='c', domain='d'))\n"
        "attributes = d.get_event_attributes('e', category='c')\n"
        "d.mark(attributes)\n"
        "attributes.category = 'other'\n"
        "d.mark(attributes)\n"
        "print(attributes.category, d.categories)"
    )
    assert plain(done.events) == [
        "push [d] 'a' category=#1:c depth=0", "pop [d] 'a' depth=0",
        "push [d] 'a' category=#1:c depth=0", "pop [d] 'a' depth=0",
        "push [d] 'p' category=#1:c depth=0", "pop [d] 'p' depth=0",
        "start #1 [d] 's' category=#1:c", "end #1 [d] 's'",
        "mark [d] 'e' category=#1:c",
        "mark [d] 'e' category=#2:other",
    ]  # fmt: skip
    assert done.stdout == "1000000002 {'c': 1000000001, 'other': 1000000002}\n"


ASKED = """
d = nvtx.get_domain("d")
a, b = d.get_category_id("a"), d.get_category_id("b")
print(a, b, d.get_category_id("a"), dict(d.categories))
attributes = d.get_event_attributes("attributes")
attributes.category = a
d.mark(attributes)
d.mark(message="keyword", category=b)
d.mark(attributes, category=b)
nvtx.mark("by id", category=a, domain="d")
nvtx.mark("by name", category="a", domain="d")
with nvtx.annotate("annotate", category=b, domain="d"): pass
copied = d.get_event_attributes("copied", category="c")
attributes.category = copied.category
d.mark(attributes)
print(d.get_category_id("c") == copied.category)
"""


def test_an_id_that_the_program_asked_for_is_the_peers_and_is_used_without_a_warning():
    done = traced(ASKED)
    assert plain(done.events) == [
        "mark [d] 'attributes' category=1:a",
        "mark [d] 'keyword' category=2:b",
        "mark [d] 'attributes' category=2:b",
        "mark [d] 'by id' category=1:a",
        "mark [d] 'by name' category=1:a",
        "push [d] 'annotate' category=2:b depth=0",
        "pop [d] 'annotate' depth=0",
        "mark [d] 'attributes' category=#1:c",
    ]
    assert done.stdout == "1 2 1 {'a': 1, 'b': 2}\nTrue\n"
    assert done.stderr == ""
    assert run_plain(STRICT + ASKED).stdout == done.stdout


def test_asked_for_ids_leave_out_numbers_in_use():
    done = traced(
        "nvtx.mark('m', category=1)\nnvtx.name_category(3, 'three')\n"
        "d = nvtx.get_domain()\n"
        "print([d.get_category_id(name) for name in ('a', 'three', 'b')])\n"
        "nvtx.mark('m', category='a')\nnvtx.mark('m', category='three')\n"
        "nvtx.mark('m', category='b')\nnvtx.mark('m', category=1)"
    )
    assert done.stdout == "[2, 3, 4]\n"
    assert plain(done.events) == [
        "mark [] 'm' category=1", "mark [] 'm' category=2:a", "mark [] 'm' category=3:three",
        "mark [] 'm' category=4:b", "mark [] 'm' category=1",
    ]  # fmt: skip
