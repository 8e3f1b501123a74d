# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs send a tool what they send under nvtx 0.2.17, apart from the differences stated here.

What nvtx's own suite runs over (each call with every kind of message, color, domain, category and
payload) is not repeated: `.ci/peers.sh` runs that suite with nvspan in nvtx's place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import shared
from helpers.events import lines, registrations
from helpers.traced import run_traced

RUNNER = Path(__file__).parents[1] / "helpers" / "fork_runner.py"


@dataclass(frozen=True)
class Difference:
    """A documented difference: where the peer sends the lines `theirs`, nvspan sends `ours`."""

    why: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program and the differences that are right; `prints` if its output differs, too."""

    name: str
    source: str
    differences: tuple[Difference, ...] = ()
    prints: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What one program did under one package."""

    lines: list[str]
    strings: set[tuple[str | None, str | None]]
    categories: set[tuple[str | None, int, str]]
    status: int
    stdout: str
    stderr: str


def run_all(programs: list[Program], module: str, folder: Path) -> dict[str, Outcome]:
    """All programs under one package, each in a process of its own."""
    sources, results = folder / "programs.json", folder / "results.json"
    sources.write_text(json.dumps({program.name: program.source for program in programs}))
    traced = run_traced(RUNNER, module, str(sources), str(results))
    outcomes = {}
    for name, result in json.loads(results.read_text()).items():
        events = [event for event in traced.events if event["pid"] == result["pid"]]
        outcomes[name] = Outcome(
            lines(events),
            set(registrations(events, "register_string", "domain", "message")),
            set(registrations(events, "name_category", "domain", "category", "name")),
            result["status"],
            result["stdout"],
            traced.stderr,
        )
    return outcomes


def _without_chosen_ids(sent: list[str]) -> list[str]:
    """`sent` without the ids of named categories, which each package chooses for itself."""
    return [re.sub(r" category=#?\d+:", " category=", line) for line in sent]


def with_differences(program: Program, theirs: list[str]) -> list[str]:
    """The peer's lines with every documented difference put in, once and in order."""
    result, position = list(theirs), 0
    for difference in program.differences:
        size = len(difference.theirs)
        for index in range(position, len(result) - size + 1):
            if tuple(result[index : index + size]) == difference.theirs:
                break
        else:
            raise AssertionError(f"the peer does not send {difference.theirs}: {theirs}")
        result[index : index + size] = difference.ours
        position = index + len(difference.ours)
    return result


def compare(program: Program, ours: Outcome, theirs: Outcome) -> None:
    """Asserts that nvspan does what the peer does, apart from the documented differences."""
    assert theirs.status == 0, f"the peer fails: {theirs.stderr}"
    assert ours.status == 0, ours.stderr
    expected = with_differences(program, _without_chosen_ids(theirs.lines))
    assert _without_chosen_ids(ours.lines) == expected
    assert ours.lines or "nothing" in program.name
    if not program.differences:
        # A string or category that no event carries is not registered.
        assert ours.strings <= theirs.strings
        named = [{(domain, name) for domain, _, name in seen.categories} for seen in (ours, theirs)]
        assert named[0] <= named[1]
    assert ours.stdout == (theirs.stdout if program.prints is None else program.prints)


PEER_COLORS = ("green", "blue", "yellow", "purple", "rapids", "cyan", "red", "white", "darkgreen",
               "orange")  # fmt: skip
MARK = "mark [] 'm' color=000000FF"


def dropped_by_the_peer(name: str, value: str, ours: str, setup: str = "") -> Program:
    """A payload that the peer refuses with a warning and nvspan sends."""
    return Program(
        name,
        f"import warnings; warnings.simplefilter('ignore')\n{setup}\n"
        f"nvtx.mark('m', payload={value})",
        (Difference("the value is sent", (MARK,), (f"{MARK} payload={ours}",)),),
    )


