# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations are switched by process, domain, level and environment, while the program runs."""

from __future__ import annotations

import pytest

from helpers.events import plain
from helpers.length import length
from helpers.traced import run_plain, run_traced

# Every way to annotate, made before any switch.
USES = """
import nvspan
kept = nvspan.annotate("kept", domain="lib")
domain = nvspan.get_domain("lib")
attributes = domain.get_event_attributes(message="attributes")
@nvspan.annotate(domain="lib")
def decorated(): pass
@nvspan.annotate(domain="lib")
def generator(): yield
def use():
    with kept: pass
    with nvspan.annotate("built", domain="lib"): pass
    domain.push_range(attributes); domain.pop_range()
    domain.mark(message="mark")
    nvspan.push_range("push", domain="lib"); nvspan.pop_range("lib")
    nvspan.end_range(nvspan.start_range("start", domain="lib"))
    domain.end_range(domain.start_range(message="method"))
    decorated(); list(generator())
    nvspan.mark("other domain")
"""

OF_LIB = [
    "push [lib] 'kept' depth=0", "pop [lib] 'kept' depth=0",
    "push [lib] 'built' depth=0", "pop [lib] 'built' depth=0",
    "push [lib] 'attributes' depth=0", "pop [lib] 'attributes' depth=0",
    "mark [lib] 'mark'",
    "push [lib] 'push' depth=0", "pop [lib] 'push' depth=0",
    "start #1 [lib] 'start'", "end #1 [lib] 'start'",
    "start #2 [lib] 'method'", "end #2 [lib] 'method'",
    "push [lib] 'decorated' depth=0", "pop [lib] 'decorated' depth=0",
    "push [lib] 'generator' depth=0", "pop [lib] 'generator' depth=0",
    "push [lib] 'generator' depth=0", "pop [lib] 'generator' depth=0",
]  # fmt: skip
OTHER = "mark [] 'other domain'"


def events(code, **environment):
    return plain(run_traced(USES + code, env=environment).events)


def renumbered(lines, by):
    return [line.replace("#1 ", f"#{1 + by} ").replace("#2 ", f"#{2 + by} ") for line in lines]


def test_everything_is_sent_by_default():
    assert events("use()") == [*OF_LIB, OTHER]


@pytest.mark.parametrize("first", ["use()", ""], ids=["decided", "undecided"])
def test_the_process_is_switched_off_and_on(first):
    sent = [*OF_LIB, OTHER] if first else []
    again = renumbered([*OF_LIB, OTHER], 2 if first else 0)
    code = f"{first}\nnvspan.disable(); use(); nvspan.enable(); use()"
    assert events(code) == [*sent, *again]


def test_one_domain_is_switched_off_and_on():
    code = "nvspan.disable('lib'); use(); nvspan.enable(nvspan.get_domain('lib')); use()"
    assert events(code) == [OTHER, *OF_LIB, OTHER]


def test_the_default_domain_alone_is_switched_by_its_object():
    assert events("nvspan.disable(nvspan.get_domain()); use()") == OF_LIB


def test_pauses_overlap():
    code = """
with nvspan.paused():
    with nvspan.paused(): nvspan.mark("1")
    nvspan.mark("2")
nvspan.mark("3")
first, second = nvspan.paused("lib"), nvspan.paused("lib")
first.__enter__(); second.__enter__(); first.__exit__(None, None, None)
domain.mark(message="4"); nvspan.mark("5")
second.__exit__(None, None, None)
domain.mark(message="6")
try:
    with nvspan.paused(): raise KeyError
except KeyError: nvspan.mark("7")
with nvspan.paused(): nvspan.enable()
nvspan.disable()
with nvspan.paused(): pass
nvspan.mark("8")
"""
    assert events(code) == ["mark [] '3'", "mark [] '5'", "mark [lib] '6'", "mark [] '7'"]


@pytest.mark.parametrize("which", ["", "'lib'"], ids=["process", "domain"])
def test_what_is_open_when_it_is_switched_off_is_closed(which):
    code = f"""
import threading
def off(): nvspan.disable({which})
def on(): nvspan.enable({which})
@nvspan.annotate(domain="lib")
def inside(): off()
with kept: off()
on()
inside(); on()
nvspan.push_range("push", domain="lib"); off(); nvspan.pop_range("lib"); on()
handle = nvspan.start_range("start", domain="lib"); off(); nvspan.end_range(handle); on()
number = domain.start_range(message="method"); off(); domain.end_range(number); on()
going = generator(); next(going); off(); list(going); on()
"""
    assert events(code) == [
        "push [lib] 'kept' depth=0", "pop [lib] 'kept' depth=0",
        "push [lib] 'inside' depth=0", "pop [lib] 'inside' depth=0",
        "push [lib] 'push' depth=0", "pop [lib] 'push' depth=0",
        "start #1 [lib] 'start'", "end #1 [lib] 'start'",
        "start #2 [lib] 'method'", "end #2 [lib] 'method'",
        "push [lib] 'generator' depth=0", "pop [lib] 'generator' depth=0",
    ]  # fmt: skip


@pytest.mark.parametrize("which", ["", "'lib'"], ids=["process", "domain"])
def test_what_was_opened_while_off_closes_nothing(which):
    code = f"""
nvspan.push_range("outer", domain="lib")
nvspan.disable({which})
nvspan.push_range("inner", domain="lib")
kept.__enter__()
nvspan.enable({which})
kept.__exit__(None, None, None)
nvspan.pop_range("lib")
nvspan.mark("still open", domain="lib")
nvspan.pop_range("lib")
"""
    assert events(code) == [
        "push [lib] 'outer' depth=0", "mark [lib] 'still open'", "pop [lib] 'outer' depth=0",
    ]  # fmt: skip


