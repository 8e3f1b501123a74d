# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""mark, push_range, pop_range, start_range and end_range send what nvtx 0.2.17 sends."""

from __future__ import annotations

import pytest

from helpers.conformance import Difference, Program, compare

PROGRAMS = [
    Program("mark", "print(nvtx.mark('a'))"),
    Program("mark_without_message", "nvtx.mark()"),
    Program("mark_default_color_is_blue", "nvtx.mark('a')\nnvtx.mark('a', color=None)"),
    Program("mark_all_positional", "nvtx.mark('a', 'red', 'd', 'c', 5)"),
    Program(
        "mark_all_keywords",
        "nvtx.mark(message='a', color='red', domain='d', category=5, payload=1.5)",
    ),
    Program("push_pop", "print(nvtx.push_range('a'))\nprint(nvtx.pop_range())"),
    Program("push_pop_without_message", "nvtx.push_range()\nnvtx.pop_range()"),
    Program(
        "push_pop_all",
        "nvtx.push_range('a', 'green', 'd', 'c', 4)\nnvtx.pop_range('d')\n"
        "nvtx.push_range(message='a', color='green', domain='d', category='c', payload=4)\n"
        "nvtx.pop_range(domain='d')",
    ),
    Program(
        "push_pop_nested_in_two_domains",
        "nvtx.push_range('a')\nnvtx.push_range('b', domain='d')\nnvtx.push_range('c')\n"
        "nvtx.pop_range(domain='d')\nnvtx.pop_range()\nnvtx.pop_range()",
    ),
    Program("pop_of_nothing_passes_through", "nvtx.pop_range()\nnvtx.pop_range('d')"),
    Program("unclosed_push", "nvtx.push_range('a')\nnvtx.mark('m')"),
    Program("deep_push", "for i in range(50): nvtx.push_range(f'n{i % 3}')\n"
        "for i in range(50): nvtx.pop_range()"),
    Program("start_end", "r = nvtx.start_range('a')\nprint(nvtx.end_range(r))"),
    Program("start_end_all", "nvtx.end_range(nvtx.start_range('a', 'purple', 'd', 'c', 7))"),
    Program("start_end_keywords", "r = nvtx.start_range(message='a', domain='d')\n"
        "nvtx.end_range(range_id=r)"),
    Program("start_end_without_message", "nvtx.end_range(nvtx.start_range())"),
    Program(
        "start_end_overlap",
        "a = nvtx.start_range('a')\nb = nvtx.start_range('b')\nnvtx.end_range(a)\n"
        "nvtx.end_range(b)",
    ),
    Program("handle_unpacks", "r = nvtx.start_range('a', domain='d')\nrange_id, domain = r\n"
        "print(len(r), type(range_id).__name__, r[0] == range_id)\nnvtx.end_range(r)"),
    Program("handle_ended_in_another_thread", "import threading\nr = nvtx.start_range('a')\n"
        "t = threading.Thread(target=nvtx.end_range, args=(r,))\nt.start(); t.join()"),
    Program("unclosed_start", "nvtx.start_range('a')\nnvtx.mark('m')"),
    Program("end_of_none_is_nothing", "print(nvtx.end_range(None))"),
    Program(
        "handle_ended_twice",
        "r = nvtx.start_range('a')\nnvtx.end_range(r)\nprint(nvtx.end_range(r))",
        (
            Difference(
                "an ended handle is ignored",
                ("end #1 [] 'a'", "end #1 [] -"),
                ("end #1 [] 'a'",),
            ),
        ),
    ),
    Program("functions_mixed_with_annotate",
        "nvtx.push_range('a')\nwith nvtx.annotate('b'):\n nvtx.mark('m')\n"
        " r = nvtx.start_range('s')\nnvtx.end_range(r)\nnvtx.pop_range()"),
    Program("enabled", "print(nvtx.enabled())\nnvtx.mark('m')"),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_sends_what_the_peer_sends(program, outcomes):
    compare(program, outcomes["nvspan"][program.name], outcomes["nvtx"][program.name])
