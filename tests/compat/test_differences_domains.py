# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvtx 0.2.17 does wrong with domains, attributes, NVTX_DISABLE and its import."""

from __future__ import annotations

import pytest

from helpers.events import plain, registrations
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan as nvtx\n"
BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])


def domains(traced):
    return registrations(traced.events, "domain_create", "domain")


@BOTH
def test_a_domain_is_the_same_object_and_type_in_both_states(run):
    code = IMPORT + (
        "import nvspan\nd = nvtx.Domain('d')\n"
        "print(d is nvtx.Domain('d') is nvtx.get_domain('d'), type(d) is nvtx.Domain)\n"
        "print(d.name, d.handle.name, dict(d.categories), type(d.handle.enabled()).__name__)\n"
        "print(isinstance(nvtx.get_domain(), nvtx.Domain))"
    )
    assert run(code).stdout == "True True\nd d {} bool\nTrue\n"


def test_one_name_makes_one_domain_that_is_never_destroyed():
    code = IMPORT + (
        "import gc\nfor _ in range(3):\n nvtx.Domain('d').mark(message='m')\n gc.collect()\n"
        "nvtx.get_domain('d').mark(message='m')\nwith nvtx.annotate('a', domain='d'): pass\n"
        "nvtx.mark('m')"
    )
    traced = run_traced(code)
    assert domains(traced) == [("d",)]
    assert registrations(traced.events, "domain_destroy", "domain") == []
    assert len(plain(traced.events)) == 7


def test_threads_that_ask_at_once_make_one_domain_each():
    code = IMPORT + (
        "import threading\ngate = threading.Barrier(8)\nseen = []\n"
        "def work():\n gate.wait()\n"
        " seen.append([nvtx.get_domain(f'd{i}') for i in range(200)])\n"
        " for d in seen[-1]: d.mark(message='m')\n"
        "ts = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
        "print(len({id(d) for ds in seen for d in ds}))"
    )
    traced = run_traced(code)
    assert traced.stdout == "200\n"
    assert sorted(domains(traced)) == sorted((f"d{i}",) for i in range(200))


@BOTH
def test_attributes_work_in_both_states(run):
    code = IMPORT + (
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


@BOTH
def test_annotate_objects_have_their_attributes_in_both_states(run):
    code = IMPORT + (
        "a = nvtx.annotate('m', 'red', 'd', 'c', 5)\n"
        "print(a.attributes.message.string, a.domain is nvtx.get_domain('d'), a.init_args)\n"
        "with a as b: print(b is a)"
    )
    assert run(code).stdout == "m True ('m', 'red', 'd', 'c', 5)\nTrue\n"


def test_what_is_set_on_one_objects_attributes_never_shows_in_another():
    code = IMPORT + (
        "with nvtx.annotate('m') as a: a.attributes.payload = 5\n"
        "with nvtx.annotate('m'): pass\nwith a: pass\nwith nvtx.annotate('m') as b: pass\n"
        "print(a is b)"
    )
    traced = run_traced(code)
    assert traced.stdout == "False\n"
    assert [line for line in plain(traced.events) if line.startswith("push")] == [
        "push [] 'm' depth=0", "push [] 'm' depth=0", "push [] 'm' payload=i64:5 depth=0",
        "push [] 'm' depth=0",
    ]  # fmt: skip


def test_attributes_used_in_another_domain_carry_no_foreign_handle():
    code = IMPORT + (
        "a = nvtx.get_domain('one').get_event_attributes('m')\ntwo = nvtx.get_domain('two')\n"
        "two.mark(a)\nnvtx.get_domain('one').mark(a)\ntwo.push_range(a)\ntwo.pop_range()"
    )
    traced = run_traced(code)
    assert plain(traced.events) == [
        "mark [two] 'm'", "mark [one] 'm'", "push [two] 'm' depth=0", "pop [two] 'm' depth=0",
    ]  # fmt: skip
    strings = registrations(traced.events, "register_string", "domain", "message")
    assert sorted(strings) == [("one", "m"), ("two", "m")]


def test_a_string_is_registered_once_however_it_is_passed():
    code = IMPORT + (
        "d = nvtx.get_domain('d')\ns = d.get_registered_string('x')\n"
        "print(s is d.get_registered_string(string='x'))\nd.mark(message='x')\n"
        "with nvtx.annotate('x', domain='d'): pass"
    )
    traced = run_traced(code)
    assert traced.stdout == "True\n"
    strings = registrations(traced.events, "register_string", "domain", "message")
    assert strings == [("d", "x")]


def test_the_default_domain_is_never_destroyed():
    traced = run_traced(IMPORT + "nvtx.get_domain().mark(message='m')")
    assert registrations(traced.events, "domain_destroy", "domain") == []


@pytest.mark.parametrize(
    ("value", "disabled"),
    [("1", True), ("true", True), ("yes", True), ("0", False), ("", False), ("false", False)],
)
def test_nvtx_disable_means_what_it_says_for_functions_and_domains(value, disabled):
    code = IMPORT + (
        "print(nvtx.enabled())\nnvtx.mark('m')\nd = nvtx.get_domain('d')\nd.mark(message='m')\n"
        "with nvtx.annotate('a') as x: print(x.attributes.message.string)"
    )
    traced = run_traced(code, env={"NVTX_DISABLE": value})
    assert traced.stdout == f"{not disabled}\na\n"
    assert plain(traced.events) == (
        [] if disabled else ["mark [] 'm'", "mark [d] 'm'", "push [] 'a' depth=0",
                             "pop [] 'a' depth=0"]
    )  # fmt: skip


def test_import_loads_nothing_of_a_third_party():
    code = (
        "import sys\nimport nvspan\n"
        "known = {*sys.stdlib_module_names, 'nvspan', '_distutils_hack', 'sitecustomize'}\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'numpy', 'pybind11', 'torch'}))"
    )
    assert run_plain(code).stdout == "[]\n"


def test_importing_makes_no_nvtx_call():
    assert [event for event in run_traced("import nvspan").events if event["kind"] != "init"] == []


def test_payloads_of_numpy_need_no_import_of_numpy_by_nvspan():
    code = IMPORT + "nvtx.mark('m', payload=5)\nimport sys\nprint('numpy' in sys.modules)"
    assert run_traced(code).stdout == "False\n"


def test_nvspan_trace_leaves_the_scripts_options_and_folder_alone(tmp_path):
    import subprocess
    import sys

    (tmp_path / "sibling.py").write_text("value = 'found'\n")
    (tmp_path / "script.py").write_text("import sys, sibling\nprint(sys.argv[1:], sibling.value)\n")
    command = [sys.executable, "-m", "nvspan", "trace", "-o", str(tmp_path / "out")]
    command += [str(tmp_path / "script.py"), "--epochs", "3", "-o", "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout == "['--epochs', '3', '-o', 'x'] found\n"


def test_nvspan_trace_without_a_program_gives_usage_and_no_traceback():
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "trace"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "usage" in done.stderr.lower()
    assert "Traceback" not in done.stderr