def test_a_domain_keeps_its_handle_and_strings_over_a_switch():
    done = run_traced(USES + "use(); nvspan.disable('lib'); nvspan.enable('lib'); use()")
    made = [e for e in done.events if e["kind"] in ("domain_create", "register_string")]
    names = [(e["domain"], e.get("message")) for e in made]
    assert len(names) == len(set(names))


def test_levels():
    code = """
for level in (0, 1, 2, 3):
    with nvspan.annotate(f"a{level}", level=level): pass
@nvspan.annotate(level=2)
def two(): pass
two()
nvspan.get_domain().level = 2
two()
nvspan.get_domain().level = 0
two()
with nvspan.annotate("zero", level=0): pass
nvspan.mark("marks are of level 1")
"""
    assert events(code) == [
        "push [] 'a0' depth=0", "pop [] 'a0' depth=0",
        "push [] 'a1' depth=0", "pop [] 'a1' depth=0",
        "push [] 'two' depth=0", "pop [] 'two' depth=0",
        "push [] 'zero' depth=0", "pop [] 'zero' depth=0",
    ]  # fmt: skip


def test_the_first_level_of_a_domain_holds():
    code = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    nvspan.Domain("d", level=2); nvspan.Domain("d", level=2)
    nvspan.Domain("d", level=3); nvspan.Domain("d", level=4)
print([str(each.message) for each in seen], nvspan.Domain("d").level)
"""
    done = run_plain("import nvspan" + code)
    assert done.stdout == "[\"domain 'd' has level 2 already: level 3 is ignored\"] 2\n"


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("-lib", [OTHER]),
        ("-*,+lib", OF_LIB),
        ("-*", []),
        ("-l?b", [OTHER]),
        ("-NVTX", OF_LIB),
        (" - lib , +other", [OTHER]),
        ("lib", [*OF_LIB, OTHER]),
        ("", [*OF_LIB, OTHER]),
    ],
)
def test_domains_by_environment(value, sent):
    assert events("use()", NVSPAN_DOMAINS=value) == sent


def test_a_domain_off_by_environment_is_switched_on_by_the_program():
    assert events("nvspan.enable('lib'); use()", NVSPAN_DOMAINS="-*") == OF_LIB


@pytest.mark.parametrize(
    ("value", "level"), [("lib:3", 3), ("*:0", 0), ("2", 2), ("*:3,lib:2", 2), ("", 5), ("x:9", 5)]
)
def test_levels_by_environment_are_stronger_than_the_program(value, level):
    code = "print(nvspan.Domain('lib', level=5).level)"
    done = run_plain("import nvspan, warnings; warnings.simplefilter('ignore')\n" + code,
                     env={"NVSPAN_LEVEL": value})  # fmt: skip
    assert done.stdout == f"{level}\n"


@pytest.mark.parametrize("state", ["a tool", "no tool"])
def test_bad_arguments_are_refused(state):
    code = """
import nvspan
for call in (lambda: nvspan.enable(5), lambda: nvspan.disable(1.5), lambda: nvspan.paused(()),
             lambda: nvspan.is_active(3), lambda: nvspan.Domain("d", level="1"),
             lambda: nvspan.Domain("d", level=-1), lambda: nvspan.Domain("d", level=1001),
             lambda: setattr(nvspan.Domain("d"), "level", True)):
    try: call()
    except (TypeError, ValueError) as error: print(type(error).__name__)
"""
    done = (run_traced if state == "a tool" else run_plain)(code)
    assert done.stdout.split() == ["TypeError"] * 5 + ["ValueError"] * 2 + ["TypeError"]


def test_asking():
    code = """
import nvspan
def ask(): return nvspan.tool(), nvspan.is_active(), nvspan.is_active("d")
print(*ask())
nvspan.disable("d"); print(*ask())
nvspan.disable(); print(*ask())
nvspan.enable(); nvspan.enable("d"); print(*ask())
"""
    assert run_plain(code).stdout.splitlines() == ["None False False"] * 4
    assert run_traced(code).stdout.splitlines() == [
        "nvspan True True", "nvspan True False", "nvspan False False", "nvspan True True",
    ]  # fmt: skip


def test_threads_switch_while_others_annotate():
    code = """
import sys, threading
sys.setswitchinterval(0.0005)
stop = threading.Event()
def annotate():
    while not stop.is_set():
        with nvspan.annotate("a", domain="lib"):
            decorated()
            nvspan.push_range("p", domain="lib"); nvspan.pop_range("lib")
def switch():
    for _ in range({times}):
        nvspan.disable("lib"); nvspan.disable(); nvspan.enable(); nvspan.enable("lib")
        with nvspan.paused(): pass
threads = [threading.Thread(target=annotate) for _ in range({threads})]
switchers = [threading.Thread(target=switch) for _ in range({threads})]
for thread in threads + switchers: thread.start()
for thread in switchers: thread.join()
stop.set()
for thread in threads: thread.join()
""".replace("{times}", str(length(50, 10))).replace("{threads}", str(length(20, 4)))
    open_now = {}
    for event in run_traced(USES + code).events:
        if event["kind"] not in ("push", "pop"):
            continue
        stack = open_now.setdefault(event["tid"], [])
        if event["kind"] == "push":
            assert event["depth"] == len(stack)
            stack.append(event["message"])
        else:
            assert stack
            assert stack.pop() == event["message"]
    assert not any(open_now.values())
