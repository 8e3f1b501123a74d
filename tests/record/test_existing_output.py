# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan record -o`` of a name that is taken: a refusal, and --force."""

from __future__ import annotations

import os

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
    done = run_nvspan("record", "-o", "none/run.nvspan", "-c", "pass", cwd=tmp_path, check=1)
    assert "there is no folder 'none'" in done.stderr


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
