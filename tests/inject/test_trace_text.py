# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The text of a trace: columns, nesting, details, escapes, colors."""

from __future__ import annotations

import os
import re
import select
import sys

import pytest

from helpers.traced import needs_library, run_traced

pytestmark = needs_library
TEXT = {"NVSPAN_TRACE": "format=text"}

PROGRAM = """
import nvspan, threading
nvspan.get_domain("lib")
with nvspan.annotate("outer", color="#ff8000"):
    with nvspan.annotate("inner", domain="lib", category="io", payload=2.5, color=0x00FF00):
        nvspan.mark("here", payload=2**64 - 1, color="blue")
    handle = nvspan.start_range("copy", domain="lib")
    nvspan.end_range(handle)
nvspan.pop_range()
"""


def text_of(code, **env):
    """The lines of a program's trace: (duration?, process is the first?, thread, rest)."""
    done = run_traced(code, env={**TEXT, **env})
    return done.stderr.splitlines()


def columns(line):
    match = re.fullmatch(
        r" *\d+\.\d{6} +(?:(\d+(?:\.\d{1,2})? (?:ns|us|ms|s)) +)?(\d+) (\S+) +(\S.*)", line
    )
    assert match, line
    return match.groups()


def test_the_whole_picture():
    lines = text_of(PROGRAM)
    found = [columns(line) for line in lines]
    assert len({pid for _, pid, _, _ in found}) == 1
    assert {thread for _, _, thread, _ in found} == {"main"}
    rest = [re.sub(r" {2,}", "  ", body) for *_, body in found]
    assert rest[0].startswith("·  NVTX connected: ")
    assert rest[1:] == [
        "╭─ outer",
        "│  ╭─ inner  [lib]  category=io  payload=2.5",
        "│  │  ◆  here  payload=18446744073709551615",
        "│  ╰─ inner  [lib]",
        "│  ▶  copy  [lib]  id=1",
        "│  ■  copy  [lib]  id=1",
        "╰─ outer",
        "✕  pop without an open range",
    ]
    closed = [duration is not None for duration, *_ in found]
    assert closed == [False, False, False, False, True, False, True, True, False]


def test_details_are_aligned():
    lines = text_of(PROGRAM)
    places = {line.index("[lib]") for line in lines if "[lib]" in line}
    assert len(places) == 1
    assert {line.index("payload=") for line in lines if "here" in line} == places


def test_ascii_where_the_locale_says_so():
    lines = text_of(PROGRAM, LC_ALL="de_DE.ISO-8859-1")
    rest = [re.sub(r" {2,}", "  ", columns(line)[-1]) for line in lines[1:]]
    assert rest == [
        "+- outer",
        "|  +- inner  [lib]  category=io  payload=2.5",
        "|  |  *  here  payload=18446744073709551615",
        "|  `- inner  [lib]",
        "|  >  copy  [lib]  id=1",
        "|  #  copy  [lib]  id=1",
        "`- outer",
        "x  pop without an open range",
    ]


def test_threads_have_their_number_or_their_name():
    code = """
import nvspan, threading
def work():
    print(threading.get_native_id())
    nvspan.mark("work")
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    done = run_traced(code, env=TEXT)
    assert [columns(line)[2] for line in done.stderr.splitlines()[1:]] == [done.stdout.strip()]


@pytest.mark.parametrize("unicode", [True, False])
def test_long_names_of_threads_keep_the_columns(unicode):
    names = ["a", "twelve chars", "thirteen char", "ThreadPoolExecutor-0_17", "漢字" * 4,
             "漢字" * 3, "\x1b[31m" * 9, "漢" + "a" * 20]  # fmt: skip
    code = f"""
import threading
import nvspan
def work(name):
    nvspan.name_thread(name)
    nvspan.mark("work", domain="d")
for name in {names!r}:
    thread = threading.Thread(target=work, args=(name,)); thread.start(); thread.join()
"""
    lines = [
        line
        for line in text_of(code, **({} if unicode else {"LC_ALL": "de_DE.ISO-8859-1"}))
        if line.endswith("[d]")
    ]
    mark = "…" if unicode else "~"
    shown = ["a", "twelve chars", f"thirt{mark}n char", f"Threa{mark}r-0_17",
             f"漢字{mark}字漢字", "漢字" * 3, f"\\x1b[{mark}[31m",
             f"漢aaa{mark}aaaaaa"]  # fmt: skip
    assert len(lines) == len(shown)
    begins = set()
    for line, name in zip(lines, shown, strict=True):
        wide = sum(ord(c) > 0x3000 for c in name)
        assert f" {name} " in line
        begins.add((line.index("work") + wide, line.index("[d]") + wide))
    assert len(begins) == 1


def test_names_are_escaped_cut_and_measured():
    code = """
import nvspan
nvspan.mark("tab\\tnewline\\n escape \\x1b[31m del \\x7f c1 \\x85 right-to-left \\u202e")
nvspan.mark(b"bytes \\xff")
nvspan.mark("x" * 1000)
nvspan.mark("漢字", domain="d")
nvspan.mark("ab", domain="d")
nvspan.mark("")
nvspan.mark()
"""
    lines = text_of(code)
    rest = [columns(line)[-1] for line in lines[1:]]
    assert rest[0] == (r"◆  tab\tnewline\n escape \x1b[31m del \x7f c1 \x85 right-to-left \u202e")
    assert rest[1] == r"◆  bytes \xff"
    assert rest[2] == "◆  " + "x" * 120 + "... (1000 bytes)"
    # The characters of the first name are two columns wide.
    assert lines[4].index("[d]") + 2 == lines[5].index("[d]")
    assert rest[5].strip() == "◆"
    assert rest[6] == "◆  (no name)"


def test_open_ranges_are_reported():
    code = """
import nvspan
nvspan.push_range("pushed", domain="d")
nvspan.start_range("started")
"""
    rest = [re.sub(r" {2,}", "  ", columns(line)[-1]) for line in text_of(code)[1:]]
    assert rest == [
        "╭─ pushed  [d]",
        "│  ▶  started  id=1",
        "┄┄ pushed  [d]  never closed  reason=process_exit",
        "┄┄ started  never closed  id=1  reason=process_exit",
    ]


def on_a_terminal(code, **env):
    """What a program shows of its trace on a terminal."""
    import pty

    from helpers.traced import LIBRARY, clean_environment
    from nvspan import launch

    pid, terminal = pty.fork()
    if pid == 0:
        environment = clean_environment(
            {launch.INJECTION_VARIABLE: LIBRARY, **TEXT, "TERM": "xterm", "NO_COLOR": None,
             "COLORTERM": None, **env}
        )  # fmt: skip
        os.execve(sys.executable, [sys.executable, "-c", code], environment)
    output = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0
    return output.decode()


COLORED = "import nvspan; nvspan.mark('orange', color='#ff8000'); nvspan.mark('none', color=None)"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_terminal_gets_colors():
    full = on_a_terminal(COLORED, COLORTERM="truecolor")
    assert "\x1b[38;2;255;128;0m█\x1b[0m orange" in full
    palette = on_a_terminal(COLORED)
    assert "\x1b[38;5;214m█\x1b[0m orange" in palette


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_none_gets_none(env):
    assert "\x1b" not in on_a_terminal(COLORED, **env)


def test_a_file_gets_no_colors(tmp_path):
    out = tmp_path / "trace.txt"
    run_traced(PROGRAM, env={"NVSPAN_TRACE": f"format=text;file={out}", "COLORTERM": "truecolor"})
    assert "\x1b" not in out.read_text()
