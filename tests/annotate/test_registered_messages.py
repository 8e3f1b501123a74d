# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that a tool gets registered: it may look at no others, as nsys does for the range that
starts a capture."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers.events import registrations
from helpers.traced import run_traced

CALLS = """
import warnings
import MODULE as nvtx
warnings.simplefilter("ignore")
class Text(str): pass
d = nvtx.get_domain("d")
for m in ["short", "", "gr\\xf6\\xdfe", b"bytes", Text("subclass"), "l" * 2048, "l" * 2049,
          "\\u20ac" * 2000, "l" * 60_000]:
    nvtx.mark(m)
    nvtx.push_range(m); nvtx.pop_range()
    nvtx.end_range(nvtx.start_range(m))
    with nvtx.annotate(m): pass
    with nvtx.annotate(m, color="red", domain="other", category="c", payload=1): pass
    nvtx.annotate(m)(lambda: None)()
    d.mark(message=m)
    d.push_range(message=m); d.pop_range()
    d.end_range(d.start_range(message=m))
    a = d.get_event_attributes(message=m)
    d.mark(a); d.push_range(a); d.pop_range(); d.end_range(d.start_range(a))
    a.message = d.get_registered_string(m)
    d.mark(a)
    d.mark(a, payload=1)
profile = nvtx.Profile(linenos=False)
def profiled(): pass
profile.enable(); profiled(); profile.disable()
"""


def messages(module):
    sent = run_traced(CALLS.replace("MODULE", module)).of_kind("mark", "push", "start")
    return Counter((event["kind"], event["message"], event["message_type"]) for event in sent)


def test_what_the_peer_registers_is_registered():
    pytest.importorskip("nvtx")
    ours, theirs = messages("nvspan"), messages("nvtx")
    assert {kind for _, _, kind in theirs} == {"registered"}
    assert len(ours) > 25
    assert not theirs - ours
    assert {kind for _, _, kind in ours} == {"registered"}


def sent(code):
    done = run_traced("import nvspan, warnings\nwarnings.simplefilter('ignore')\n" + code)
    return [(e["message"], e["message_type"]) for e in done.of_kind("mark")], done


def test_a_string_that_the_program_asked_for_is_registered_beyond_the_limit():
    code = """
nvspan.set_message_limit(2)
d = nvspan.get_domain("d")
asked = [d.get_registered_string("asked first")]
for text in "a", "b", "c": d.mark(message=text)
asked.append(d.get_registered_string("asked last"))
a = d.get_event_attributes(message=asked[1])
d.mark(a); d.mark(message="asked first"); nvspan.mark("asked last", domain=d)
print([s.handle != 0 for s in asked], d.message_stats())
"""
    seen, done = sent(code)
    assert seen == [
        ("a", "registered"), ("b", "registered"), ("c", "ascii"),
        ("asked last", "registered"), ("asked first", "registered"), ("asked last", "registered"),
    ]  # fmt: skip
    assert done.stdout == "[True, True] {'registered': 4, 'limit': 2, 'overflowed': 1}\n"
    strings = registrations(done.events, "register_string", "domain", "message")
    assert strings == [("d", text) for text in ("a", "b", "asked last", "asked first")]


def test_long_messages_are_bounded_by_their_text():
    code = """
for i in range(150): nvspan.mark(f"{i:03}" + "x" * 64_000)
nvspan.mark("short")
print(nvspan.get_domain().message_stats())
"""
    seen, done = sent(code)
    kinds = [kind for _, kind in seen]
    assert kinds == ["registered"] * 131 + ["ascii"] * 19 + ["registered"]
    assert done.stdout == "{'registered': 132, 'limit': 4096, 'overflowed': 19}\n"
