# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvtx 0.2.17 does wrong, and nvspan does right."""

from __future__ import annotations

import sys

import pytest

from helpers import traced
from helpers.events import by_thread, lines, plain, registrations

IMPORT = "import nvspan as nvtx, warnings\nwarnings.simplefilter('ignore')\n"
MARK = "mark [] 'm'"


def run_plain(code):
    return traced.run_plain(IMPORT + code)


def run_traced(code, **options):
    return traced.run_traced(IMPORT + code, **options)


def sent(code):
    return plain(run_traced(code).events)


def domains(done):
    return registrations(done.events, "domain_create", "domain")


BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])


# ---- ranges and decorators


def test_bare_decorator_decorates_with_a_tool_and_without():
    code = "@nvtx.annotate\ndef f(x): return x + 1\nprint(f(1), f.__name__)"
    done = run_traced(code)
    assert done.stdout == run_plain(code).stdout == "2 f\n"
    assert plain(done.events) == ["push [] 'f' depth=0", "pop [] 'f' depth=0"]


def test_interleaved_generators_do_not_close_each_others_ranges():
    code = (
        "@nvtx.annotate('f')\ndef f():\n yield 1\n yield 2\n"
        "@nvtx.annotate('g')\ndef g():\n yield 1\n yield 2\nlist(zip(f(), g()))"
    )
    # The last is g's, which zip drops while it is suspended: closing it runs it once more.
    assert sent(code) == [
        f"{kind} [] '{name}' depth=0" for name in "fgfgfg" for kind in ("push", "pop")
    ]


@BOTH
def test_annotate_on_a_class_and_on_a_callable_object_keeps_what_they_are(run):
    code = (
        "@nvtx.annotate('K')\nclass K:\n def m(self): return 1\n"
        "class Call:\n def __call__(self, x): return x * 2\n"
        "print(isinstance(K, type), K().m(), isinstance(K(), K))\n"
        "c = nvtx.annotate('call')(Call())\nprint(c(4), nvtx.annotate('len')(len)([1]))"
    )
    assert run(code).stdout == "True 1 True\n8 1\n"


def test_one_object_with_a_payload_callable_in_six_threads_sends_only_right_values():
    code = (
        "import threading\nhere = threading.local()\n"
        "r = nvtx.annotate('a', payload=lambda: here.value)\ngate = threading.Barrier(6)\n"
        "def work(i):\n gate.wait()\n for n in range(200):\n  here.value = i * 1000 + n\n"
        "  with r: pass\n"
        "ts = [threading.Thread(target=work, args=(i,)) for i in range(6)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]"
    )
    threads = by_thread(run_traced(code).events)
    expected = [
        [
            line
            for n in range(200)
            for line in (f"push [] 'a' payload=i64:{i * 1000 + n} depth=0", "pop [] 'a' depth=0")
        ]
        for i in range(6)
    ]
    assert sorted(threads) == sorted(expected)


def test_a_stray_pop_inside_a_with_does_not_make_it_close_another_range():
    code = (
        "with nvtx.annotate('outer'):\n with nvtx.annotate('inner'):\n  nvtx.pop_range()\n"
        " nvtx.mark('m')"
    )
    lines = sent(code)
    assert lines.count("pop [] 'outer' depth=0") == 1
    assert lines.index("mark [] 'm'") < lines.index("pop [] 'outer' depth=0")


# ---- domains, attributes, NVTX_DISABLE and the import


@BOTH
def test_a_domain_is_the_same_object_and_type_in_both_states(run):
    code = (
        "import nvspan\nd = nvtx.Domain('d')\n"
        "print(d is nvtx.Domain('d') is nvtx.get_domain('d'), type(d) is nvtx.Domain)\n"
        "print(d.name, d.handle.name, dict(d.categories), type(d.handle.enabled()).__name__)\n"
        "print(isinstance(nvtx.get_domain(), nvtx.Domain))"
    )
    assert run(code).stdout == "True True\nd d {} bool\nTrue\n"


