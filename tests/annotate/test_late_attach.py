# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A tool that comes in the middle of a program gets every later event; one that goes, none."""

from __future__ import annotations

import pytest

from helpers.events import lines, plain, registrations
from helpers.traced import LIBRARY, read_events, run_plain, run_traced

HEADER = f"""
import os, sys, nvspan
from nvspan import _core
def attach(path): _core.attach({LIBRARY!r}, f"format=jsonl;file={{path}}")
first, second = sys.argv[1:3]
"""

# Everything that can be made before a tool comes and used after.
USES = """
kept = nvspan.annotate("kept", color="red", domain="late", category="c", payload=4)
cached = nvspan.annotate("cached")
domain = nvspan.get_domain("late")
attributes = domain.get_event_attributes(message="attributes", category="c")
string = domain.get_registered_string("string")
@nvspan.annotate("decorated", domain="late")
def decorated(x): return x
@nvspan.annotate
def bare(): pass
class Klass:
    @nvspan.annotate()
    def method(self): pass
    @nvspan.annotate("static")
    @staticmethod
    def static(): pass
@nvspan.annotate("generator")
def generator():
    yield 1
instance = Klass()
def use():
    with kept: pass
    with cached: pass
    with nvspan.annotate("cached"): pass
    domain.push_range(attributes); domain.pop_range()
    domain.mark(message="mark")
    nvspan.push_range("push"); nvspan.pop_range()
    nvspan.end_range(nvspan.start_range("start", domain="late"))
    decorated(1); bare(); instance.method(); instance.static(); Klass.static()
    list(generator())
"""

EXPECTED = [
    "push [late] 'kept' category=#1:c payload=i64:4 depth=0", "pop [late] 'kept' depth=0",
    "push [] 'cached' depth=0", "pop [] 'cached' depth=0",
    "push [] 'cached' depth=0", "pop [] 'cached' depth=0",
    "push [late] 'attributes' category=#1:c depth=0", "pop [late] 'attributes' depth=0",
    "mark [late] 'mark'",
    "push [] 'push' depth=0", "pop [] 'push' depth=0",
    "start #1 [late] 'start'", "end #1 [late] 'start'",
    "push [late] 'decorated' depth=0", "pop [late] 'decorated' depth=0",
    "push [] 'bare' depth=0", "pop [] 'bare' depth=0",
    "push [] 'method' depth=0", "pop [] 'method' depth=0",
    "push [] 'static' depth=0", "pop [] 'static' depth=0",
    "push [] 'static' depth=0", "pop [] 'static' depth=0",
    "push [] 'generator' depth=0", "pop [] 'generator' depth=0",
    "push [] 'generator' depth=0", "pop [] 'generator' depth=0",
]  # fmt: skip


def read(path):
    return read_events(path) if path.exists() else []


def run(code, tmp_path):
    """Runs `code` with two files to attach to; returns the events of each and the output."""
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    done = run_plain(HEADER + code, *map(str, files))
    return [read(path) for path in files], done.stdout


def test_attach_detach_and_attach_again(tmp_path):
    code = USES + (
        "for _ in range(10_000): use()\n"
        "attach(first)\nuse()\n_core.detach()\nfor _ in range(1000): use()\n"
        "attach(second)\nuse()\n_core.detach()\nuse()\nprint(_core.tool_attached())"
    )
    (first, second), stdout = run(code, tmp_path)
    assert plain(first) == EXPECTED
    assert plain(second) == EXPECTED
    assert stdout == "False\n"


def test_each_attachment_gets_its_own_domains_categories_and_strings(tmp_path):
    code = USES + "use(); attach(first); use(); _core.detach(); attach(second); use()"
    for events in run(code, tmp_path)[0]:
        assert registrations(events, "domain_create", "domain") == [("late",)]
        named = registrations(events, "name_category", "domain", "name")
        assert named == [("late", "c")]
        strings = registrations(events, "register_string", "domain", "message")
        assert len(strings) == len(set(strings))


def test_attach_before_anything_was_used(tmp_path):
    (first, _), _ = run("attach(first)\n" + USES + "use()", tmp_path)
    assert plain(first) == EXPECTED


def test_a_range_open_at_the_attach_sends_no_pop(tmp_path):
    code = (
        "r = nvspan.annotate('r')\nnvspan.push_range('p')\nwith r:\n"
        " s = nvspan.start_range('s')\n attach(first)\n with nvspan.annotate('in'): pass\n"
        "nvspan.end_range(s)\nnvspan.pop_range()\nnvspan.mark('last')"
    )
    (first, _), _ = run(code, tmp_path)
    assert plain(first) == ["push [] 'in' depth=0", "pop [] 'in' depth=0", "mark [] 'last'"]


