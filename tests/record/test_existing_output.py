# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan record -o`` of a name that is taken: a refusal, and --force."""

from __future__ import annotations

import os
import re
import sys

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.traced import needs_library

pytestmark = needs_library

PROGRAM = "import nvspan\nwith nvspan.annotate('{}'): pass\n"
FORKING = """
import os, nvspan
with nvspan.annotate("parent"): pass
if os.fork() == 0:
    with nvspan.annotate("child"): pass
    os._exit(0)
os.wait()
"""


def names(path):
    return [row["name"] for row in nvspan.read(path).ranges.rows()]


def test_the_second_run_is_refused_and_the_file_is_that_of_the_first(tmp_path):
    words = ["record", "-o", "run.nvspan", "--no-report", "-c"]
    run_nvspan(*words, PROGRAM.format("first"), cwd=tmp_path)
    done = run_nvspan(*words, PROGRAM.format("second"), cwd=tmp_path, check=1)
    assert done.stderr == (
        "nvspan record: run.nvspan already exists; add --force to overwrite it, or -o NAME\n"
    )
    assert os.listdir(tmp_path) == ["run.nvspan"]
    assert names(tmp_path / "run.nvspan") == ["first"]
    run_nvspan("record", "--force", *words[1:], PROGRAM.format("third"), cwd=tmp_path)
    assert os.listdir(tmp_path) == ["run.nvspan"]
    assert names(tmp_path / "run.nvspan") == ["third"]


def test_a_file_that_is_no_recording_is_kept(tmp_path):
    (tmp_path / "train.py").write_text("pass\n")
    said = "exists and is not a recording; add -o NAME"
    done = run_nvspan("record", "-o", "train.py", "-c", "pass", cwd=tmp_path, check=1)
    assert done.stderr == f"nvspan record: train.py {said}\n"
    said = "is not a recording; --force overwrites only those"
    done = run_nvspan("record", "--force", "-o", "train.py", "-c", "pass", cwd=tmp_path, check=1)
    assert done.stderr == f"nvspan record: train.py {said}\n"
    assert (tmp_path / "train.py").read_text() == "pass\n"


def test_force_removes_the_files_of_all_ranks(tmp_path):
    ranks = (
        "import os, subprocess, sys\n"
        "code = 'import nvspan; nvspan.mark(str(1))'\n"
        "for rank in '01': subprocess.run([sys.executable, '-c', code],"
        " env={**os.environ, 'RANK': rank}, check=True)"
    )
    for _ in range(3):
        run_nvspan("record", "--force", "--no-report", "-o", "r-{rank}.nvspan", "-c", ranks,
                   cwd=tmp_path)  # fmt: skip
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "r-0.nvspan", "r-0.nvspan.summary", "r-1.nvspan", "r-1.nvspan.summary",
        ]  # fmt: skip
    # Without summaries none is left of the runs before.
    (tmp_path / "r-1.nvspan.summary").write_text("somebody's notes")
    run_nvspan("record", "--force", "--no-report", "--no-summaries", "-o", "r-{rank}.nvspan", "-c",
               ranks, cwd=tmp_path)  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "r-0.nvspan", "r-1.nvspan", "r-1.nvspan.summary",
    ]  # fmt: skip
    assert (tmp_path / "r-1.nvspan.summary").read_text() == "somebody's notes"