def test_one_name_makes_one_domain_that_is_never_destroyed():
    code = (
        "import gc\nfor _ in range(3):\n nvtx.Domain('d').mark(message='m')\n gc.collect()\n"
        "nvtx.get_domain('d').mark(message='m')\nwith nvtx.annotate('a', domain='d'): pass\n"
        "nvtx.mark('m')"
    )
    done = run_traced(code)
    assert domains(done) == [("d",)]
    assert registrations(done.events, "domain_destroy", "domain") == []
    assert len(plain(done.events)) == 7


def test_threads_that_ask_at_once_make_one_domain_each():
    code = (
        "import threading\ngate = threading.Barrier(8)\nseen = []\n"
        "def work():\n gate.wait()\n"
        " seen.append([nvtx.get_domain(f'd{i}') for i in range(200)])\n"
        " for d in seen[-1]: d.mark(message='m')\n"
        "ts = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
        "print(len({id(d) for ds in seen for d in ds}))"
    )
    done = run_traced(code)
    assert done.stdout == "200\n"
    assert sorted(domains(done)) == sorted((f"d{i}",) for i in range(200))


@BOTH
def test_attributes_work_in_both_states(run):
    code = (
        "d = nvtx.get_domain('d')\na = d.get_event_attributes('m', 'red', 'c', 5)\n"
        "print(a.message.string, a.color, a.category, a.payload, a.domain is d)\n"
        "a.message = d.get_registered_string('n')\na.color = 7\na.category = 3\na.payload = None\n"
        "print(a.message.string, a.color, a.category, a.payload)\n"
        "d.set_event_attributes(a, payload=2.5, message='o')\nprint(a.payload, a.message.string)\n"
        "r = d.start_range(a)\nprint(type(r).__name__)\nd.end_range(r)\nd.push_range(a)\n"
        "d.pop_range()\ns = d.get_registered_string('x')\n"
        "print(type(s).__name__, s.string, d.get_category_id('c'))"
    )
    assert run(code).stdout == (
        "m red 1000000001 5 True\nn 7 3 None\n2.5 o\nint\nRegisteredString x 1000000001\n"
    )


def test_what_is_set_on_one_objects_attributes_never_shows_in_another():
    code = (
        "with nvtx.annotate('m') as a: a.attributes.payload = 5\n"
        "with nvtx.annotate('m'): pass\nwith a: pass\nwith nvtx.annotate('m') as b: pass\n"
        "print(a is b)"
    )
    done = run_traced(code)
    assert done.stdout == "False\n"
    assert [line for line in plain(done.events) if line.startswith("push")] == [
        "push [] 'm' depth=0", "push [] 'm' depth=0", "push [] 'm' payload=i64:5 depth=0",
        "push [] 'm' depth=0",
    ]  # fmt: skip


def test_attributes_used_in_another_domain_carry_no_foreign_handle():
    code = (
        "a = nvtx.get_domain('one').get_event_attributes('m')\ntwo = nvtx.get_domain('two')\n"
        "two.mark(a)\nnvtx.get_domain('one').mark(a)\ntwo.push_range(a)\ntwo.pop_range()"
    )
    done = run_traced(code)
    assert plain(done.events) == [
        "mark [two] 'm'", "mark [one] 'm'", "push [two] 'm' depth=0", "pop [two] 'm' depth=0",
    ]  # fmt: skip
    strings = registrations(done.events, "register_string", "domain", "message")
    assert sorted(strings) == [("one", "m"), ("two", "m")]


def test_a_string_is_registered_once_however_it_is_passed():
    code = (
        "d = nvtx.get_domain('d')\ns = d.get_registered_string('x')\n"
        "print(s is d.get_registered_string(string='x'))\nd.mark(message='x')\n"
        "with nvtx.annotate('x', domain='d'): pass"
    )
    done = run_traced(code)
    assert done.stdout == "True\n"
    strings = registrations(done.events, "register_string", "domain", "message")
    assert strings == [("d", "x")]


