# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvspan sends to tools that implement all of NVTX, parts of it, or refuse a domain."""

from __future__ import annotations

import shutil

import pytest

from helpers import tiny_tools

PROGRAM = """
import nvspan as nvtx
@nvtx.annotate("decorated")
def f(): pass
f()
with nvtx.annotate("a", payload=3, domain="open"): nvtx.mark("m", category="c")
with nvtx.annotate("hidden", domain="secret"): pass
nvtx.end_range(nvtx.start_range("z"))
"""
WHOLE = [
    "connect", "push [] decorated", "pop []", "create open", "push [open] a payload=3",
    "category  1000000001 c", "mark [] m", "pop [open]", "create secret", "push [secret] hidden",
    "pop [secret]", "start [] z", "end [] 41",
]  # fmt: skip


@pytest.mark.parametrize(
    "defines",
    [
        pytest.param((), id="without an extension entry point"),
        pytest.param(("TINY_EXTENSION=1",), id="with an extension that answers nothing"),
        pytest.param(("TINY_EXTENSION=1", "TINY_EXTENSION_FAILS"), id="whose extension fails"),
    ],
)
def test_a_tool_gets_every_event(defines, tmp_path):
    assert tiny_tools.run_under(tiny_tools.build(*defines), PROGRAM, tmp_path).log == WHOLE


def test_a_tool_that_refuses_a_domain_is_obeyed(tmp_path):
    library = tiny_tools.build("TINY_EXTENSION=1", 'TINY_REFUSES="secret"')
    log = tiny_tools.run_under(library, PROGRAM, tmp_path).log
    assert [line for line in log if "secret" in line and "create" not in line] == []
    assert [line for line in log if "secret" not in line] == [
        line for line in WHOLE if "secret" not in line
    ]


def test_refusing_a_domain_does_not_change_what_the_program_sees(tmp_path):
    program = PROGRAM + (
        "d = nvtx.get_domain('secret')\nprint(type(d) is nvtx.Domain, d.name)\n"
        "a = d.get_event_attributes('x', 'red', 'c', 1)\nprint(a.message.string, a.payload)\n"
        "h = nvtx.start_range('x', domain='secret')\nprint(type(h).__name__, len(h))\n"
        "nvtx.end_range(h)\nprint(type(d.start_range(a)).__name__)"
    )
    refusing = tiny_tools.build("TINY_EXTENSION=1", 'TINY_REFUSES="secret"')
    outputs = [
        tiny_tools.run_under(library, program, tmp_path).stdout
        for library in (refusing, tiny_tools.build())
    ]
    assert outputs[0] == outputs[1]


def test_a_tool_that_knows_only_push_and_pop_gets_texts_and_no_null_handle(tmp_path):
    log = tiny_tools.run_under(tiny_tools.build("TINY_ONLY_PUSH_POP"), PROGRAM, tmp_path).log
    assert "NULL" not in "\n".join(log)
    assert log[:3] == ["connect", "push [] ascii:decorated", "pop []"]
    assert [line for line in log if line.startswith("push")][-1].endswith("ascii:hidden")


def test_a_tool_that_fills_in_nothing_is_left_alone(tmp_path):
    run = tiny_tools.run_under(tiny_tools.build("TINY_FILLS_NOTHING"), PROGRAM, tmp_path)
    assert run.log == ["connect"]


@pytest.mark.parametrize("path", ["/nowhere/tool.so", __file__], ids=["missing", "no library"])
def test_a_tool_that_cannot_be_loaded_does_not_stop_the_program(path, tmp_path):
    run = tiny_tools.run_under(path, PROGRAM + "print('fine')", tmp_path)
    assert run.stdout == "fine\n"


def test_no_extended_payload_reaches_a_tool_without_the_extension(tmp_path):
    code = (
        "import warnings; warnings.simplefilter('ignore')\nimport nvspan\n"
        "nvspan.mark('m', payload=[1, 2])\nnvspan.mark('m', payload=b'x')"
    )
    log = tiny_tools.run_under(tiny_tools.build(), code, tmp_path).log
    assert log == ["connect", "mark [] m", "mark [] m"]


