# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan nsys`` under a real Nsight Systems: its reports hold what was asked for."""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile

import pytest

from helpers import nsys as real
from helpers.compile import build
from helpers.traced import clean_environment, needs_library
from nvspan.nsight import nsys_command

pytestmark = needs_library

PROGRAM = """
import os, sys
import nvspan

for number in range(8):
    with nvspan.step(number):
        with nvspan.annotate("work", domain="app", payload=number):
            pass
print("done", *sys.argv[1:])
sys.exit(3)
"""


def run(folder, *words, env=None):
    with tempfile.TemporaryDirectory(prefix="n", dir="/tmp", ignore_cleanup_errors=True) as temp:
        return subprocess.run(
            [sys.executable, "-m", "nvspan", "nsys", *words], cwd=folder, capture_output=True,
            text=True, timeout=180, check=False,
            env={**clean_environment(), "TMPDIR": temp, **(env or {})},
        )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def collected(folder, name, *words, **options):
    """Runs `nvspan nsys` until nsys leaves a report, and returns how it ended."""
    for _ in range(real.ATTEMPTS):
        done = run(folder, "-o", name, "--trace", "nvtx", *words, **options)
        if any(folder.glob(f"{name}*.nsys-rep")):
            return done
    pytest.fail("nsys left no report:\n" + done.stdout + done.stderr)


def events(nsys, report):
    """The ranges of a report, as text."""
    database = report.with_suffix(".sqlite")
    export = [nsys, "export", "-t", "sqlite", "-f", "true", "-o", database, report]
    subprocess.run(list(map(str, export)), check=True, capture_output=True)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("select count(*) from NVTX_EVENTS").fetchone()
    return [line for line in real.rows(database) if line.startswith(("range", "span"))]


def names(lines):
    return [" ".join(line.split()[1:3]) for line in lines]


def test_a_run_leaves_a_report_and_its_table(folder):
    nsys = real.find() / "nsys"
    done = collected(folder, "run", "--nsys", str(nsys), "train.py", "--lr", "1")
    assert done.returncode == 3
    assert "done --lr 1" in done.stdout
    rows = [line.split() for line in done.stderr.splitlines() if "PushPop" in line]
    assert {(row[-1], row[2]) for row in rows} == {("app:work", "8"), ("torch:step", "8")}
    assert done.stderr.splitlines()[-1] == "nvspan: report run.nsys-rep"
    assert names(events(nsys, folder / "run.nsys-rep")) == ["[torch] 'step'", "[app] 'work'"] * 8


def test_steps(folder):
    nsys = real.find() / "nsys"
    collected(folder, "run", "--steps", "3:5", "--nsys", str(nsys), "train.py")
    lines = events(nsys, folder / "run.nsys-rep")
    assert [line.split("payload=")[1].split()[0] for line in lines if "payload" in line] == [
        "int64:3", "int64:3", "int64:4", "int64:4",
    ]  # fmt: skip


UNREGISTERED = """
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>
// With an argument: until that file is there. nsys needs some time between two captures.
int main(int count, char** arguments) {
  nvtxDomainHandle_t app = nvtxDomainCreateA("app");
  for (int i = 0; i < (count > 1 ? 600 : 4); ++i) {
    if (count > 1 && access(arguments[1], F_OK) == 0) break;
    if (count > 1) usleep(50000);
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "capture me";
    nvtxRangePushA("before");
    nvtxRangePop();
    nvtxDomainRangePushEx(app, &event);
    nvtxRangePushA("within");
    nvtxRangePop();
    nvtxDomainRangePop(app);
  }
}
"""


def test_a_range_that_no_library_registered(folder):
    nsys = real.find() / "nsys"
    source = folder / "program.cpp"
    source.write_text(UNREGISTERED)
    program = str(build(source))
    options = ("--capture", "capture me@app", "--nsys", str(nsys))
    collected(folder, "one", *options, "--", program)
    assert names(events(nsys, folder / "one.nsys-rep")) == ["[app] 'capture", "[] 'within'"]
    collected(folder, "many", *options, "--captures", "2", "--", program, "many.2.nsys-rep")
    assert sorted(path.name for path in folder.glob("*.nsys-rep")) == [
        "many.1.nsys-rep", "many.2.nsys-rep", "one.nsys-rep",
    ]  # fmt: skip


def test_no_report_is_explained(folder):
    nsys = str(real.find() / "nsys")
    done = run(folder, "-o", "a", "--steps", "100:103", "--nsys", nsys, "train.py")
    assert "nvspan nsys: no report: the program made no step of 100:103" in done.stderr
    done = run(folder, "-o", "b", "--capture", "absent", "--nsys", nsys, "train.py")
    assert "no report: no range 'absent' started: 'nvspan trace' shows" in done.stderr
    assert list(folder.glob("*.nsys-rep")) == []


