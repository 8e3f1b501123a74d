# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Domain, EventAttributes and RegisteredString send what nvtx 0.2.17 sends."""

from __future__ import annotations

import pytest

from helpers.conformance import Difference, Program, compare

PROGRAMS = [
    Program("get_domain_is_cached", "print(nvtx.get_domain('d') is nvtx.get_domain('d'))\n"
        "nvtx.get_domain('d').mark(message='m')"),
    Program("default_domain", "d = nvtx.get_domain()\nprint(d is nvtx.get_domain(None), d.name)\n"
        "d.mark(message='m')"),
    Program("name", "d = nvtx.get_domain('d')\nprint(d.name, d.handle.name, d.handle.enabled())\n"
        "d.mark(message='m')"),
    Program("domain_class", "d = nvtx.Domain('d')\nd.mark(message='m')\n"
        "print(isinstance(d, nvtx.Domain))"),
    Program("mark_keywords", "nvtx.get_domain('d').mark(message='m', color='red', category='c', "
        "payload=3)"),
    Program("mark_without_anything", "nvtx.get_domain('d').mark()"),
    Program("push_pop_keywords", "d = nvtx.get_domain('d')\n"
        "print(d.push_range(message='a', color='cyan', category=3, payload=1.5))\n"
        "print(d.pop_range())"),
    Program("start_end_keywords", "d = nvtx.get_domain('d')\n"
        "r = d.start_range(message='a', color='cyan', category='c', payload=1)\n"
        "print(type(r).__name__)\nprint(d.end_range(r))"),
    Program("pop_of_nothing", "nvtx.get_domain('d').pop_range()"),
    Program("kept_attributes", "d = nvtx.get_domain('d')\n"
        "a = d.get_event_attributes(message='a', color='yellow', category='c', payload=4)\n"
        "d.push_range(a)\nd.mark(a)\nd.pop_range()\nr = d.start_range(a)\nd.end_range(r)"),
    Program("attributes_positional", "d = nvtx.get_domain('d')\n"
        "d.mark(d.get_event_attributes('a', 'yellow', 2, 4.5))"),
    Program("attributes_by_keyword", "d = nvtx.get_domain('d')\n"
        "d.mark(attributes=d.get_event_attributes('a'))"),
    Program("attributes_are_new_each_call", "d = nvtx.get_domain('d')\n"
        "a, b = d.get_event_attributes('a'), d.get_event_attributes('a')\n"
        "print(a is b)\na.color = 'red'\nd.mark(a)\nd.mark(b)"),
    Program("attributes_changed_by_property", "d = nvtx.get_domain('d')\n"
        "a = d.get_event_attributes('a')\nd.mark(a)\n"
        "a.message = d.get_registered_string('b')\na.color = 0xFF00FF00\na.category = 5\n"
        "a.payload = 6\nd.mark(a)\na.message = None\na.color = None\na.category = None\n"
        "a.payload = None\nd.mark(a)"),
    Program("attributes_read_back", "d = nvtx.get_domain('d')\n"
        "a = d.get_event_attributes('a', 'red', 'c', 4)\n"
        "print(a.message.string, a.color, a.category % 10**9, a.payload)\na.message = None\n"
        "a.category = None\na.payload = None\nprint(a.message, a.category, a.payload)\nd.mark(a)"),
    Program("set_event_attributes", "d = nvtx.get_domain('d')\n"
        "a = d.get_event_attributes('a', 'red', 'c', 4)\n"
        "d.set_event_attributes(a, message='b')\nd.mark(a)\n"
        "d.set_event_attributes(a, color='green', category='e')\nd.mark(a)\n"
        "d.set_event_attributes(a, payload=None)\nd.mark(a)\n"
        "d.set_event_attributes(a, message=None, category=None)\nd.mark(a)"),
    Program("keywords_change_the_given_attributes", "d = nvtx.get_domain('d')\n"
        "a = d.get_event_attributes('a')\nd.mark(a, message='b', payload=1)\nd.mark(a)\n"
        "d.push_range(a, color='red')\nd.pop_range()\nd.mark(a)\n"
        "d.end_range(d.start_range(a, category='c'))\nd.mark(a)"),
    Program("registered_string", "d = nvtx.get_domain('d')\ns = d.get_registered_string('a')\n"
        "print(s.string, s is d.get_registered_string('a'), type(s).__name__)\n"
        "a = d.get_event_attributes()\na.message = s\nd.mark(a)"),
    Program("category_ids", "d = nvtx.get_domain('d')\n"
        "print(d.get_category_id('a'), d.get_category_id('b'), d.get_category_id('a'))\n"
        "print(dict(d.categories))\nd.mark(message='m', category='b')\n"
        "print(nvtx.get_domain('e').get_category_id('b'))"),
    Program("string_category_then_same_string_in_annotate",
        "nvtx.get_domain('d').get_category_id('c')\n"
        "with nvtx.annotate('a', domain='d', category='c'): pass\n"
        "with nvtx.annotate('a', domain='d', category='e'): pass"),
    Program("default_domain_methods", "d = nvtx.get_domain()\nd.push_range(message='a')\n"
        "nvtx.mark('m')\nnvtx.pop_range()\nnvtx.push_range('b')\nd.pop_range()"),
    Program("same_message_in_two_domains", "for n in 'de':\n nvtx.get_domain(n).mark(message='m')\n"
        "nvtx.mark('m')"),
    Program("domains_made_twice_are_one", "a, b = nvtx.Domain('d'), nvtx.Domain('d')\n"
        "a.push_range(message='x')\nb.push_range(message='y')\na.pop_range()\nb.pop_range()",
        (
            Difference(
                "one name is one domain, so the ranges nest",
                ("push [d] 'x' color=000000FF depth=0", "push [d] 'y' color=000000FF depth=0",
                 "pop [d] 'x' depth=0", "pop [d] 'y' depth=0"),
                ("push [d] 'x' color=000000FF depth=0", "push [d] 'y' color=000000FF depth=1",
                 "pop [d] 'y' depth=1", "pop [d] 'x' depth=0"),
            ),
        )),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_sends_what_the_peer_sends(program, outcomes):
    compare(program, outcomes["nvspan"][program.name], outcomes["nvtx"][program.name])