def test_force_removes_the_files_of_all_processes_of_the_run_and_no_others(tmp_path):
    words = ["record", "-o", "run.nvspan", "--no-report", "-c"]
    run_nvspan(*words, FORKING, cwd=tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    run_nvspan("record", "-o", "run-other.nvspan", "-c", PROGRAM.format("other"), cwd=tmp_path)
    run_nvspan("record", "--force", *words[1:], PROGRAM.format("alone"), cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["run-other.nvspan", "run.nvspan"]
    assert names(tmp_path / "run-other.nvspan") == ["other"]


def test_what_is_no_recording_is_never_removed(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    for name in ("notes.txt", "folder"):
        done = run_nvspan("record", "--force", "-o", name, "-c", "pass", cwd=tmp_path, check=1)
        assert name in done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine"
    done = run_nvspan("record", "-o", "notes.txt/run.nvspan", "-c", "pass", cwd=tmp_path, check=1)
    assert done.stderr == "nvspan record: cannot write 'notes.txt/run.nvspan': File exists\n"


def test_the_directory_of_a_name_is_made(tmp_path):
    words = ["--no-report", "-c", PROGRAM.format("r")]
    run_nvspan("record", "-o", "new/runs/run.nvspan", *words, cwd=tmp_path)
    assert names(tmp_path / "new" / "runs" / "run.nvspan") == ["r"]


def test_a_recording_is_called_after_its_program(tmp_path):
    (tmp_path / "slow loop.py").write_text(PROGRAM.format("alone"))
    (tmp_path / "fork.py").write_text(FORKING)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text(PROGRAM.format("package"))
    for _ in range(3):
        run_nvspan("record", "--no-report", "slow loop.py", cwd=tmp_path)
    run_nvspan("record", "--no-report", "-m", "package", cwd=tmp_path)
    run_nvspan("record", "--no-report", "--", sys.executable, "slow loop.py", cwd=tmp_path)
    run_nvspan("record", "--no-report", "fork.py", cwd=tmp_path)
    found = {path.name: path for path in tmp_path.glob("*.nvspan")}
    child = next(name for name in found if name.startswith("fork-"))
    assert re.fullmatch(r"fork-\d+\.nvspan", child)
    assert {name: names(path) for name, path in found.items()} == {
        "slow loop.nvspan": ["alone"], "slow loop-1.nvspan": ["alone"],
        "slow loop-2.nvspan": ["alone"], "slow loop-3.nvspan": ["alone"],
        "package.nvspan": ["package"], "fork.nvspan": ["parent"], child: ["child"],
    }  # fmt: skip
    (tmp_path / "fork.py").write_text(PROGRAM.format("second"))
    run_nvspan("record", "--no-report", "--force", "fork.py", cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.glob("fork*.nvspan")) == ["fork.nvspan"]
    assert names(tmp_path / "fork.nvspan") == ["second"]


def test_programs_without_a_name_and_ranks_have_process_ids(tmp_path, monkeypatch):
    run_nvspan("record", "--no-report", "-c", PROGRAM.format("code"), cwd=tmp_path)
    monkeypatch.setenv("RANK", "1")
    (tmp_path / "train.py").write_text(PROGRAM.format("rank"))
    run_nvspan("record", "--no-report", "train.py", cwd=tmp_path)
    found = sorted(path.name for path in tmp_path.glob("*.nvspan"))
    assert [re.sub(r"\d+", "PID", name) for name in found] == [
        "nvspan-PID.nvspan", "train-PID.nvspan",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plain.py", "a b"], "to record every function: nvspan record --profile plain.py 'a b'"),
        (["-c", "pass"], "to record every function: nvspan record --profile -c pass"),
        (
            ["--", sys.executable, "plain.py"],
            "to record every function of a Python program: nvspan record --profile script.py",
        ),
    ],
)
def test_a_program_without_ranges(tmp_path, words, said):
    (tmp_path / "plain.py").write_text("pass\n")
    done = run_nvspan("record", "--lines", "off", *words, cwd=tmp_path)
    assert done.stderr == (
        f"nvspan record: nothing recorded: the program made no NVTX call; {said}\n"
    )


def test_a_folder_that_cannot_be_written_is_the_reason(tmp_path):
    (tmp_path / "ranges.py").write_text(
        "import nvspan\nwith nvspan.annotate('a'): pass\nprint(nvspan.trigger('why'))\n"
    )
    done = run_nvspan("record", "-o", "/proc/x.nvspan", "ranges.py", cwd=tmp_path)
    assert done.stdout == "False\n"
    first, last = done.stderr.splitlines()
    assert first == "nvspan: cannot record into /proc/x.nvspan: No such file or directory"
    assert last == "nvspan record: nothing recorded: /proc cannot be written: " \
                   "No such file or directory"  # fmt: skip


def test_a_program_of_marks_alone(tmp_path):
    (tmp_path / "marks.py").write_text("import nvspan\nnvspan.mark('here')\n")
    done = run_nvspan("record", "--lines", "off", "marks.py", cwd=tmp_path)
    hint, saved, following = done.stderr.splitlines()[-3:]
    assert hint == "nvspan record: to record every function: nvspan record --profile marks.py"
    assert saved.split()[:2] == ["saved", "marks.nvspan"]
    assert following == "next   nvspan explain marks.nvspan"


def test_names_with_a_process_and_those_that_ranks_share_are_free(tmp_path, monkeypatch):
    (tmp_path / "run-x.nvspan").write_text("")
    (tmp_path / "run-5.nvspan").write_text("")
    words = ["--no-report", "-c", PROGRAM.format("r")]
    run_nvspan("record", "-o", "pid-{pid}.nvspan", *words, cwd=tmp_path)
    done = run_nvspan("record", "-o", "run-{rank}.nvspan", *words, cwd=tmp_path, check=1)
    assert "run-5.nvspan exists" in done.stderr
    monkeypatch.setenv("RANK", "1")
    run_nvspan("record", "-o", "run-5.nvspan", *words, cwd=tmp_path)
    run_nvspan("record", "-o", "run-{rank}.nvspan", *words, cwd=tmp_path)
    done = run_nvspan("record", "-o", "run-{rank}.nvspan", *words, cwd=tmp_path, check=1)
    assert "run-1.nvspan already exists" in done.stderr
    assert (tmp_path / "run-5.nvspan").read_text() == ""