def test_a_dry_run_prints_the_line(folder):
    done = run(folder, "--dry-run", "--nsys", sys.executable, "--steps", "1:2", "train.py", "-x")
    program = [sys.executable, *subprocess._args_from_interpreter_flags(), "train.py", "-x"]
    line = nsys_command(program, steps="1:2", nsys=sys.executable)
    assert (done.returncode, done.stdout) == (0, shlex.join(line) + "\n")
    assert sorted(os.listdir(folder)) == ["train.py"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--steps", "3:3", "train.py"], "error: steps must count up, as '100:103', not '3:3'"),
        (["--steps", "1:2", "--capture", "a", "train.py"], "cannot be given both"),
        (["absent.py"], "no such file: 'absent.py'"),
        ([], "no program to run"),
        (["--option", "y=5", "train.py"], "must be an option as --NAME=VALUE, not 'y=5'"),
        (["-o", "r-{rnak}", "train.py"], "output may have {host}, {rank} and {pid} in it, not"),
        (["--what", "train.py"], "unrecognized arguments: --what"),
    ],
)
def test_a_line_that_makes_no_sense(folder, words, said):
    done = run(folder, "--dry-run", *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("run", [], "run.nsys-rep already exists; add --force"),
        ("run.nsys-rep", [], "run.nsys-rep already exists; add --force"),
        ("run", ["--capture", "a", "--captures", "2"], "run.1.nsys-rep already exists"),
        ("train.py/run", ["--force"], "cannot write into 'train.py': File exists"),
    ],
)
def test_a_report_that_cannot_be_written_is_known_before_the_program_runs(
    folder, name, words, said
):
    (folder / "run.nsys-rep").write_bytes(b"a report")
    (folder / "run.1.nsys-rep").write_bytes(b"a report")
    done = run(folder, "--nsys", sys.executable, "-o", name, *words, "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_program_without_ranges(folder):
    nsys = real.find() / "nsys"
    program = ["-c", "import nvspan; nvspan.mark('x')"]
    done = collected(folder, "marks", "--nsys", str(nsys), *program)
    how = f"to record every function: nvspan nsys --profile {shlex.join(program)}"
    assert f"no NVTX ranges; {how}\nnvspan: report marks.nsys-rep\n" in done.stderr
    assert "Summary" not in done.stderr


def test_without_nsys(folder):
    done = run(folder, "--nsys", "absent-nsys", "train.py")
    assert done.returncode == 127
    assert done.stderr == (
        "nvspan nsys: no program 'absent-nsys': 'nvspan doctor' shows where it looks\n"
    )


COMMANDS = {
    "absent": (["nosuchcommand"], 127, "cannot run 'nosuchcommand': No such file or directory"),
    "an absent path": (["./absent"], 127, "cannot run './absent': No such file or directory"),
    "no program": (["./train.py"], 126, "cannot run './train.py': Permission denied"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_cannot_run(folder, name):
    command, code, said = COMMANDS[name]
    done = run(folder, "--nsys", sys.executable, "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"nvspan nsys: {said}\n")


def test_a_rank_that_nobody_gives(folder):
    words = ("--nsys", sys.executable, "-o", "run-{rank}")
    done = run(folder, *words, "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "output has the rank in it, but the variable RANK is not set here" in done.stderr
    done = run(folder, *words, "--dry-run", "train.py")
    assert "--output=run-%q{RANK}" in shlex.split(done.stdout)
    done = run(folder, *words, "train.py", env={"RANK": "0"})
    assert "output has the rank" not in done.stderr


def test_flags_of_a_program(folder):
    done = run(folder, "--dry-run", "--nsys", sys.executable, "--profile", "train.py")
    assert done.stdout.split()[-5:] == ["-m", "nvspan", "--profile", "--", "train.py"]


# --- the steps, as the variable says them ---


def stepped(steps, *words):
    code = "import nvspan\nfor n in range(4):\n    with nvspan.step(n): pass\n"
    return subprocess.run(
        [sys.executable, *words, "-c", code], capture_output=True, text=True, check=False,
        env={**clean_environment(), "NVSPAN_STEPS": steps}, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(("steps", "captured"), [("1:3", {1, 2}), ("2", {2})])
def test_the_variable_for_steps(steps, captured):
    lines = stepped(steps, "-m", "nvspan", "trace").stderr.splitlines()
    words = [line.split("main")[1].split()[0:2] for line in lines if "[torch]" in line]
    expected = []
    for step in range(4):
        expected += [["▶", "profile"]] if step == min(captured) else []
        expected += [["╭─", "step"], ["╰─", "step"]]
        expected += [["■", "profile"]] if step == max(captured) else []
    assert words == expected


@pytest.mark.parametrize("steps", ["3:3", "a:b", "1:", "1:9:2"])
def test_a_variable_that_cannot_be_read(steps):
    done = stepped(steps)
    assert done.returncode == 0
    assert done.stderr.count(f"NVSPAN_STEPS: cannot read '{steps}'; it is ignored") == 1