def test_a_tool_attached_in_process_may_be_a_foreign_one(tmp_path):
    code = (
        "import nvspan, os\nfrom nvspan import _core\nnvspan.mark('before')\n"
        "_core.attach(os.environ['TINY_TOOL'], '')\nnvspan.mark('during')\n_core.detach()\n"
        "nvspan.mark('after')"
    )
    library = tiny_tools.build()
    env = {"NVTX_INJECTION64_PATH": "", "TINY_TOOL": library}
    log = tiny_tools.run_under(library, code, tmp_path, env).log
    assert log == ["connect", "mark [] during"]


def test_user_data_of_a_refused_domain_is_not_evaluated(tmp_path):
    code = (
        "import nvspan\nwith nvspan.annotate('a', domain='secret', payload=lambda: print('ran')):\n"
        " pass\nwith nvspan.annotate('a', payload=lambda: print('open')): pass"
    )
    library = tiny_tools.build("TINY_EXTENSION=1", 'TINY_REFUSES="secret"')
    assert tiny_tools.run_under(library, code, tmp_path).stdout == "open\n"


NSIGHT = "opt/nvidia/nsight-"
LAYOUTS = [
    (NSIGHT + "compute/2025.3.1/host/target-linux-x64/libToolsInjection64.so", "nsys"),
    (NSIGHT + "compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/libcuda-injection.so", "ncu"),
    (NSIGHT + "compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/libother.so", "ncu"),
    (NSIGHT + "systems/2025.3.2/target-linux-x64/libToolsInjection64.so", "nsys"),
    (NSIGHT + "systems/2025.3.2/target-linux-x64/libother.so", "nsys"),
    ("usr/lib/x86_64-linux-gnu/nsight-compute/libcuda-injection.so", "ncu"),
    ("NsightSystems-cli-2026.3.0/target-linux-sbsa-armv8/libToolsInjection64.so", "nsys"),
    ("extras/CUPTI/lib64/libcupti.so.13", "cupti"),
    ("my-tool/libmine.so", "mine"),
]


def placed(tmp_path, layout):
    library = tmp_path / layout
    library.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(tiny_tools.build("TINY_EXTENSION=1"), library)
    return str(library)


@pytest.mark.parametrize(("layout", "name"), LAYOUTS)
def test_a_tool_is_known_by_its_library(layout, name, tmp_path):
    done = tiny_tools.run_under(
        placed(tmp_path, layout), "import nvspan; print(nvspan.tool())", tmp_path
    )
    assert done.stdout == f"{name}\n"


@pytest.mark.parametrize(("layout", "name"), LAYOUTS)
def test_an_empty_domain_name_is_a_blank_for_nsys_alone(layout, name, tmp_path):
    code = "import nvspan; nvspan.mark('m', domain=''); print(repr(nvspan.get_domain('').name))"
    done = tiny_tools.run_under(placed(tmp_path, layout), code, tmp_path)
    sent, message = " " if name == "nsys" else "", "ascii:m" if name == "ncu" else "m"
    assert done.log == ["connect", f"create {sent}", f"mark [{sent}] {message}"]
    assert done.stdout == "''\n"


def test_an_empty_domain_name_stays_empty_for_a_tool_below_check_mode(tmp_path):
    code = "import nvspan; nvspan.check(); nvspan.mark('m', domain='')"
    done = tiny_tools.run_under(placed(tmp_path, LAYOUTS[0][0]), code, tmp_path)
    assert done.log == ["connect", "create  ", "mark [ ] m"]
    done = tiny_tools.run_under(placed(tmp_path, LAYOUTS[1][0]), code, tmp_path)
    assert done.log == ["connect", "create ", "mark [] ascii:m"]


FROM_A_THREAD = """
import threading, nvspan
def events():
    nvspan.mark("marked", domain="d")
    with nvspan.annotate("pushed"): pass
    nvspan.end_range(nvspan.start_range("started", domain="d"))
thread = threading.Thread(target=events)
thread.start()
thread.join()
events()
print(nvspan.get_domain("d").get_registered_string("kept").handle != 0)
"""


def test_nsight_compute_which_forgets_the_strings_of_ended_threads_gets_text(tmp_path):
    for layout, prefix in ((LAYOUTS[1][0], "ascii:"), (LAYOUTS[3][0], "")):
        done = tiny_tools.run_under(placed(tmp_path, layout), FROM_A_THREAD, tmp_path)
        calls = [line for line in done.log if line.split()[0] in ("mark", "push", "start")]
        assert calls == [
            f"mark [d] {prefix}marked", f"push [] {prefix}pushed", f"start [d] {prefix}started"
        ] * 2, done.log  # fmt: skip
        assert done.stdout == "True\n"
