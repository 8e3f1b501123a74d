# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvtx 0.2.17 does wrong with payloads, colors, categories and messages."""

from __future__ import annotations

import sys

import pytest

from helpers.events import lines, plain
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan as nvtx, warnings\nwarnings.simplefilter('ignore')\n"
MARK = "mark [] 'm'"


def marks(code, **options):
    return plain(run_traced(IMPORT + code, **options).events)


def test_payloads_reach_over_the_whole_unsigned_range():
    assert marks("for p in 2**63, 2**64 - 1, -2**63: nvtx.mark('m', payload=p)") == [
        f"{MARK} payload=u64:{2**63}", f"{MARK} payload=u64:{2**64 - 1}",
        f"{MARK} payload=i64:{-2**63}",
    ]  # fmt: skip


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_wider_payloads_overflow_in_both_states(run):
    code = IMPORT + (
        "for p in 2**64, -2**63 - 1:\n try: nvtx.mark('m', payload=p)\n"
        " except OverflowError: print('overflow')"
    )
    assert run(code).stdout == "overflow\n" * 2


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("True", "i64:1"),
        ("False", "i64:0"),
        ("E.A", "i64:4"),
        ("F.B", "f64:0.5"),
        ("numpy.int8(-3)", "i64:-3"),
        ("numpy.uint64(2**64 - 1)", f"u64:{2**64 - 1}"),
        ("numpy.float32(0.25)", "f64:0.25"),
        ("numpy.float64(0.25)", "f64:0.25"),
        ("numpy.bool_(True)", "i64:1"),
    ],
)
def test_scalars_of_every_kind_are_sent(value, sent):
    setup = "import enum, numpy\nclass E(enum.IntEnum): A = 4\nclass F(enum.Enum): B = 0.5\n"
    assert marks(f"{setup}nvtx.mark('m', payload={value})") == [f"{MARK} payload={sent}"]


def test_a_refused_payload_leaves_no_earlier_one_behind():
    code = (
        "d = nvtx.get_domain('d')\na = d.get_event_attributes(message='m', payload=5)\nd.mark(a)\n"
        "a.payload = {1}\nd.mark(a)\nd.mark(a, payload=6)\nd.mark(a, payload=object())\n"
        "r = nvtx.annotate('m', payload=[object()])\nwith r: pass"
    )
    assert marks(code) == [
        "mark [d] 'm' payload=i64:5", "mark [d] 'm'", "mark [d] 'm' payload=i64:6", "mark [d] 'm'",
        "push [] 'm' depth=0", "pop [] 'm' depth=0",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["{1, 2}", "1j", "object()"])
@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_an_unsupported_payload_warns_once_and_the_event_goes_out(run, value):
    code = (
        "import nvspan as nvtx, warnings, numpy\n"
        "with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always')\n"
        f" for _ in range(3): nvtx.mark('m', payload={value})\n"
        "kind = caught[0].category\n"
        "print(len(caught), kind.__name__, issubclass(kind, UserWarning))"
    )
    done = run(code)
    assert done.stdout == "1 NvspanWarning True\n"
    assert plain(done.events) == ([MARK] * 3 if run is run_traced else [])


def test_embedded_nul_does_not_cut_the_message():
    assert marks("nvtx.mark('a\\0b')\nnvtx.mark(b'a\\0b')") == [r"mark [] 'a\\0b'"] * 2


def test_embedded_nul_does_not_cut_the_domain_and_the_category():
    traced = run_traced(IMPORT + "nvtx.mark('m', domain='a\\0b', category='c\\0d')")
    assert plain(traced.events) == [r"mark [a\0b] 'm' category=#1:c\0d"]


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_lone_surrogates_raise_in_no_state(run):
    code = IMPORT + "nvtx.mark('a\\ud800b', domain='\\udcff', category='\\udc80')\nprint('fine')"
    done = run(code)
    assert done.stdout == "fine\n"
    expected = [r"mark [\udcff] 'a\\ud800b' category=#1:\udc80"]
    assert plain(done.events) == (expected if run is run_traced else [])


def test_bytes_that_are_not_utf8_arrive_escaped():
    assert marks(r"nvtx.mark(b'a\xffb')") == [r"mark [] 'a\\xffb'"]


def test_a_message_longer_than_tools_take_is_cut_and_one_warning_says_so():
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        " warnings.simplefilter('always')\n"
        " nvtx.mark('x' * 1_000_000)\n nvtx.mark('\u20ac' * 30_000)\n nvtx.mark('y' * 65_000)\n"
        "print(len(seen), seen[0].message)"
    )
    traced = run_traced(IMPORT + code)
    messages = [event["message"] for event in traced.events if event["kind"] == "mark"]
    assert messages == ["x" * 65_000, "\u20ac" * 21_666, "y" * 65_000]
    assert traced.stdout.startswith("1 message of 1000000 bytes is cut to 65000: ")


def test_no_message_is_passed_as_none_and_never_as_a_null_pointer():
    events = run_traced(IMPORT + "nvtx.mark()\nnvtx.mark(None)\nnvtx.mark('')").events
    seen = [
        (event["message_type"], event["message"]) for event in events if event["kind"] == "mark"
    ]
    assert seen[:2] == [("none", None)] * 2
    assert seen[2][1] == ""


