# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.writer into a library with NVTX's writer interface: the calls that nvtx.writer makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.traced import LIBRARY, clean_environment
from nvspan import writer
from nvspan.writer.backend import connection_of

SOURCE = Path(__file__).parents[1] / "programs" / "nvtxw_backend.cpp"
PROGRAM = Path(__file__).with_name("program.py")


@pytest.fixture(scope="module")
def library() -> Path:
    return build(SOURCE, "-shared", "-fPIC", name="libnvtxw_backend.so")


def calls_of(package: str, library: Path, folder: Path) -> tuple[list[str], list[str]]:
    output = folder / f"{package}.txt"
    command = [sys.executable, str(PROGRAM), package, str(library), str(output), LIBRARY]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=clean_environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), output.read_text().splitlines()


def test_a_program_makes_the_same_calls_and_sees_the_same(tmp_path, library):
    pytest.importorskip("nvtx.writer")
    pytest.importorskip("numpy")
    seen, calls = calls_of("nvspan", library, tmp_path)
    their_seen, their_calls = calls_of("nvtx", library, tmp_path)
    assert calls == their_calls
    assert seen == their_seen
    assert len(calls) > 130


def test_a_session_that_a_backend_takes(tmp_path, library):
    np = pytest.importorskip("numpy")
    output = tmp_path / "calls.txt"
    backend = writer.load_backend(library)
    with writer.Session("run", backend=backend, config=f"file={output}") as session:
        with session.create_stream("one", domain="app") as stream:
            colors = np.array([0xFF0000, 0xFF0000])
            stream.write_ranges([1, 5], [3, 9], message="x", color=colors, category=4)
            stream.write_marks([7], message=session.get_domain("app").get_registered_string("y"))
        for missing in (
            lambda: session.create_process(5),
            lambda: session.create_clock([(0, 0)]),
            lambda: session.create_stream("two", tid=5),
        ):
            with pytest.raises(writer.WriterError, match="not supported by this backend"):
                missing()
    backend.close()
    pushed = "(1:16:32 6144/17/0@0 10240/17/0@8 0/69/0@16 0/68/0@20 1024/80/0@24)"
    marked = "(1:32:24 14336/17/0@0 0/69/0@8 0/68/0@12 1024/80/0@16)"
    assert output.read_text().splitlines() == [
        "session 'run'",
        "domain 'app'",
        "stream 'one' [app] scope=0 time=0 0 0 0 0",
        "string [app] 'x'",
        f"events {pushed} flags=6 "
        "010000000000000003000000000000000000ff00040000000000000000000000"
        "050000000000000009000000000000000000ff00040000000000000000000000 'x' 'x'",
        "string [app] 'y'",
        f"events {marked} flags=6 070000000000000000000000000000000000000000000000 'y'",
        "close",
        "end",
    ]


def test_the_backend_is_asked_for_by_name_once(library, tmp_path):
    (tmp_path / "link.so").symlink_to(library)
    first, second = writer.load_backend(library), writer.load_backend(tmp_path / "link.so")
    assert connection_of(first).module is connection_of(second).module
    first.close()
    assert repr(first) == "<nvspan.writer.Backend, closed>"
    with writer.Session("x", backend=second, config=f"file={tmp_path / 'x'}"):
        pass
    second.close()
    with pytest.raises(writer.WriterError) as raised:
        writer.load_backend(LIBRARY)
    assert str(raised.value) == "load_backend failed: library symbol missing (code 5)"
    with pytest.raises(ValueError, match="output is the path of a recording"):
        writer.Session("x", backend=second, output="x.nvspan")


def test_every_name_of_the_other_writer_is_there():
    theirs = pytest.importorskip("nvtx.writer")
    assert set(theirs.__all__) <= set(writer.__all__)
    for name in theirs.__all__:
        ours, other = getattr(writer, name), getattr(theirs, name)
        if not isinstance(ours, type):
            continue
        members = {member for member in dir(other) if not member.startswith("_")}
        assert members <= set(dir(ours)), name
    assert writer.PredefinedScope is nvspan.PredefinedScope