@pytest.mark.parametrize(
    ("value", "disabled"),
    [("1", True), ("true", True), ("yes", True), ("0", False), ("", False), ("false", False)],
)
def test_nvtx_disable_means_what_it_says_for_functions_and_domains(value, disabled):
    code = (
        "print(nvtx.enabled())\nnvtx.mark('m')\nd = nvtx.get_domain('d')\nd.mark(message='m')\n"
        "with nvtx.annotate('a') as x: print(x.attributes.message.string)"
    )
    done = run_traced(code, env={"NVTX_DISABLE": value})
    assert done.stdout == f"{not disabled}\na\n"
    assert plain(done.events) == (
        [] if disabled else ["mark [] 'm'", "mark [d] 'm'", "push [] 'a' depth=0",
                             "pop [] 'a' depth=0"]
    )  # fmt: skip


def test_importing_makes_no_nvtx_call():
    assert [event for event in run_traced("import nvspan").events if event["kind"] != "init"] == []


# ---- payloads, colors, categories and messages


def test_payloads_reach_over_the_whole_unsigned_range():
    assert sent("for p in 2**63, 2**64 - 1, -2**63: nvtx.mark('m', payload=p)") == [
        f"{MARK} payload=u64:{2**63}", f"{MARK} payload=u64:{2**64 - 1}",
        f"{MARK} payload=i64:{-2**63}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "arrives"),
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
def test_scalars_of_every_kind_are_sent(value, arrives):
    setup = "import enum, numpy\nclass E(enum.IntEnum): A = 4\nclass F(enum.Enum): B = 0.5\n"
    assert sent(f"{setup}nvtx.mark('m', payload={value})") == [f"{MARK} payload={arrives}"]


def test_a_refused_payload_leaves_no_earlier_one_behind():
    code = (
        "d = nvtx.get_domain('d')\na = d.get_event_attributes(message='m', payload=5)\nd.mark(a)\n"
        "a.payload = {1}\nd.mark(a)\nd.mark(a, payload=6)\nd.mark(a, payload=object())\n"
        "r = nvtx.annotate('m', payload=[object()])\nwith r: pass"
    )
    assert sent(code) == [
        "mark [d] 'm' payload=i64:5", "mark [d] 'm'", "mark [d] 'm' payload=i64:6", "mark [d] 'm'",
        "push [] 'm' depth=0", "pop [] 'm' depth=0",
    ]  # fmt: skip


def test_embedded_nul_does_not_cut_the_message():
    assert sent("nvtx.mark('a\\0b')\nnvtx.mark(b'a\\0b')") == [r"mark [] 'a\\0b'"] * 2


def test_embedded_nul_does_not_cut_the_domain_and_the_category():
    done = run_traced("nvtx.mark('m', domain='a\\0b', category='c\\0d')")
    assert plain(done.events) == [r"mark [a\0b] 'm' category=#1:c\0d"]


@BOTH
def test_lone_surrogates_raise_in_no_state(run):
    code = "nvtx.mark('a\\ud800b', domain='\\udcff', category='\\udc80')\nprint('fine')"
    done = run(code)
    assert done.stdout == "fine\n"
    expected = [r"mark [\udcff] 'a\\ud800b' category=#1:\udc80"]
    assert plain(done.events) == (expected if run is run_traced else [])


def test_bytes_that_are_not_utf8_arrive_escaped():
    assert sent(r"nvtx.mark(b'a\xffb')") == [r"mark [] 'a\\xffb'"]


def test_a_message_longer_than_tools_take_is_cut_and_one_warning_says_so():
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        " warnings.simplefilter('always')\n"
        " nvtx.mark('x' * 1_000_000)\n nvtx.mark('\u20ac' * 30_000)\n nvtx.mark('y' * 65_000)\n"
        "print(len(seen), seen[0].message)"
    )
    done = run_traced(code)
    messages = [event["message"] for event in done.events if event["kind"] == "mark"]
    assert messages == ["x" * 65_000, "\u20ac" * 21_666, "y" * 65_000]
    assert done.stdout.startswith("1 message of 1000000 bytes is cut to 65000: ")