@pytest.mark.parametrize("first", ["True", "1", "None"])
@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_a_float_color_is_refused_whatever_was_used_before(run, first):
    code = IMPORT + (
        f"nvtx.mark('m', color={first})\ntry: nvtx.mark('m', color=1.0)\n"
        "except TypeError: print('refused')"
    )
    assert run(code).stdout == "refused\n"


def test_numpy_integers_are_colors():
    traced = run_traced(IMPORT + "import numpy\nnvtx.mark('m', color=numpy.uint32(0xFF00FF00))")
    assert lines(traced.events) == ["mark [] 'm' color=FF00FF00"]


@pytest.mark.parametrize(
    ("color", "argb"),
    [
        ("'rebeccapurple'", "FF663399"),
        ("'RebeccaPurple'", "FF663399"),
        ("'#fff'", "FFFFFFFF"),
        ("'#102030'", "FF102030"),
        ("'#80102030'", "80102030"),
        ("(1.0, 0.0, 0.0)", "FFFF0000"),
        ("(0.0, 0.0, 1.0, 0.0)", "000000FF"),
        ("'red'", "00FF0000"),
        ("'rapids'", "007400FF"),
        ("0x12345678", "12345678"),
    ],
)
def test_colors_need_no_matplotlib(color, argb):
    code = f"{IMPORT}import sys\nsys.modules['matplotlib'] = None\nnvtx.mark('m', color={color})"
    assert lines(run_traced(code).events) == [f"mark [] 'm' color={argb}"]


def test_auto_color_is_stable_and_depends_on_the_name():
    code = IMPORT + "for n in 'aba': nvtx.mark(n, color='auto')"
    first, second = (
        [event["color"] for event in run_traced(code).events if event["kind"] == "mark"]
        for _ in range(2)
    )
    assert first == second
    assert first[0] == first[2] != first[1]


def test_domains_accept_str_subclasses_and_str_enums():
    code = (
        "import enum\nclass S(str): pass\nclass E(str, enum.Enum): LIB = 'lib'\n"
        "nvtx.mark('m', domain=S('lib'))\nwith nvtx.annotate('a', domain=E.LIB): pass\n"
        "print(nvtx.get_domain(E.LIB) is nvtx.get_domain('lib') is nvtx.get_domain(S('lib')))"
    )
    traced = run_traced(IMPORT + code)
    assert traced.stdout == "True\n"
    assert plain(traced.events) == [
        "mark [lib] 'm'", "push [lib] 'a' depth=0", "pop [lib] 'a' depth=0",
    ]  # fmt: skip


def test_payload_and_message_callables_run_only_under_a_tool():
    code = IMPORT + (
        "def message(): print('message'); return 'made'\n"
        "def payload(): print('payload'); return 3\n"
        "with nvtx.annotate(message=message, payload=payload): pass"
    )
    traced = run_traced(code)
    assert sorted(traced.stdout.split()) == ["message", "payload"]
    assert plain(traced.events) == ["push [] 'made' payload=i64:3 depth=0", "pop [] 'made' depth=0"]
    assert run_plain(code).stdout == ""


def test_an_exception_in_a_callable_is_a_warning_and_the_event_goes_out():
    code = (
        "import nvspan as nvtx, warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always')\n"
        " for _ in range(2):\n  with nvtx.annotate('a', payload=lambda: 1 / 0): pass\n"
        "print(len(caught), caught[0].category.__name__)"
    )
    traced = run_traced(code)
    assert traced.stdout.split()[1:] == ["NvspanWarning"]
    assert plain(traced.events) == ["push [] 'a' depth=0", "pop [] 'a' depth=0"] * 2


def test_mutable_scalars_are_read_again_at_each_entry():
    code = (
        "class Tensor:\n shape = ()\n def item(self): return self.value\n"
        " def __setitem__(self, key, value): self.value = value\n"
        "v = Tensor(); v[...] = 0\nr = nvtx.annotate('a', payload=v)\n"
        "for i in range(3):\n v[...] = i\n with r: pass"
    )
    pushes = [line for line in marks(code) if line.startswith("push")]
    assert pushes == [f"push [] 'a' payload=i64:{i} depth=0" for i in range(3)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_hundred_thousand_messages_and_a_hundred_thousand_domain_calls_keep_memory_flat():
    code = IMPORT + (
        "def rss():\n"
        " return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "for i in range(10_000): nvtx.mark(f'warm {i}', domain='d')\n"
        "before = rss()\nfor i in range(300_000): nvtx.mark(f'name {i}', domain='d')\n"
        "for i in range(100_000): nvtx.Domain('d')\nprint(rss() - before)"
    )
    traced = run_traced(code, env={"NVSPAN_TRACE": "format=jsonl;file=/dev/null"})
    assert int(traced.stdout) < 16 * 1024 * 1024


def test_the_cache_of_annotations_keeps_no_payload_alive():
    code = """
import gc, weakref
class Thing:
    def __call__(self): return 1
seen = []
for _ in range(5):
    thing = Thing()
    seen.append(weakref.ref(thing))
    with nvtx.annotate("kept", payload=thing): pass
del thing
gc.collect()
print(sum(each() is not None for each in seen))
"""
    assert run_traced(IMPORT + code).stdout == "0\n"