PROGRAMS = [
    # ---- annotate
    Program("with_as_gives_the_object", "r = nvtx.annotate('a')\nwith r as s: print(r is s)"),
    Program(
        "with_all_keywords",
        "with nvtx.annotate(message='a', color='red', domain='d', category='c', payload=3): pass",
    ),
    Program("with_all_positional", "with nvtx.annotate('a', 'red', 'd', 'c', 3): pass"),
    Program("with_negative_payload", "with nvtx.annotate('a', payload=-2): pass"),
    Program("with_unicode", "with nvtx.annotate('größe 寸 🙂', domain='dömäne'): pass"),
    Program("with_long_message", "with nvtx.annotate('x' * 1500): pass"),
    Program(
        "nested",
        "with nvtx.annotate('a'):\n with nvtx.annotate('b', domain='d'):\n"
        "  with nvtx.annotate('c', domain='d'): pass\n with nvtx.annotate('e'): pass",
    ),
    Program("kept_object", "r = nvtx.annotate('a', payload=1)\nfor _ in range(3):\n with r: pass"),
    Program("kept_object_nested_in_itself", "r = nvtx.annotate('a')\nwith r:\n with r: pass"),
    Program(
        "break_continue_return",
        "def f():\n for i in range(3):\n  with nvtx.annotate('loop', payload=i):\n"
        "   if i == 0: continue\n   return i\nprint(f())",
    ),
    Program(
        "enter_and_exit_by_hand",
        "r = nvtx.annotate('a')\nprint(r.__enter__() is r)\nprint(r.__exit__(None, None, None))",
    ),
    Program(
        "exit_stack",
        "import contextlib\nwith contextlib.ExitStack() as s:\n"
        " s.enter_context(nvtx.annotate('a'))\n s.enter_context(nvtx.annotate('b'))\n"
        " nvtx.mark('m')",
    ),
    Program(
        "context_manager_generator",
        "import contextlib\n@contextlib.contextmanager\ndef cm(name):\n"
        " with nvtx.annotate(name): yield\nwith cm('a'):\n with cm('b'): pass",
    ),
    Program("several_in_one_with", "with nvtx.annotate('a'), nvtx.annotate('b'): pass"),
    Program(
        "decorator_keeps_metadata",
        "@nvtx.annotate('a')\ndef f(x: int, *, y: str = 'k') -> float:\n 'doc'\n return 1.0\n"
        "import inspect\nf(1)\n"
        "print(f.__name__, f.__doc__, f.__qualname__, f.__module__, inspect.signature(f))\n"
        "print(f.__wrapped__.__name__, f.__annotations__)",
    ),
    Program(
        "decorator_recursion",
        "@nvtx.annotate('fact')\ndef fact(n): return 1 if n < 2 else n * fact(n - 1)\n"
        "print(fact(5))",
    ),
    Program(
        "decorator_method",
        "class A:\n @nvtx.annotate()\n def m(self, x): return x\n"
        " @staticmethod\n @nvtx.annotate('s')\n def s(x): return x\n"
        " @classmethod\n @nvtx.annotate('c')\n def c(cls): return cls.__name__\n"
        " @property\n @nvtx.annotate('p')\n def p(self): return 4\n"
        "a = A()\nprint(a.m(1), a.s(2), A.s(3), a.c(), a.p)",
    ),
    Program(
        "decorator_lambda_and_partial",
        "import functools\nf = nvtx.annotate('l')(lambda x, *a, **k: (x, a, k))\n"
        "print(f(1, 2, k=3), functools.partial(f, 1)(5))",
    ),
    Program(
        "decorator_default_name_of_lambda_and_nested_function",
        "def outer():\n @nvtx.annotate()\n def inner(): pass\n inner()\nouter()\n"
        "nvtx.annotate()(lambda: 0)()",
    ),
    Program(
        "stacked_decorators",
        "@nvtx.annotate('outer')\n@nvtx.annotate('inner', domain='d')\ndef f(): pass\nf()",
    ),
    Program(
        "two_annotates_on_two_functions",
        "@nvtx.annotate()\ndef f(): pass\n@nvtx.annotate()\ndef g(): pass\nf()\ng()\nf()",
    ),
    Program(
        "one_object_on_two_functions",
        "a = nvtx.annotate()\n@a\ndef f(): pass\n@a\ndef g(): pass\nf()\ng()",
        (
            Difference(
                "each function has its own name",
                ("push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0") * 2,
                (
                    "push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0",
                    "push [] 'g' color=000000FF depth=0", "pop [] 'g' depth=0",
                ),
            ),
        ),
    ),
    Program(
        "object_used_as_decorator_and_context_manager",
        "a = nvtx.annotate()\n@a\ndef f(): pass\nf()\nwith a: pass",
        (
            Difference(
                "decorating does not change the object",
                ("push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0") * 2,
                (
                    "push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0",
                    "push [] - color=000000FF depth=0", "pop [] - depth=0",
                ),
            ),
        ),
    ),
    Program(
        "pickled_annotate",
        "import pickle\nr = pickle.loads(pickle.dumps(nvtx.annotate('a', 'red', 'd', 'c', 5)))\n"
        "print(r.init_args)\nwith r: pass",
    ),
    Program(
        "copied_annotate",
        "import copy\nr = nvtx.annotate('a', payload=5)\n"
        "for c in copy.copy(r), copy.deepcopy(r):\n"
        " print(type(c) is type(r), c.init_args)\n with c: pass",
    ),
    Program(
        "subclass",
        "class mine(nvtx.annotate):\n"
        " def __init__(self, name): super().__init__('my ' + name, domain='mine')\n"
        "with mine('a') as m: print(isinstance(m, nvtx.annotate))\n"
        "@mine('b')\ndef f(): return 1\nprint(f())",
    ),
    Program(
        "subclass_with_overridden_enter",
        "class mine(nvtx.annotate):\n def __enter__(self):\n  print('in')\n"
        "  return super().__enter__()\n def __exit__(self, *e):\n  print('out')\n"
        "  return super().__exit__(*e)\nwith mine('a'): pass",
    ),
    Program(
        "attributes_of_the_object",
        "a = nvtx.annotate('m', 'red', 'd', 'c', 5)\n"
        "print(a.attributes.message.string, a.init_args, a.domain.name)\nwith a: pass",
    ),
    Program("exit_with_no_enter_is_nothing", "nvtx.annotate('a').__exit__(None, None, None)",
        (Difference("closes nothing that it did not open", ("pop [] - depth=-1",), ()),)),
    # ---- functions
    Program(
        "mark_all_keywords",
        "nvtx.mark(message='a', color='red', domain='d', category=5, payload=1.5)",
    ),
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
    Program("start_end_keywords", "r = nvtx.start_range(message='a', domain='d')\n"
        "nvtx.end_range(range_id=r)"),
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
    # ---- domains, attributes and strings
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
    Program("pop_of_nothing", "nvtx.get_domain('d').pop_range()"),
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
    # ---- colors, payloads, categories and messages
    Program("the_ten_colors", "\n".join(f"nvtx.mark('m', color='{c}')" for c in PEER_COLORS)),
    Program("int_colors", "for c in 0, 1, 0x80FFFFFF, 0xFFFFFFFF: nvtx.mark('m', color=c)"),
    Program("bool_color", "nvtx.mark('m', color=True)"),
    Program("color_to_hex", "from importlib import import_module\n"
        "hex = import_module(nvtx.__name__ + '.colors').color_to_hex\n"
        "print(hex(), hex(None), hex('red'), hex('rapids'), hex(77))\nnvtx.mark('m')"),
    Program("color_table", "from importlib import import_module\n"
        "table = import_module(nvtx.__name__ + '.colors')._NVTX_COLORS\n"
        f"print([table[n] for n in {(None, *PEER_COLORS)}])\nnvtx.mark('m')"),
    Program("int_payloads", "for p in 0, 1, -1, 2**63 - 1, -2**63: nvtx.mark('m', payload=p)"),
    Program("float_payloads", "for p in 0.0, -1.5, 1e300, float('inf'), -float('inf'):\n"
        " nvtx.mark('m', payload=p)"),
    Program("nan_payload", "nvtx.mark('m', payload=float('nan'))"),
    dropped_by_the_peer("bool_payload", "True", "i64:1"),
    dropped_by_the_peer("int_enum_payload", "E.A", "i64:4",
        "import enum\nE = enum.IntEnum('E', {'A': 4})"),
    dropped_by_the_peer("numpy_int_payload", "numpy.int32(-5)", "i64:-5", "import numpy"),
    dropped_by_the_peer("numpy_float_payload", "numpy.float32(0.5)", "f64:0.5", "import numpy"),
    dropped_by_the_peer("int_subclass_payload", "I(6)", "i64:6", "class I(int): pass"),
    dropped_by_the_peer("float_subclass_payload", "F(6)", "f64:6.0", "class F(float): pass"),
    dropped_by_the_peer("str_payload", "'text'", "ext:None"),
    Program("int_categories", "for c in 0, 1, 77, 2**31: nvtx.mark('m', category=c)"),
    Program("str_categories_per_domain", "for d in 'xy':\n for c in 'ab':\n"
        "  nvtx.mark('m', domain=d, category=c)"),
    Program("unicode_category", "nvtx.mark('m', category='größe')"),
    Program("str_category_after_an_int_category",
        "nvtx.mark('m', category=1)\nnvtx.mark('m', category='c')"),
    Program("many_messages", "for i in range(100): nvtx.mark(f'm{i}')"),
    Program("bytes_message", "nvtx.mark(b'abc')"),
    Program("bytes_message_in_annotate", "with nvtx.annotate('gr\\xf6\\xdfe'.encode()): pass"),
    Program("message_with_control_characters", "nvtx.mark('a\\tb\\nc\\x7f\\x1b')"),
    Program("message_with_embedded_nul", "nvtx.mark('a\\0b')",
        (Difference("the NUL is shown", ("mark [] 'a' color=000000FF",),
                    ("mark [] 'a\\\\0b' color=000000FF",)),)),
    Program("str_subclass_message", "class S(str): pass\nnvtx.mark(S('abc'))"),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What the programs did under each package."""
    return shared.result(
        __name__,
        lambda: {
            package: run_all(PROGRAMS, package, tmp_path_factory.mktemp(package))
            for package in ("nvtx", "nvspan")
        },
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_sends_what_the_peer_sends(program, outcomes):
    compare(program, outcomes["nvspan"][program.name], outcomes["nvtx"][program.name])