def test_a_range_open_at_the_detach_is_not_closed_in_the_next_attachment(tmp_path):
    code = (
        "attach(first)\nr = nvspan.annotate('r')\nnvspan.push_range('p')\n"
        "s = nvspan.start_range('s')\nwith r:\n _core.detach()\n attach(second)\n"
        "nvspan.end_range(s)\nnvspan.pop_range()\nnvspan.mark('last')"
    )
    (first, second), _ = run(code, tmp_path)
    assert plain(first) == ["push [] 'p' depth=0", "start #1 [] 's'", "push [] 'r' depth=1"]
    assert plain(second) == ["mark [] 'last'"]


def test_attach_inside_a_decorated_call_and_detach_inside_another(tmp_path):
    code = (
        "@nvspan.annotate('f')\ndef f(do):\n do()\n return 1\n"
        "print(f(lambda: attach(first)), f(lambda: nvspan.mark('in')), f(_core.detach), f(int))"
    )
    (first, _), stdout = run(code, tmp_path)
    assert stdout == "1 1 1 1\n"
    assert plain(first) == ["push [] 'f' depth=0", "mark [] 'in'", "pop [] 'f' depth=0",
                            "push [] 'f' depth=0"]  # fmt: skip


def test_attach_while_other_threads_annotate(tmp_path):
    code = (
        USES
        + """
import threading
stop = threading.Event()
def work():
    while not stop.is_set(): use()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
for i in range(20):
    attach(first if i % 2 else second)
    use()
    _core.detach()
stop.set()
[t.join() for t in threads]
print("done")
"""
    )
    (first, second), stdout = run(code, tmp_path)
    assert stdout == "done\n"
    # The main thread's own events are whole in every attachment.
    for events in (first, second):
        main = [event for event in events if event["pid"] == event["tid"]]
        assert plain(main) == EXPECTED * 10 or lines_without_ids(main) == expected_without_ids(10)


def lines_without_ids(events):
    return [" ".join(w for w in line.split() if w[0] != "#") for line in plain(events)]


def expected_without_ids(times):
    return [" ".join(w for w in line.split() if w[0] != "#") for line in EXPECTED] * times


def test_attaching_twice_is_refused(tmp_path):
    code = (
        "attach(first)\ntry: attach(second)\nexcept RuntimeError as e: print('refused')\n"
        "nvspan.mark('m')\n_core.detach()\n_core.detach()\nprint('fine')"
    )
    (first, second), stdout = run(code, tmp_path)
    assert stdout == "refused\nfine\n"
    assert plain(first) == ["mark [] 'm'"]
    assert second == []


def test_attaching_what_is_no_tool_is_an_error(tmp_path):
    code = (
        "for path in '/nowhere/lib.so', sys.executable:\n"
        " try: _core.attach(path, '')\n except RuntimeError as e: print(path in str(e))\n"
        "attach(first)\nnvspan.mark('m')"
    )
    (first, _), stdout = run(code, tmp_path)
    assert stdout == "True\nTrue\n"
    assert plain(first) == ["mark [] 'm'"]


@pytest.mark.parametrize(
    "before", ["import nvspan", "import nvspan; f = nvspan.annotate('f')(len)"]
)
def test_an_injection_variable_set_after_import_but_before_the_first_call_works(before, tmp_path):
    out = tmp_path / "out.jsonl"
    code = (
        f"{before}\nimport os\nos.environ['NVTX_INJECTION64_PATH'] = {LIBRARY!r}\n"
        f"os.environ['NVSPAN_TRACE'] = 'format=jsonl;file={out}'\n"
        "@nvspan.annotate('g')\ndef g(): pass\ng()\nwith nvspan.annotate('a'): pass"
    )
    run_plain(code)
    assert lines(read(out)) == [
        "push [] 'g' color=000000FF depth=0", "pop [] 'g' depth=0",
        "push [] 'a' color=000000FF depth=0", "pop [] 'a' depth=0",
    ]  # fmt: skip


def test_a_function_decorated_before_the_variable_was_set_is_traced(tmp_path):
    out = tmp_path / "out.jsonl"
    code = (
        "import nvspan, os\n@nvspan.annotate('g')\ndef g(): pass\n"
        f"os.environ['NVTX_INJECTION64_PATH'] = {LIBRARY!r}\n"
        f"os.environ['NVSPAN_TRACE'] = 'format=jsonl;file={out}'\ng()"
    )
    run_plain(code)
    assert plain(read(out)) == ["push [] 'g' depth=0", "pop [] 'g' depth=0"]


def test_a_variable_set_after_the_first_call_comes_too_late_and_does_no_harm(tmp_path):
    out = tmp_path / "out.jsonl"
    code = (
        "import nvspan, os\nnvspan.mark('first')\n"
        f"os.environ['NVTX_INJECTION64_PATH'] = {LIBRARY!r}\n"
        f"os.environ['NVSPAN_TRACE'] = 'format=jsonl;file={out}'\nnvspan.mark('second')"
    )
    run_plain(code)
    assert read(out) == []


def test_the_tool_of_the_environment_stays_when_nothing_is_attached():
    traced = run_traced(
        "import nvspan\nfrom nvspan import _core\nprint(_core.listening())\n_core.detach()\n"
        "nvspan.mark('m')"
    )
    assert plain(traced.events) == ["mark [] 'm'"]
