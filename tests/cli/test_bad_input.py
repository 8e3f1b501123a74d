# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every command, with everything that it cannot read or write: one line, and no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.reported import nvspan_done
from helpers.traced import clean_environment, needs_library, nvspan_command
from nvspan.cli import COMMANDS
from nvspan.report.viewer import ui_folder

pytestmark = needs_library

CALLS = Path(__file__).parent.parent / "corpus" / "calls.nvspan"
READERS = ("diff", "explain", "export", "kernels", "modules", "ranks", "report", "stats", "steps",
           "view")  # fmt: skip
_NOT_READERS = ("attach", "detach", "doctor", "mcp", "metrics", "ncu", "nsys", "record",
                "top", "trace", "trigger", "where")  # fmt: skip


def test_every_command_is_here():
    assert sorted((*READERS, *_NOT_READERS)) == sorted(COMMANDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copy(CALLS, folder / "good.nvspan")
    (folder / "empty").touch()
    (folder / "text").write_text("no recording\n" * 500)
    (folder / "cut.nvspan").write_bytes(CALLS.read_bytes()[:100])
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nothing")
    (folder / "secret.nvspan").write_bytes(CALLS.read_bytes())
    (folder / "secret.nvspan").chmod(0)
    for name in ("pipe", "pipe.json", "pipe.sqlite", "pipe.nsys-rep"):
        os.mkfifo(folder / name)
    for name in ("text", "empty", "cut.nvspan"):
        shutil.copy(folder / name, folder / f"{name}.json")
    return folder


def run(folder, *words):
    return nvspan_done(*words, cwd=folder)


def words_of(command, path):
    if command == "diff":
        return ["diff", "good.nvspan", path]
    if command == "view":
        return ["view", "--no-browser", path]
    return [command, path]


BAD = ("missing", "pipe", "pipe.json", "pipe.sqlite", "pipe.nsys-rep", "empty", "text",
       "cut.nvspan", "folder", "dangling", "good.nvspan/x", "secret.nvspan", "missing.json",
       "text.json", "empty.json", "cut.nvspan.json")  # fmt: skip


@pytest.mark.parametrize("command", READERS)
def test_what_cannot_be_read(folder, command):
    for path in BAD:
        if path == "secret.nvspan" and os.access(folder / path, os.R_OK):
            continue  # root reads everything
        done = run(folder, *words_of(command, path))
        assert done.returncode in (1, 2), (path, done.stderr)
        last = done.stderr.splitlines()[-1]
        assert last.startswith(f"nvspan {command}: "), (path, done.stderr)
        assert os.path.basename(path).partition(".")[0] in last, (path, last)
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["export", "good.nvspan", "-o", "good.nvspan/x"], ["export", "good.nvspan", "-o", "folder"],
        ["report", "good.nvspan", "-o", "good.nvspan/x"], ["report", "good.nvspan", "-o", "folder"],
        ["record", "-o", "good.nvspan/x", "-c", "pass"], ["record", "-o", "folder", "-c", "pass"],
        ["trace", "-o", "good.nvspan/x", "-c", "pass"], ["trace", "-o", "folder", "-c", "pass"],
        ["view", "--port", "80000", "good.nvspan"],
        ["view", "--port", "x", "good.nvspan"], ["stats", "--from", "soon", "good.nvspan"],
        ["stats", "--top", "0", "good.nvspan"], ["record", "--mode", "rign=4", "-c", "pass"],
        ["record", "--names", "x", "-c", "pass"], ["record", "--min-duration", "x", "-c", "pass"],
        ["doctor", "--timeout", "-1"], ["doctor", "--timeout", "x"], ["record"], ["trace"],
        ["nsys"], ["ncu"], ["record", "missing.py"], ["trace", "missing.py"],
        ["nsys", "missing.py"], ["record", "--", "no-such-command"], ["trace", "--", "./text"],
    ],
)  # fmt: skip
def test_options_and_places_that_are_wrong(folder, words):
    done = run(folder, *words)
    assert done.returncode in (1, 2, 126, 127), done.stderr
    assert "Traceback" not in done.stderr
    assert f"nvspan {words[0]}: " in done.stderr


def test_no_command_writes_over_what_it_reads(folder):
    good = (folder / "good.nvspan").read_bytes()
    for command in ("report", "export"):
        done = run(folder, command, "good.nvspan", "-o", "./good.nvspan")
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1] == (
            f"nvspan {command}: error: './good.nvspan' is one of the recordings to read"
        )
    assert (folder / "good.nvspan").read_bytes() == good


def test_a_program_or_a_recording_in_the_place_of_the_other(folder):
    (folder / "train.py").write_text("import nvspan\n")
    for command in ("stats", "steps", "explain", "export", "report", "modules", "view", "ranks"):
        done = run(folder, *words_of(command, "train.py"))
        assert (done.returncode, done.stderr.splitlines()[-1]) == (
            1, f"nvspan {command}: train.py: not an nvspan recording; 'nvspan record train.py' "
            "makes a recording",
        )  # fmt: skip


def test_the_trace_of_view_is_in_the_way(folder):
    if ui_folder() is not None:
        pytest.skip("the viewer is installed, and would serve")
    (folder / "good.pftrace").mkdir()
    done = run(folder, "view", "good.nvspan")
    assert (done.returncode, done.stderr) == (
        1, "nvspan view: cannot write 'good.pftrace': Is a directory\n",
    )  # fmt: skip


@pytest.mark.parametrize("command", READERS)
def test_standard_output_that_is_closed_or_read_in_part(folder, command):
    if command == "view":
        return  # it serves until it is interrupted
    target = folder / f"for-{command}.nvspan"
    shutil.copy(CALLS, target)
    words = words_of(command, target.name)
    shell = f"exec {sys.executable} -m nvspan {' '.join(words)}"
    closed = subprocess.run(
        ["sh", "-c", f"{shell} >&-"], cwd=folder, env=clean_environment(), capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in closed.stderr
    assert closed.returncode == 1
    read, write = os.pipe()
    os.close(read)
    part = subprocess.run(
        ["sh", "-c", shell], cwd=folder, env=clean_environment(), stdout=write,
        stderr=subprocess.PIPE, text=True, timeout=60, check=False,
    )  # fmt: skip
    os.close(write)
    assert "Traceback" not in part.stderr
    assert "BrokenPipe" not in part.stderr


def test_the_server_for_assistants_says_what_it_lacks(tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(name='mcp')\n", encoding="ascii")
    lacking = nvspan_command("mcp", env={"PYTHONPATH": str(tmp_path)})
    said = "nvspan mcp: it needs the MCP SDK: pip install 'nvspan[mcp]'\n"
    assert (lacking.returncode, lacking.stdout, lacking.stderr) == (1, "", said)
    closed = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m nvspan mcp <&-"], env=clean_environment(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    said = "nvspan mcp: standard input and output must be open: the assistant's program starts it\n"
    assert (closed.returncode, closed.stdout, closed.stderr) == (1, "", said)