def test_no_message_is_passed_as_none_and_never_as_a_null_pointer():
    events = run_traced("nvtx.mark()\nnvtx.mark(None)\nnvtx.mark('')").events
    seen = [
        (event["message_type"], event["message"]) for event in events if event["kind"] == "mark"
    ]
    assert seen[:2] == [("none", None)] * 2
    assert seen[2][1] == ""


@pytest.mark.parametrize("first", ["True", "1", "None"])
@BOTH
def test_a_float_color_is_refused_whatever_was_used_before(run, first):
    code = (
        f"nvtx.mark('m', color={first})\ntry: nvtx.mark('m', color=1.0)\n"
        "except TypeError: print('refused')"
    )
    assert run(code).stdout == "refused\n"


def test_numpy_integers_are_colors():
    done = run_traced("import numpy\nnvtx.mark('m', color=numpy.uint32(0xFF00FF00))")
    assert lines(done.events) == ["mark [] 'm' color=FF00FF00"]


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
    code = f"import sys\nsys.modules['matplotlib'] = None\nnvtx.mark('m', color={color})"
    assert lines(run_traced(code).events) == [f"mark [] 'm' color={argb}"]


def test_auto_color_is_stable_and_depends_on_the_name():
    code = "for n in 'aba': nvtx.mark(n, color='auto')"
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
    done = run_traced(code)
    assert done.stdout == "True\n"
    assert plain(done.events) == [
        "mark [lib] 'm'", "push [lib] 'a' depth=0", "pop [lib] 'a' depth=0",
    ]  # fmt: skip


def test_payload_and_message_callables_run_only_under_a_tool():
    code = (
        "def message(): print('message'); return 'made'\n"
        "def payload(): print('payload'); return 3\n"
        "with nvtx.annotate(message=message, payload=payload): pass"
    )
    done = run_traced(code)
    assert sorted(done.stdout.split()) == ["message", "payload"]
    assert plain(done.events) == ["push [] 'made' payload=i64:3 depth=0", "pop [] 'made' depth=0"]
    assert run_plain(code).stdout == ""


def test_an_exception_in_a_callable_is_a_warning_and_the_event_goes_out():
    code = (
        "import nvspan as nvtx, warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always')\n"
        " for _ in range(2):\n  with nvtx.annotate('a', payload=lambda: 1 / 0): pass\n"
        "print(len(caught), caught[0].category.__name__)"
    )
    done = run_traced(code)
    assert done.stdout.split()[1:] == ["NvspanWarning"]
    assert plain(done.events) == ["push [] 'a' depth=0", "pop [] 'a' depth=0"] * 2


def test_mutable_scalars_are_read_again_at_each_entry():
    code = (
        "class Tensor:\n shape = ()\n def item(self): return self.value\n"
        " def __setitem__(self, key, value): self.value = value\n"
        "v = Tensor(); v[...] = 0\nr = nvtx.annotate('a', payload=v)\n"
        "for i in range(3):\n v[...] = i\n with r: pass"
    )
    pushes = [line for line in sent(code) if line.startswith("push")]
    assert pushes == [f"push [] 'a' payload=i64:{i} depth=0" for i in range(3)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_hundred_thousand_messages_and_a_hundred_thousand_domain_calls_keep_memory_flat():
    code = (
        "def rss():\n"
        " return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "for i in range(10_000): nvtx.mark(f'warm {i}', domain='d')\n"
        "before = rss()\nfor i in range(300_000): nvtx.mark(f'name {i}', domain='d')\n"
        "for i in range(100_000): nvtx.Domain('d')\nprint(rss() - before)"
    )
    done = run_traced(code, env={"NVSPAN_TRACE": "format=jsonl;file=/dev/null"})
    assert int(done.stdout) < 16 * 1024 * 1024


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
    assert run_traced(code).stdout == "0\n"
